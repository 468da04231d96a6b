/**
 * The contract of a store: ordered keys, bytes, one counter of revisions.
 *
 * A worked example. The store is empty, at revision 1.
 *
 *     transact({ compares: [absent('/a')], writes: [put('/a', x)] })      → ok, revision 2
 *     transact({ compares: [absent('/a')], writes: [put('/a', y)] })      → not ok: /a is at 2
 *     transact({ compares: [at('/a', 2)], writes: [put('/a', y), put('/b', z)] }) → ok, revision 3: both or neither
 *     range({ from: '/', to: '0' })                                       → /a (y), /b (z), at revision 3
 *     range({ from: '/', to: '0', revision: 2 })                          → /a (x): the past is kept…
 *     watch({ prefix: '/', after: 2 })                                    → one batch: revision 3, /a and /b
 *     compact(3)
 *     range({ from: '/', to: '0', revision: 2 })                          → Compacted: …until it is compacted
 *
 * Guarantees
 * - A successful `transact` is durable (in a durable store) before its promise resolves, and neither
 *   a reader nor a watcher sees a write before it is durable.
 * - A transaction is atomic: all of its writes carry the same revision, or none exists.
 * - Revisions grow with each successful transaction that writes, by one if no other program writes to the same servers; a failed one uses none.
 * - A watcher gets every revision after its start, in order, each exactly once and whole, or the reason why not.
 *
 * Keys are compared as strings by UTF-16 code unit; Mooring's keys are ASCII.
 */

/** One revision of one key. A store hands out the same object for the same revision for as long as it can. */
export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  /** The revision that created the key (since its last deletion). */
  readonly createRevision: number;
  /** The revision that wrote this value. */
  readonly modRevision: number;
  /**
   * Free for the reader: what it derived from the bytes, so that a revision is decoded once.
   * No store reads it; a store drops it together with the entry.
   */
  memo: unknown;
  /** An encrypting store in front of this one would use another key today: an update without changes then rewrites the value. No store sets it. */
  readonly stale?: boolean;
}

/** The key must be at exactly this revision; 0: it must not exist. */
export interface Compare {
  readonly key: string;
  readonly modRevision: number;
}

/** A store keeps the given bytes: the caller must not change them afterwards. */
export type Write =
  | { readonly type: 'put'; readonly key: string; readonly value: Uint8Array; readonly memo?: unknown }
  | { readonly type: 'delete'; readonly key: string };

export interface Transaction {
  readonly compares: readonly Compare[];
  /** At most one write per key. Deleting an absent key writes nothing. */
  readonly writes: readonly Write[];
}

export type TransactionResult =
  | {
      readonly ok: true;
      /** The revision of the writes; the current revision if nothing was written. */
      readonly revision: number;
      /** The entry of each write, in the order of the writes; undefined for a delete. */
      readonly entries: readonly (Entry | undefined)[];
    }
  | {
      readonly ok: false;
      readonly revision: number;
      /** The compares that failed, with what the key holds instead (undefined: it does not exist). */
      readonly conflicts: readonly { readonly key: string; readonly found: Entry | undefined }[];
    };

/** Keys in [from, to). */
export interface Range {
  readonly from: string;
  readonly to: string;
  /** Read as of this revision; the current one if absent. */
  readonly revision?: number;
  readonly limit?: number;
}

export interface RangeResult {
  readonly entries: readonly Entry[];
  /** The revision the range was read at. */
  readonly revision: number;
  /** How many more entries the range holds beyond `limit`. */
  readonly remaining: number;
}

/** One change of one key. All watchers share the same object. */
export interface Change {
  readonly type: 'put' | 'delete';
  readonly key: string;
  readonly revision: number;
  /** The new entry; undefined for a delete. */
  readonly entry: Entry | undefined;
  /** What the key held before; undefined if it did not exist. */
  readonly previous: Entry | undefined;
  /** Free for the watchers: the encoded form, made once for all of them. No store reads it. */
  memo: unknown;
}

