import type { ResponseOp } from '../../grpc/generated/etcd.ts';
import type { World } from '../../world/world.ts';
import {
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
} from '../contract.ts';
import { Version } from '../mvcc/version.ts';
import { EtcdActivity, type EtcdEvent } from './activity.ts';
import { EtcdClient, type EtcdEndpoint } from './client.ts';
import { compactTogether } from './compaction.ts';
import { ConsistentReads } from './consistent-reads.ts';
import { noSpace, readFailure, writeFailure } from './errors.ts';
import { refuseTooOld } from './etcd-version.ts';
import { findDifference } from './find-difference.ts';
import { claimPrefix, type ClusterIds } from './format.ts';
import { KeyOrder } from './key-order.ts';
import { EtcdKeys } from './keys.ts';
import { Mirror } from './mirror.ts';
import { readState } from './read-state.ts';
import { conflictsOf, hasWritten, requestOf } from './transactions.ts';
import { WatchStream } from './watch-stream.ts';

export interface EtcdStoreOptions extends ClusterIds {
  /** The members of one etcd cluster. The store closes their channels. */
  readonly endpoints: readonly EtcdEndpoint[];
  /** '/mooring': all keys of the store begin with it. */
  readonly prefix: string;
  readonly world: Pick<World, 'clock' | 'timers' | 'log'>;
  /** Of one call to one member. */
  readonly requestTimeoutMs?: number;
  /** How far the mirror may be behind before a read goes to etcd itself, and the watch to another member. */
  readonly stallMs?: number;
  /** Keys of one answer when all are read. */
  readonly pageSize?: number;
  /** The history that etcd keeps, for servers whose watch was interrupted. 0: etcd is compacted by its operator. */
  readonly compactionIntervalMs?: number;
}

export interface EtcdStore extends Store {
  /** Of the store, for as long as it exists. */
  readonly clusterId: string;
  /** Why writes may be refused now, or etcd does not answer; undefined: nothing is known. */
  writeProblem(): string | undefined;
  /** How many revisions the mirror is behind the newest that etcd has named. Those of other programs count until the watch has told its progress. */
  lag(): number;
  /** One listener, for metrics. */
  observe(listener: (event: EtcdEvent) => void): void;
}

const DEFAULT_REQUEST_TIMEOUT_MS = 10_000;
/** Kubernetes' cacher waits as long (blockTimeout). */
const DEFAULT_STALL_MS = 3_000;
const DEFAULT_PAGE_SIZE = 5_000;
/** Kubernetes' --etcd-compaction-interval. */
const DEFAULT_COMPACTION_INTERVAL_MS = 5 * 60_000;
const AUDIT_AGAIN_MS = 1_000;

/**
 * A store in an etcd cluster, which several servers share: all data in memory (the mirror), kept current by one watch; transactions are etcd's.
 *
 * Guarantees, besides the contract's
 * - Reads are linearizable: a reader sees what any server has acknowledged before. It waits until the mirror has reached etcd's revision.
 * - Every event is checked against the mirror. Where one is missing, all data is read again, and watchers end with `compacted`.
 * - If etcd lacks what it had acknowledged (restored from a backup, disks lost), the store stops with `failed`.
 *
 * Errors: `unavailable`, `foreign`, `unsupported`, `newer-version` from opening; `undecided`, `unavailable`, `full`, `too-large` from writing.
 */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<EtcdStore> {
  const activity = new EtcdActivity(options.world.clock);
  const client = new EtcdClient(options.endpoints, options.requestTimeoutMs ?? DEFAULT_REQUEST_TIMEOUT_MS, activity);
  try {
    const { version, errors } = await client.status();
    refuseTooOld(version);
    const { clusterId, keys } = await claimPrefix(client, options.prefix, options);
    const state = await readState({ client, keys, pageSize: options.pageSize ?? DEFAULT_PAGE_SIZE });
    const mirror = new Mirror(state, { keys, timers: options.world.timers });
    return new MirroredStore(options, { client, activity, keys, mirror, clusterId, isFull: errors.some((error) => error.includes('NOSPACE')) });
  } catch (error) {
    client.close();
    throw readFailure(error);
  }
}

interface Opened {
  readonly client: EtcdClient;
  readonly activity: EtcdActivity;
  readonly keys: EtcdKeys;
  readonly mirror: Mirror;
  readonly clusterId: string;
  /** A member has raised the alarm. */
  readonly isFull: boolean;
}

/** etcd's answer to a transaction. */
interface Answer {
  readonly revision: number;
  readonly succeeded: boolean;
  readonly responses: readonly ResponseOp[];
}

