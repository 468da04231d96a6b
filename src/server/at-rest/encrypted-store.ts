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
import type { Envelope } from './envelope.ts';

/** How the value of a key is kept; undefined: as it is. */
export type EnvelopeOf = (key: string) => Envelope | undefined;

/**
 * A store in which the values of some keys are encrypted, in front of one that knows nothing of it. Keys are not.
 *
 * A revision is decrypted at most once, and not at all if it was written here: what the store behind hands out for it carries, in its memo, what
 * readers get. Values that cannot be decrypted fail whoever reads them, by name, and nobody else.
 */
export class EncryptedStore implements Store {
  readonly #behind: Store;
  readonly #envelopeOf: EnvelopeOf;

  constructor(behind: Store, envelopeOf: EnvelopeOf) {
    this.#behind = behind;
    this.#envelopeOf = envelopeOf;
  }

  async transact({ compares, writes }: Transaction): Promise<TransactionResult> {
    const result = await this.#behind.transact({ compares, writes: writes.map((write) => this.#sealed(write)) });
    if (result.ok) return { ...result, entries: result.entries.map((entry) => entry && this.#opened(entry)) };
    return { ...result, conflicts: result.conflicts.map(({ key, found }) => ({ key, found: found && this.#opened(found) })) };
  }

  async get(key: string): Promise<Entry | undefined> {
    const entry = await this.#behind.get(key);
    return entry && this.#opened(entry);
  }

  async range(range: Range): Promise<RangeResult> {
    const result = await this.#behind.range(range);
    // Of most ranges nothing is encrypted, and their entries are what they were.
    if (!result.entries.some(({ key }) => this.#envelopeOf(key) !== undefined)) return result;
    return { ...result, entries: result.entries.map((entry) => this.#opened(entry)) };
  }

  watch(options: WatchOptions, watcher: Watcher): Watch {
    let ended = false;
    let stop = (): void => undefined;
    const watch = this.#behind.watch(options, {
      changes: (revision, changes) => {
        if (ended) return;
        const opened = this.#openedChanges(changes);
        if (opened instanceof StoreError) {
          ended = true;
          stop();
          watcher.end(opened);
        } else watcher.changes(revision, opened);
      },
      end: (cause) => {
        if (!ended) watcher.end(cause);
      },
    });
    stop = () => watch.stop();
    // The first changes may have come before there was anything to stop.
    if (ended) stop();
    return watch;
  }

  revision(): number {
    return this.#behind.revision();
  }

  compactedRevision(): number {
    return this.#behind.compactedRevision();
  }

  compact(revision: number): Promise<void> {
    return this.#behind.compact(revision);
  }

  stats(): StoreStats {
    return this.#behind.stats();
  }

  close(): Promise<void> {
    return this.#behind.close();
  }

  #sealed(write: Write): Write {
    const envelope = write.type === 'put' ? this.#envelopeOf(write.key) : undefined;
    if (envelope === undefined || write.type !== 'put') return write;
    return { ...write, value: envelope.seal(write.value, write.key), memo: new Sealed(write.value, write.memo) };
  }

  /** @throws StoreError */
  #opened(entry: Entry): Entry {
    if (entry.memo instanceof OpenedEntry) return entry.memo;
    const envelope = this.#envelopeOf(entry.key);
    if (envelope === undefined) return entry;
    const opened = new OpenedEntry(entry, entry.memo instanceof Sealed ? entry.memo : unseal(envelope, entry));
    entry.memo = opened;
    return opened;
  }

  #openedChanges(changes: readonly Change[]): readonly Change[] | StoreError {
    try {
      return changes.map((change) => this.#openedChange(change));
    } catch (error) {
      if (error instanceof StoreError) return error;
      throw error;
    }
  }

  /** The same for every watcher. */
  #openedChange(change: Change): Change {
    if (change.memo instanceof OpenedChange) return change.memo;
    if (this.#envelopeOf(change.key) === undefined) return change;
    const { entry, previous } = change;
    const opened = new OpenedChange(change, entry && this.#opened(entry), previous && this.#opened(previous));
    change.memo = opened;
    return opened;
  }
}

/** A value that none of the providers can decrypt; in Kubernetes' words, with the key that is missing. */
export class UnreadableValue extends StoreError {
  constructor(key: string, cause: Error) {
    super('corrupt', `unable to transform key ${JSON.stringify(key)}: ${cause.message}`, { cause });
  }
}

function unseal(envelope: Envelope, { key, value }: Entry): { plain: Uint8Array; stale: boolean; memo: unknown } {
  try {
    return { ...envelope.open(value, key), memo: undefined };
  } catch (error) {
    throw new UnreadableValue(key, error as Error);
  }
}

/** What was written a moment ago, before it was encrypted. */
class Sealed {
  readonly plain: Uint8Array;
  readonly stale = false;
  readonly memo: unknown;
  constructor(plain: Uint8Array, memo: unknown) {
    this.plain = plain;
    this.memo = memo;
  }
}

class OpenedEntry implements Entry {
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

class OpenedChange implements Change {
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
