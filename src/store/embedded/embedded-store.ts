import type { Disk, DiskLock } from '../../world/disk.ts';
import type { Log, World } from '../../world/world.ts';
import { type Store, StoreError, type StoreStats, type Transaction, type TransactionResult } from '../contract.ts';
import { evaluate, type TransactionOutcome } from '../mvcc/evaluate.ts';
import { ReadableStore } from '../mvcc/readable.ts';
import type { Version } from '../mvcc/version.ts';
import { CommitLog } from './commit-log.ts';
import { openRefusal, type SnapshotFile } from './files.ts';
import { GroupCommit } from './group-commit.ts';
import type { Manifest } from './manifest.ts';
import { lockStore, openFiles, type OpenedFiles } from './open-files.ts';
import type { Progress } from './progress.ts';
import { writeCompaction, writeTransaction } from './records.ts';
import { writeSnapshot } from './snapshot.ts';

export interface EmbeddedStoreOptions {
  /** Where the data is; created if absent. */
  readonly directory: string;
  readonly disk: Disk;
  readonly world?: Pick<World, 'log' | 'timers'>;
  /** The cluster whose data must be there: nothing is created. Absent: a directory without data becomes a new store. */
  readonly expectedClusterId?: string;
  /** A UUID, the identity of a store that is created. */
  readonly newClusterId?: string;
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
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  const { directory, disk } = options;
  try {
    await disk.makeDirectory(directory);
    const lock = await lockStore(disk, directory);
    try {
      return new DurableStore(options, await openFiles(options), lock);
    } catch (error) {
      await lock.release();
      throw error;
    }
  } catch (error) {
    throw openRefusal(error, directory);
  }
}

export interface EmbeddedStore extends Store {
  /** Of the store, for as long as it exists. */
  readonly clusterId: string;
  /** Why writes may be refused now; undefined: there is room for them. */
  writeProblem(): string | undefined;
}

class DurableStore extends ReadableStore implements EmbeddedStore {
  readonly clusterId: string;
  readonly #options: EmbeddedStoreOptions;
  readonly #log: CommitLog;
  readonly #manifest: Manifest;
  readonly #progress: Progress;
  readonly #lock: DiskLock;
  readonly #commits: GroupCommit;
  /** What was accepted but is not durable yet, and thus not visible. */
  readonly #ahead = new Map<string, Version>();
  /** The newest revision that was accepted. */
  #accepted: number;
  #rewriting: Promise<void> | undefined;
  #failed: StoreError | undefined;
  /** The last write failed because the disk was full. */
  #full = false;
  /** The room on the disk then. */
  #freeWhenFull = 0;
  #closing: Promise<void> | undefined;

  constructor(options: EmbeddedStoreOptions, { tree, log, manifest, progress }: OpenedFiles, lock: DiskLock) {
    super(tree);
    this.clusterId = manifest.clusterId;
    this.#options = options;
    this.#log = log;
    this.#manifest = manifest;
    this.#progress = progress;
    this.#lock = lock;
    this.#accepted = this.tree.revision;
    const { timers } = options.world ?? {};
    this.#commits = new GroupCommit({
      log,
      revision: () => this.tree.revision,
      soon: timers === undefined ? queueMicrotask : (callback) => timers.soon(callback),
      onDurable: () => progress.advanced(),
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
    await this.#progress.close();
    await this.#log.close();
    await this.#saveManifest();
    await this.#lock.release();
  }

  /** The next start then knows where the log ends. A disk that refuses it leaves the manifest before, and the notes of the progress. */
  async #saveManifest(): Promise<void> {
    try {
      await this.#manifest.saveProgress();
    } catch (error) {
      this.#logger?.warn('could not write the manifest', { directory: this.#options.directory, error });
    }
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
    if (error.code === 'full') {
      this.#full = true;
      this.#freeWhenFull = this.#free();
    } else this.#failed = error;
    this.#logger?.error('the disk refused a write', { directory: this.#options.directory, error });
  }

  writeProblem(): string | undefined {
    const { directory } = this.#options;
    if (this.#failed !== undefined) return this.#failed.message;
    const free = this.#free();
    const isFull = free < LEAST_FREE_BYTES || (this.#full && free < this.#freeWhenFull + LEAST_FREE_BYTES);
    return isFull ? `the disk of ${directory} is full: it has room for ${free} bytes` : undefined;
  }

  #free(): number {
    return this.#options.disk.free(this.#options.directory);
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
      const { clusterId } = this;
      const snapshot = await writeSnapshot({ directory, disk, tree: this.tree, revision, clusterId, abandoned: () => this.#closing !== undefined });
      if (snapshot === undefined) return;
      const replaced: string[] = [];
      await this.#manifest.update((layout) => {
        const segments = CommitLog.segmentsAfter(layout.segments, revision);
        const kept = new Set(segments);
        replaced.push(...layout.segments.filter((segment) => !kept.has(segment)).map(({ path }) => path));
        if (layout.snapshot !== undefined) replaced.push(layout.snapshot.path);
        return { snapshot, segments };
      });
      // Only now, when the manifest with the new snapshot is durable.
      for (const path of replaced) await disk.remove(path);
      this.#logger?.debug('rewrote the log', { directory, revision, bytes: snapshot.bytes });
    } catch (error) {
      // Nothing is lost: the log is still there, and the next compaction tries again.
      this.#logger?.warn('could not rewrite the log', { directory, error });
    } finally {
      this.tree.unpin();
      await this.#trim();
    }
  }

  get #snapshot(): SnapshotFile | undefined {
    return this.#manifest.layout.snapshot;
  }

  get #logger(): Log | undefined {
    return this.#options.world?.log;
  }
}

/** With less room than a log gets in advance, the next writes may be refused. */
const LEAST_FREE_BYTES = 1 << 20;
const DEFAULT_REWRITE_BYTES = 16 << 20;
/** What an entry needs on disk besides its value, roughly. */
const ENTRY_BYTES = 96;
/** How many revisions are trimmed before other work runs. */
const TRIM_REVISIONS = 10_000;
