import {
  type Change,
  type Entry,
  type Range,
  type RangeResult,
  type Store,
  StoreError,
  type StoreStats,
  type Transaction,
  type TransactionResult,
  type Watch,
  type Watcher,
  type WatchOptions,
  type Write,
} from '../../store/contract.ts';
import type { Transformer } from './transformer.ts';

/** The transformer of a key's value; undefined: the value is stored as it is. */
export type TransformerOf = (key: string) => Transformer | undefined;

/**
 * A store that encrypts the values of some keys before it passes them to the inner store. The keys themselves are not encrypted.
 *
 * A revision is decrypted at most once, and not at all if this process wrote it: the memo of the inner store's entry holds the decrypted entry.
 * A value that cannot be decrypted fails only the reads that include it, with its key in the message.
 */
export class EncryptedStore implements Store {
  readonly #inner: Store;
  readonly #transformerOf: TransformerOf;

  constructor(behind: Store, envelopeOf: TransformerOf) {
    this.#inner = behind;
    this.#transformerOf = envelopeOf;
  }

  async transact({ compares, writes }: Transaction): Promise<TransactionResult> {
    const result = await this.#inner.transact({ compares, writes: writes.map((write) => this.#encrypt(write)) });
    if (result.ok) return { ...result, entries: result.entries.map((entry) => entry && this.#decrypt(entry)) };
    return { ...result, conflicts: result.conflicts.map(({ key, found }) => ({ key, found: found && this.#decrypt(found) })) };
  }

  async get(key: string): Promise<Entry | undefined> {
    const entry = await this.#inner.get(key);
    return entry && this.#decrypt(entry);
  }

  async range(range: Range): Promise<RangeResult> {
    const result = await this.#inner.range(range);
    // Most ranges hold no encrypted value.
    if (!result.entries.some(({ key }) => this.#transformerOf(key) !== undefined)) return result;
    return { ...result, entries: result.entries.map((entry) => this.#decrypt(entry)) };
  }

  watch(options: WatchOptions, watcher: Watcher): Watch {
    let ended = false;
    let stop = (): void => undefined;
    const watch = this.#inner.watch(options, {
      changes: (revision, changes) => {
        if (ended) return;
        const decrypted = this.#decryptChanges(changes);
        if (decrypted instanceof StoreError) {
          ended = true;
          stop();
          watcher.end(decrypted);
        } else watcher.changes(revision, decrypted);
      },
      end: (cause) => {
        if (!ended) watcher.end(cause);
      },
    });
    stop = () => watch.stop();
    // The inner store may deliver changes before `watch` returns.
    if (ended) stop();
    return watch;
  }

  revision(): number {
    return this.#inner.revision();
  }

  currentRevision(): Promise<number> {
    return this.#inner.currentRevision();
  }

  compactedRevision(): number {
    return this.#inner.compactedRevision();
  }

  compact(revision: number): Promise<void> {
    return this.#inner.compact(revision);
  }

  stats(): StoreStats {
    return this.#inner.stats();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #encrypt(write: Write): Write {
    const transformer = write.type === 'put' ? this.#transformerOf(write.key) : undefined;
    if (transformer === undefined || write.type !== 'put') return write;
    return { ...write, value: transformer.transformToStorage(write.value, write.key), memo: new PlainWrite(write.value, write.memo) };
  }

  /** @throws StoreError */
  #decrypt(entry: Entry): Entry {
    if (entry.memo instanceof DecryptedEntry) return entry.memo;
    const transformer = this.#transformerOf(entry.key);
    if (transformer === undefined) return entry;
    const decrypted = new DecryptedEntry(entry, entry.memo instanceof PlainWrite ? entry.memo : decryptValue(transformer, entry));
    entry.memo = decrypted;
    return decrypted;
  }

  #decryptChanges(changes: readonly Change[]): readonly Change[] | StoreError {
    try {
      return changes.map((change) => this.#decryptChange(change));
    } catch (error) {
      if (error instanceof StoreError) return error;
      throw error;
    }
  }

  /** All watchers share the decrypted change. */
  #decryptChange(change: Change): Change {
    if (change.memo instanceof DecryptedChange) return change.memo;
    if (this.#transformerOf(change.key) === undefined) return change;
    const { entry, previous } = change;
    const decrypted = new DecryptedChange(change, entry && this.#decrypt(entry), previous && this.#decrypt(previous));
    change.memo = decrypted;
    return decrypted;
  }
}

/** No provider can decrypt the value. In Kubernetes' words, with the name of the missing key. */
export class UnreadableValue extends StoreError {
  constructor(key: string, cause: Error) {
    super('corrupt', `unable to transform key ${JSON.stringify(key)}: ${cause.message}`, { cause });
  }
}

function decryptValue(transformer: Transformer, { key, value }: Entry): { plain: Uint8Array; stale: boolean; memo: unknown } {
  try {
    return { ...transformer.transformFromStorage(value, key), memo: undefined };
  } catch (error) {
    throw new UnreadableValue(key, error as Error);
  }
}

/** The memo of a write: the value before it was encrypted. */
class PlainWrite {
  readonly plain: Uint8Array;
  readonly stale = false;
  readonly memo: unknown;
  constructor(plain: Uint8Array, memo: unknown) {
    this.plain = plain;
    this.memo = memo;
  }
}

class DecryptedEntry implements Entry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly stale: boolean;
  memo: unknown;

  constructor({ key, createRevision, modRevision }: Entry, { plain, stale, memo }: { plain: Uint8Array; stale: boolean; memo: unknown }) {
    this.key = key;
    this.value = plain;
    this.createRevision = createRevision;
    this.modRevision = modRevision;
    this.stale = stale;
    this.memo = memo;
  }
}

class DecryptedChange implements Change {
  readonly type: Change['type'];
  readonly key: string;
  readonly revision: number;
  readonly entry: Entry | undefined;
  readonly previous: Entry | undefined;
  memo: unknown;

  constructor({ type, key, revision }: Change, entry: Entry | undefined, previous: Entry | undefined) {
    this.type = type;
    this.key = key;
    this.revision = revision;
    this.entry = entry;
    this.previous = previous;
  }
}
