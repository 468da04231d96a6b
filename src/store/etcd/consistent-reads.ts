import type { KeyValue } from '../../grpc/generated/etcd.ts';
import type { Entry, Range, RangeResult, StoreError } from '../contract.ts';
import type { EtcdActivity } from './activity.ts';
import type { EtcdClient } from './client.ts';
import { readFailure } from './errors.ts';
import type { EtcdKeys } from './keys.ts';
import { LinearizableRevision } from './linearizable-revision.ts';
import type { Mirror } from './mirror.ts';
import type { WatchStream } from './watch-stream.ts';

export interface ConsistentReadsOptions {
  readonly client: EtcdClient;
  readonly keys: EtcdKeys;
  readonly mirror: Mirror;
  readonly activity: EtcdActivity;
  readonly stream: WatchStream;
  /** How far the mirror may be behind before a read goes to etcd itself, and the watch to another member. */
  readonly stallMs: number;
  /** Etcd's revision is before that of the mirror, whichever member answers. */
  readonly lost: (found: number, known: number) => StoreError;
  /** The mirror may lack events. */
  readonly isSuspect: () => boolean;
}

/** A member that was paused may answer with an old revision (etcd-io/etcd#20418): the others are asked before the store gives up. */
const MAX_ATTEMPTS = 4;

/**
 * Linearizable reads from the mirror (KEP-2340): the reader waits until the mirror has reached the revision that etcd had after the call. If
 * no event leads there, the watch tells its progress. Where that cannot be believed, or does not come, etcd itself is read.
 */
export class ConsistentReads {
  readonly #options: ConsistentReadsOptions;
  readonly #revision = new LinearizableRevision(() => this.#askRevision());

  constructor(options: ConsistentReadsOptions) {
    this.#options = options;
  }

  async get(key: string): Promise<Entry | undefined> {
    const { client, keys, mirror, activity } = this.#options;
    if (await this.#isCurrent()) return mirror.get(key);
    activity.tell({ type: 'direct-read' });
    const { kvs } = await client.range({ key: keys.encode(key) }).catch(refused);
    return kvs[0] && this.entryOf(kvs[0]);
  }

  async range(range: Range): Promise<RangeResult> {
    const { mirror, isSuspect } = this.#options;
    const { revision = Number.POSITIVE_INFINITY } = range;
    // The past does not change.
    if (revision < mirror.compactedRevision() || (revision <= mirror.revision() && !isSuspect())) return mirror.range(range);
    return (await this.#isCurrent()) ? mirror.range(range) : this.#rangeOfEtcd(range);
  }

  async #isCurrent(): Promise<boolean> {
    return !this.#options.isSuspect() && this.reachesCurrent();
  }

  /** Etcd's, at a moment after the call. The mirror is there too, unless it lags. @throws StoreError `unavailable`, `failed` */
  async currentRevision(): Promise<number> {
    const revision = await this.#revision.read();
    if (!this.#options.isSuspect()) await this.#reaches(revision);
    return Math.max(revision, this.#options.mirror.revision());
  }

  /** Whether the mirror has come to a revision that etcd had after the call. @throws StoreError `unavailable`, `failed` */
  async reachesCurrent(): Promise<boolean> {
    return this.#reaches(await this.#revision.read());
  }

  async #reaches(revision: number): Promise<boolean> {
    const { mirror, stream, stallMs, activity } = this.#options;
    if (revision <= mirror.revision()) return true;
    if (!stream.isProgressTrusted) return false;
    stream.requestProgress();
    const reached = await activity.wait('read', mirror.reach(revision, stallMs));
    if (!reached) stream.restart();
    return reached;
  }

  /** The mirror's own entry, if it has that revision. */
  entryOf(kv: KeyValue): Entry {
    const { keys, mirror } = this.#options;
    const known = mirror.newest(keys.decode(kv.key));
    return known?.modRevision === keys.revisionOf(kv.modRevision) ? known : keys.version(kv);
  }

  async #rangeOfEtcd(range: Range): Promise<RangeResult> {
    const { client, keys, mirror, activity } = this.#options;
    const { from, to, revision, limit } = range;
    // For etcd, a range without an end is a key.
    if (from >= to) return mirror.range(range);
    activity.tell({ type: 'direct-read' });
    const bounds = { key: keys.encode(from), rangeEnd: keys.encode(to), ...(revision !== undefined && { revision: keys.etcdRevision(revision) }) };
    // For etcd, no entries at all is another question, and 0 no limit.
    const { header, kvs, count } = await client.range({ ...bounds, ...(limit === 0 ? { countOnly: true } : { limit: BigInt(limit ?? 0) }) }).catch(refused);
    return { entries: kvs.map((kv) => this.entryOf(kv)), revision: revision ?? keys.revisionOf(header?.revision), remaining: Number(count) - kvs.length };
  }

  async #askRevision(): Promise<number> {
    const { client, keys, mirror, lost } = this.#options;
    const known = mirror.revision();
    for (let attempt = 1; ; attempt++) {
      const { header } = await client.range({ key: keys.format, countOnly: true }).catch(refused);
      const found = keys.revisionOf(header?.revision);
      if (found >= known) return found;
      if (attempt >= MAX_ATTEMPTS) throw lost(found, known);
      client.turn();
    }
  }
}

const refused = (cause: unknown): Promise<never> => Promise.reject(readFailure(cause));
