import type { Disk, DiskLock } from '../../world/disk.ts';
import type { Log, World } from '../../world/world.ts';
import { type Store, StoreError, type StoreStats, type Transaction, type TransactionResult } from '../contract.ts';
import { evaluate, type TransactionOutcome } from '../mvcc/evaluate.ts';
import { ReadableStore } from '../mvcc/readable.ts';
import type { Version } from '../mvcc/version.ts';
import { CommitLog } from './commit-log.ts';
import { openRefusal } from './files.ts';
import { GroupCommit } from './group-commit.ts';
import { writeCompaction, writeTransaction } from './records.ts';
import { type Recovered, recover, type SnapshotFile } from './recovery.ts';
import { writeSnapshot } from './snapshot.ts';

export interface EmbeddedStoreOptions {
  /** Where the data is; created if absent. */
  readonly directory: string;
  readonly disk: Disk;
  readonly world?: Pick<World, 'log' | 'timers'>;
  /** A log file that reached this size is followed by a new one. */
  readonly segmentBytes?: number;
  /** As long as less than this could be freed on disk, nothing is rewritten. */
  readonly rewriteBytes?: number;
}

/**
 * A durable store in one directory: all data in memory, every transaction in a log on disk before it is acknowledged.
 *
 * Guarantees
 * - An acknowledged write survives `kill -9` and loss of power. A write that was not acknowledged is there whole or not at all.
 * - Transactions that arrive together are synced together.
 * - Disk space stays within about twice the live data plus the history since the compacted revision plus `rewriteBytes`.
 *
 * Errors: `locked`, `corrupt`, `newer-version` from opening; `full` and `failed` from writing, see the contract.
 */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  const { directory, disk } = options;
  let lock: DiskLock | undefined;
  try {
    await disk.makeDirectory(directory);
    lock = await disk.lock(directory);
    if (lock === undefined) throw new StoreError('locked', `${directory} is in use by another process${await holderOf(options)}`);
    const recovered = await recover(disk, directory);
    const segmentBytes = options.segmentBytes ?? DEFAULT_SEGMENT_BYTES;
    const log = await CommitLog.open({ directory, disk, segmentBytes }, recovered.segments, recovered.tree.revision);
    if (recovered.torn !== undefined) options.world?.log.warn('cut off an incomplete write that a crash left behind', recovered.torn);
    return new EmbeddedStore(options, recovered, { log, lock });
  } catch (error) {
    await lock?.release();
    throw openRefusal(error, directory);
  }
}

class EmbeddedStore extends ReadableStore implements Store {
  readonly #options: EmbeddedStoreOptions;
  readonly #log: CommitLog;
  readonly #lock: DiskLock;
  readonly #commits: GroupCommit;
  /** What was accepted but is not durable yet, and thus not visible. */
  readonly #ahead = new Map<string, Version>();
  /** The newest revision that was accepted. */
  #accepted: number;
  #snapshot: SnapshotFile | undefined;
  #rewriting: Promise<void> | undefined;
  #failed: StoreError | undefined;
  /** The last write failed because the disk was full. */
  #full = false;
  #closing: Promise<void> | undefined;