export interface WatchOptions {
  /** Every key that starts with it: '/registry/pods/', or a whole key. It ends with '/' or is a whole key. */
  readonly prefix: string;
  /** Deliver revisions after this one; the first may be delivered before `watch` returns. */
  readonly after: number;
}

export interface Watcher {
  /** All changes of one revision under the prefix: never split, never empty, revisions strictly growing. */
  changes(revision: number, changes: readonly Change[]): void;
  /**
   * Nothing more will come: the start lies before the compacted revision, or the events after it are lost (`compacted`, also of a watch that
   * has delivered: list and watch again), or the store was closed, or has failed.
   */
  end(cause: StoreError): void;
}

export interface Watch {
  /** Everything up to this revision has been delivered (what a bookmark may say). */
  progress(): number;
  /** Idempotent; nothing is delivered after it returns. */
  stop(): void;
}

export interface Store {
  /** The newest revision that readers can see. A new store is at 1. */
  revision(): number;
  /** The newest revision of the store at a moment after the call, also if another server wrote it and readers here do not see it yet. */
  currentRevision(): Promise<number>;
  /** Reads before this revision fail with `compacted`. */
  compactedRevision(): number;
  transact(transaction: Transaction): Promise<TransactionResult>;
  get(key: string): Promise<Entry | undefined>;
  /** @throws StoreError `compacted` or `future` if `revision` cannot be read. */
  range(range: Range): Promise<RangeResult>;
  watch(options: WatchOptions, watcher: Watcher): Watch;
  /** Drops what only readers before `revision` need. Compacting an older revision does nothing. */
  compact(revision: number): Promise<void>;
  stats(): StoreStats;
  /** Waits for the writes in progress; then every call fails with `closed`. */
  close(): Promise<void>;
}

export interface StoreStats {
  readonly keys: number;
  /** Bytes of the newest value of every key. */
  readonly liveBytes: number;
  /** Revisions between the compacted one and the newest, and the bytes that only they hold. */
  readonly historyRevisions: number;
  readonly historyBytes: number;
  /** Bytes on disk; 0 for a store without one. */
  readonly diskBytes: number;
  readonly watchers: number;
}

/**
 * - `compacted`: the requested revision is compacted (the API answers 410 Gone)
 * - `future`: the requested revision does not exist yet
 * - `closed`: the store is closed or closing
 * - `locked`: another process holds the data directory
 * - `newer-version`: the data was written by a newer Mooring
 * - `corrupt`: the data fails its checks; it is left as it is
 * - `full`: the disk refused a write; nothing of the transaction remains, reading goes on
 * - `failed`: the disk failed; the store stops writing, since it cannot know what is durable
 * - `too-large`: the transaction has more operations or bytes than the store takes; nothing of it happened
 * - `unavailable`: the servers of the store cannot be reached; nothing of the transaction happened
 * - `undecided`: the transaction was sent, and no answer came: it may have happened, or may still happen
 * - `foreign`: the place of the store has data of another cluster or program
 * - `unsupported`: the servers of the store are too old
 */
export type StoreErrorCode =
  | 'compacted'
  | 'future'
  | 'closed'
  | 'locked'
  | 'newer-version'
  | 'corrupt'
  | 'full'
  | 'failed'
  | 'too-large'
  | 'unavailable'
  | 'undecided'
  | 'foreign'
  | 'unsupported';

export class StoreError extends Error {
  readonly code: StoreErrorCode;
  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
  }
}

export const put = (key: string, value: Uint8Array, memo?: unknown): Write => ({ type: 'put', key, value, memo });
export const remove = (key: string): Write => ({ type: 'delete', key });
export const at = (key: string, modRevision: number): Compare => ({ key, modRevision });
export const absent = (key: string): Compare => ({ key, modRevision: 0 });

/** The end of the range of all keys that start with `prefix`. */
export function prefixEnd(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}