class MirroredStore implements EtcdStore {
  readonly clusterId: string;
  readonly #options: EtcdStoreOptions;
  readonly #client: EtcdClient;
  readonly #activity: EtcdActivity;
  readonly #keys: EtcdKeys;
  readonly #mirror: Mirror;
  readonly #stream: WatchStream;
  readonly #reads: ConsistentReads;
  readonly #order = new KeyOrder();
  readonly #writing = new Set<Promise<unknown>>();
  readonly #cancelCompaction: () => void;
  /** The mirror has not been compared with etcd since the watch began, or began again. */
  #isSuspect = true;
  /** How often the watch has begun. */
  #openings = 0;
  #writeProblem: string | undefined;
  #failed: StoreError | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: EtcdStoreOptions, { client, activity, keys, mirror, clusterId, isFull }: Opened) {
    this.clusterId = clusterId;
    this.#options = options;
    this.#client = client;
    this.#activity = activity;
    this.#keys = keys;
    this.#mirror = mirror;
    this.#writeProblem = isFull ? noSpace('alarm:NOSPACE') : undefined;
    const { world } = options;
    const stream = new WatchStream({ client, keys, mirror, world, reload: () => this.#reload(), onOpened: () => this.#suspect() });
    this.#stream = stream;
    this.#reads = new ConsistentReads({
      client,
      keys,
      mirror,
      activity,
      stream,
      stallMs: this.#stallMs,
      lost: (found, known) => this.#fail(found, known),
      isSuspect: () => this.#isSuspect,
    });
    stream.start();
    const intervalMs = options.compactionIntervalMs ?? DEFAULT_COMPACTION_INTERVAL_MS;
    this.#cancelCompaction = compactTogether({ client, keys, activity, world }, { intervalMs, onRound: () => void this.#audit() });
  }

  revision(): number {
    return this.#mirror.revision();
  }

  async currentRevision(): Promise<number> {
    this.#refuse();
    return this.#reads.currentRevision();
  }

  compactedRevision(): number {
    return this.#mirror.compactedRevision();
  }

  watch(options: WatchOptions, watcher: Watcher): Watch {
    return this.#mirror.watch(options, watcher);
  }

  stats(): StoreStats {
    return this.#mirror.stats();
  }

  writeProblem(): string | undefined {
    return this.#failed?.message ?? this.#activity.problem() ?? this.#writeProblem;
  }

  lag(): number {
    return Math.max(0, this.#keys.revisionOf(this.#client.newestRevision) - this.#mirror.revision());
  }

  observe(listener: (event: EtcdEvent) => void): void {
    this.#activity.observe(listener);
  }

  async get(key: string): Promise<Entry | undefined> {
    this.#refuse();
    return this.#reads.get(key);
  }

  async range(range: Range): Promise<RangeResult> {
    this.#refuse();
    return this.#reads.range(range);
  }

  async transact(transaction: Transaction): Promise<TransactionResult> {
    this.#refuse();
    const running = this.#transact(transaction);
    this.#writing.add(running);
    try {
      return await running;
    } finally {
      this.#writing.delete(running);
    }
  }

  /** Of this server's memory. etcd is compacted by all servers together. */
  async compact(revision: number): Promise<void> {
    this.#refuse();
    const newest = this.#mirror.revision();
    if (revision > newest) throw new StoreError('future', `revision ${revision} does not exist yet: the newest is ${newest}`);
    await this.#mirror.forget(revision);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#writing);
    this.#stop(new StoreError('closed', 'the store is closed'));
    this.#client.close();
  }

  #stop(cause: StoreError): void {
    this.#cancelCompaction();
    this.#stream.stop();
    this.#mirror.end(cause);
  }

  /** @throws StoreError `closed` or `failed` */
  #refuse(): void {
    if (this.#closing !== undefined) throw new StoreError('closed', 'the store is closed');
    if (this.#failed !== undefined) throw this.#failed;
  }

  async #transact(transaction: Transaction): Promise<TransactionResult> {
    const request = requestOf(transaction, this.#keys);
    const compared = transaction.compares.map(({ key }) => key);
    const written = transaction.writes.map(({ key }) => key);
    // Their events may come before the answer.
    const forgetPuts = this.#mirror.expectPuts(transaction.writes);
    try {
      const answer = await this.#order.run({ compared, written }, () => this.#send(request));
      return await this.#conclude(transaction, answer);
    } finally {
      forgetPuts();
    }
  }

  async #send(request: ReturnType<typeof requestOf>): Promise<Answer> {
    const known = this.#mirror.revision();
    try {
      const { header, succeeded, responses } = await this.#client.txn(request);
      const revision = this.#keys.revisionOf(header?.revision);
      const isWritten = succeeded && hasWritten(responses);
      if (revision < known || (isWritten && revision === known)) throw this.#fail(revision, known);
      if (isWritten) this.#writeProblem = undefined;
      return { revision, succeeded, responses };
    } catch (error) {
      const failure = writeFailure(error);
      if (failure.code === 'full') this.#writeProblem = failure.message;
      if (failure.code === 'undecided') this.#activity.tell({ type: 'undecided' });
      throw failure;
    }
  }

  async #conclude({ compares, writes }: Transaction, { revision, succeeded, responses }: Answer): Promise<TransactionResult> {
    if (!succeeded) {
      const conflicts = conflictsOf(compares, responses, this.#keys).map(({ key, found }) => ({ key, found: found && this.#reads.entryOf(found) }));
      void this.#checkConflicts(conflicts, revision);
      return { ok: false, revision, conflicts };
    }
    if (!hasWritten(responses)) return { ok: true, revision, entries: writes.map(() => undefined) };
    // Every server reads its own writes: the answer waits for the event.
    if (!(await this.#activity.wait('write', this.#mirror.reach(revision, this.#stallMs)))) {
      this.#stream.restart();
      if (!(await this.#mirror.reach(revision, this.#stallMs)))
        throw this.#failed ?? new StoreError('undecided', `etcd has written revision ${revision}, and its watch does not deliver it`);
    }
    return { ok: true, revision, entries: writes.map((write) => this.#written(write, revision)) };
  }

  /**
   * What etcd found instead, the mirror has at that revision too, or its watch has lost events. Otherwise this server's clients would read the old
   * object, and get the same conflict again, until the next audit.
   */
  async #checkConflicts(conflicts: Extract<TransactionResult, { ok: false }>['conflicts'], revision: number): Promise<void> {
    if (!(await this.#mirror.reach(revision, this.#stallMs))) return;
    const lost = conflicts.find(({ key, found }) => this.#mirror.modRevisionAt(key, revision) !== (found?.modRevision ?? 0));
    if (lost !== undefined && this.#mirror.compactedRevision() <= revision) this.#readAllAgain(lost.key);
  }

  #written(write: Write, revision: number): Entry | undefined {
    if (write.type === 'delete') return undefined;
    // Later writes and a compaction may have followed already.
    return this.#mirror.entryAt(write.key, revision) ?? new Version({ ...write, createRevision: revision, modRevision: revision });
  }

  #suspect(): void {
    this.#isSuspect = true;
    this.#openings++;
    this.#activity.tell({ type: 'watch' });
    void this.#audit();
  }

  async #reload(): Promise<void> {
    const known = this.#mirror.revision();
    const state = await readState({ client: this.#client, keys: this.#keys, pageSize: this.#options.pageSize ?? DEFAULT_PAGE_SIZE });
    if (state.revision < known) throw this.#fail(state.revision, known);
    this.#options.world.log.warn('read all objects from etcd again: watches begin anew', { from: known, to: state.revision });
    this.#activity.tell({ type: 'reload' });
    if (this.#closing === undefined) this.#mirror.replace(state);
  }

  /**
   * Compares the mirror with etcd: one that lost events (etcd-io/etcd#17529, #18089, #19179) is found out. After each interruption of the watch,
   * and for ever if its progress cannot be believed, reads go to etcd itself until both are the same.
   */
  async #audit(): Promise<void> {
    const { world } = this.#options;
    const openings = this.#openings;
    try {
      const isTrusted = this.#stream.isProgressTrusted;
      // Where the progress is not believed, revisions of others keep the mirror behind for ever.
      if (isTrusted ? !(await this.#reads.reachesCurrent()) : !this.#stream.isOpen) return;
      const eventsTakeMs = isTrusted ? undefined : this.#stallMs;
      const difference = await findDifference({ client: this.#client, keys: this.#keys, mirror: this.#mirror, eventsTakeMs });
      // A watch that began meanwhile is not compared yet: its own audit is under way.
      if (openings !== this.#openings) return;
      this.#isSuspect &&= difference !== undefined || !isTrusted;
      if (difference === undefined) return;
      this.#readAllAgain(difference);
    } catch (error) {
      // etcd is not there, or has compacted the revision.
      world.log.debug('the mirror was not compared with etcd', { error });
      if (this.#isSuspect && this.#closing === undefined) world.timers.after(AUDIT_AGAIN_MS, () => void this.#audit());
    }
  }

  /** `key`: etcd has it at another revision than the mirror. */
  #readAllAgain(key: string): void {
    this.#options.world.log.error('the watch of etcd has lost events: all objects are read again', { revision: this.#mirror.revision(), key });
    this.#isSuspect = true;
    this.#stream.reload();
  }

  #fail(found: number, known: number): StoreError {
    this.#failed ??= new StoreError(
      'failed',
      `etcd is at revision ${found}, and was at ${known} before: it has lost acknowledged writes. Check its members, restore a backup with "etcdutl snapshot restore --bump-revision", and start all servers again.`,
    );
    this.#options.world.log.error('etcd has lost revisions', { found, known });
    this.#stop(this.#failed);
    return this.#failed;
  }

  get #stallMs(): number {
    return this.#options.stallMs ?? DEFAULT_STALL_MS;
  }
}