  constructor(options: EmbeddedStoreOptions, recovered: Recovered, { log, lock }: { log: CommitLog; lock: DiskLock }) {
    super(recovered.tree);
    this.#options = options;
    this.#log = log;
    this.#lock = lock;
    this.#snapshot = recovered.snapshot;
    this.#accepted = this.tree.revision;
    const { timers } = options.world ?? {};
    this.#commits = new GroupCommit({
      log,
      revision: () => this.tree.revision,
      soon: timers === undefined ? queueMicrotask : (callback) => timers.soon(callback),
      onRefused: (error) => this.#takeBack(error),
    });
  }

  transact(transaction: Transaction): Promise<TransactionResult> {
    return new Promise((resolve, reject) => {
      this.#refuseWrites();
      let seen = 0;
      const newest = (key: string): Version | undefined => {
        const ahead = this.#ahead.get(key);
        if (ahead === undefined) return this.tree.newest(key);
        seen = Math.max(seen, ahead.modRevision);
        return ahead;
      };
      const outcome = evaluate(transaction, newest, this.#accepted + 1);
      const durable = (): void => resolve(this.#conclude(outcome));
      if (outcome.type === 'write') this.#accept(outcome.versions, { durable, rejected: reject });
      // The conflicting write may still be lost: the caller would get a conflict with an entry that does not exist.
      else if (seen > 0) this.#commits.whenDurable({ durable, rejected: reject }, seen);
      else durable();
    });
  }

  async compact(revision: number): Promise<void> {
    this.#refuseWrites();
    if (revision > this.tree.revision) throw new StoreError('future', `revision ${revision} does not exist yet: the newest is ${this.tree.revision}`);
    if (revision <= this.tree.compacted) return;
    await this.#noteCompaction(revision);
    this.tree.compact(revision);
    await this.#trim();
    this.#rewriteIfWorthwhile();
  }

  async #noteCompaction(revision: number): Promise<void> {
    try {
      await new Promise<void>((durable, refused) => {
        this.#commits.write({ durable, rejected: refused }, this.#accepted, (writer) => writeCompaction(writer, revision));
      });
    } catch (error) {
      // Compaction must work on a full disk. At worst the next process keeps more history than needed.
      if (!(error instanceof StoreError && error.code === 'full')) throw error;
    }
  }

  override stats(): StoreStats {
    return { ...super.stats(), diskBytes: this.#log.bytes + (this.#snapshot?.bytes ?? 0) };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#commits.settled();
    await this.#rewriting;
    this.endReading();
    await this.#log.close();
    await this.#lock.release();
  }

  #accept(versions: readonly Version[], waiting: { durable: () => void; rejected: (error: StoreError) => void }): void {
    this.#accepted++;
    for (const version of versions) this.#ahead.set(version.key, version);
    this.#commits.write(waiting, this.#accepted, (writer) => writeTransaction(writer, versions));
  }

  /** All writes that the outcome depends on are durable now. */
  #conclude(outcome: TransactionOutcome): TransactionResult {
    if (outcome.type === 'conflict') return { ok: false, revision: this.tree.revision, conflicts: outcome.conflicts };
    if (outcome.type === 'write') {
      for (const version of outcome.versions) if (this.#ahead.get(version.key) === version) this.#ahead.delete(version.key);
      this.publish(outcome.versions);
      this.#full = false;
    }
    return { ok: true, revision: this.tree.revision, entries: outcome.entries };
  }

  #takeBack(error: StoreError): void {
    this.#ahead.clear();
    this.#accepted = this.tree.revision;
    if (error.code === 'full') this.#full = true;
    else this.#failed = error;
    this.#logger?.error('the disk refused a write', { directory: this.#options.directory, error });
  }

  /** @throws StoreError `closed` or `failed` */
  #refuseWrites(): void {
    if (this.#closing !== undefined) throw new StoreError('closed', 'the store is closed');
    if (this.#failed !== undefined) throw this.#failed;
  }

  async #trim(): Promise<void> {
    const timers = this.#options.world?.timers;
    while (this.tree.trim(TRIM_REVISIONS)) if (timers !== undefined) await new Promise<void>((resolve) => timers.soon(resolve));
  }

  #rewriteIfWorthwhile(): void {
    if (this.#rewriting !== undefined || this.#closing !== undefined) return;
    const revision = this.tree.compacted;
    const reclaimable = this.#log.bytesThrough(revision) + (this.#snapshot?.bytes ?? 0);
    const needed = this.tree.liveBytes + this.tree.keys * ENTRY_BYTES;
    const worthwhile = this.#full ? needed : 2 * needed + (this.#options.rewriteBytes ?? DEFAULT_REWRITE_BYTES);
    if (revision <= (this.#snapshot?.revision ?? 0) || reclaimable < worthwhile) return;
    this.#rewriting = this.#rewrite(revision).then(() => {
      this.#rewriting = undefined;
    });
  }

  /** Replaces all of the log up to the compacted revision by a snapshot of the state at it. */
  async #rewrite(revision: number): Promise<void> {
    const { directory, disk } = this.#options;
    this.tree.pin(revision);
    try {
      const snapshot = await writeSnapshot({ directory, disk, tree: this.tree, revision, abandoned: () => this.#closing !== undefined });
      if (snapshot === undefined) return;
      const before = this.#snapshot;
      this.#snapshot = snapshot;
      // Only now, when the new snapshot is durable.
      await this.#log.dropThrough(revision);
      if (before !== undefined) await disk.remove(before.path);
      this.#logger?.debug('rewrote the log', { directory, revision, bytes: snapshot.bytes });
    } catch (error) {
      // Nothing is lost: the log is still there, and the next compaction tries again.
      this.#logger?.warn('could not rewrite the log', { directory, error });
    } finally {
      this.tree.unpin();
      await this.#trim();
    }
  }

  get #logger(): Log | undefined {
    return this.#options.world?.log;
  }
}

const DEFAULT_SEGMENT_BYTES = 16 << 20;
const DEFAULT_REWRITE_BYTES = 16 << 20;
/** What an entry needs on disk besides its value, roughly. */
const ENTRY_BYTES = 96;
/** How many revisions are trimmed before other work runs. */
const TRIM_REVISIONS = 10_000;

/** The real disk notes its holder in the lock file. */
async function holderOf({ directory, disk }: EmbeddedStoreOptions): Promise<string> {
  try {
    const pid = new TextDecoder().decode(await disk.read(`${directory}/lock`, 0, 32)).trim();
    return /^\d+$/.test(pid) ? ` (pid ${pid})` : '';
  } catch {
    return '';
  }
}
