import { Event_EventType, type Event } from '../../grpc/generated/etcd.ts';
import type { Timers } from '../../world/world.ts';
import { type Entry, StoreError, type Write } from '../contract.ts';
import { ReadableStore } from '../mvcc/readable.ts';
import { Tree } from '../mvcc/tree.ts';
import { tombstone, type Version, versionAt, visible } from '../mvcc/version.ts';
import type { EtcdKeys } from './keys.ts';
import type { MirroredVersion } from './mirrored-version.ts';

/** All keys of the store at one revision of etcd. */
export interface EtcdState {
  readonly revision: number;
  readonly versions: readonly MirroredVersion[];
}

/**
 * The data of etcd in memory. It learns of every change by events alone, of this server's transactions too, so that all changes come in the
 * order of their revisions.
 */
export class Mirror extends ReadableStore {
  readonly #keys: EtcdKeys;
  readonly #timers: Timers;
  readonly #waiting = new Set<{ readonly revision: number; readonly done: (reached: boolean) => void }>();
  /** Puts of this server's transactions under way, by key: their events get what the writer derived from the value. */
  readonly #pending = new Map<string, Set<Put>>();

  constructor(state: EtcdState, { keys, timers }: { readonly keys: EtcdKeys; readonly timers: Timers }) {
    const tree = new Tree(state.revision, state.revision);
    for (const version of state.versions) tree.load(version);
    super(tree);
    this.#keys = keys;
    this.#timers = timers;
  }

  /**
   * Events in the order of their revisions, no revision split. `namesPrevious`: each was asked to name what it replaced. `damaged`: events before
   * these are missing; these are not applied.
   */
  apply(events: readonly Event[], { namesPrevious }: { readonly namesPrevious: boolean }): 'applied' | 'damaged' {
    for (let at = 0; at < events.length; ) {
      const revision = this.#keys.revisionOf(events[at]?.kv?.modRevision);
      const versions: Version[] = [];
      for (; at < events.length && this.#keys.revisionOf(events[at]?.kv?.modRevision) === revision; at++) {
        // An etcd that was interrupted may repeat events (etcd-io/etcd#15271).
        if (revision <= this.tree.revision) continue;
        const version = this.#versionOf(events[at], revision);
        if (version === undefined || (namesPrevious && !this.#replaces(events[at], version))) return 'damaged';
        versions.push(version);
      }
      if (versions.length > 0) this.publishAt(revision, versions);
    }
    this.#wake();
    return 'applied';
  }

  /** There are no further events up to this revision. */
  progress(revision: number): void {
    if (revision > this.tree.revision) this.advanceTo(revision);
    this.#wake();
  }

  /** Takes over a state whose events are lost, or compacted: watchers have to begin again. Entries that did not change stay the same. */
  replace(state: EtcdState): void {
    const tree = new Tree(state.revision, state.revision);
    for (const version of state.versions) {
      const known = visible(this.tree.newest(version.key));
      if (known?.modRevision !== version.modRevision) tree.load(version);
      else {
        known.older = undefined;
        tree.load(known);
      }
    }
    this.replaceTree(tree, new StoreError('compacted', `the events before revision ${state.revision} are compacted`));
    this.#wake();
  }

  /** Frees the past before `revision`. */
  async forget(revision: number): Promise<void> {
    this.tree.compact(revision);
    while (this.tree.trim(TRIM_REVISIONS)) await new Promise<void>((resolve) => this.#timers.soon(resolve));
  }

  /** Resolves with true once the mirror is at the revision, with false after `timeoutMs`, or when it is closed. */
  reach(revision: number, timeoutMs: number): Promise<boolean> {
    if (revision <= this.tree.revision) return Promise.resolve(true);
    if (this.closed) return Promise.resolve(false);
    return new Promise((resolve) => {
      const waiter = {
        revision,
        done: (reached: boolean) => {
          this.#waiting.delete(waiter);
          cancel();
          resolve(reached);
        },
      };
      const cancel = this.#timers.after(timeoutMs, () => waiter.done(false));
      this.#waiting.add(waiter);
    });
  }

  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  newest(key: string): Entry | undefined {
    return this.tree.get(key);
  }

  /** What a transaction wrote at this revision; undefined: it is forgotten already. */
  entryAt(key: string, revision: number): Entry | undefined {
    const newest = this.tree.newest(key);
    const version = newest === undefined ? undefined : versionAt(newest, revision);
    return version?.modRevision === revision ? version : undefined;
  }

  /** Of a key as of this revision; 0: it does not exist then. */
  modRevisionAt(key: string, revision: number): number {
    const newest = this.tree.newest(key);
    return (newest && versionAt(newest, revision))?.modRevision ?? 0;
  }

  /** Until the result is called. */
  expectPuts(writes: readonly Write[]): () => void {
    const puts = writes.filter((write) => write.type === 'put');
    for (const put of puts) {
      const pending = this.#pending.get(put.key);
      if (pending === undefined) this.#pending.set(put.key, new Set([put]));
      else pending.add(put);
    }
    return () => {
      for (const put of puts) {
        const pending = this.#pending.get(put.key);
        pending?.delete(put);
        if (pending?.size === 0) this.#pending.delete(put.key);
      }
    };
  }

  end(cause?: StoreError): void {
    this.endReading(cause);
    for (const { done } of this.#waiting) done(false);
  }

  #versionOf(event: Event | undefined, revision: number): Version | undefined {
    const kv = event?.kv;
    if (event === undefined || kv === undefined) return undefined;
    if (event.type === Event_EventType.DELETE) {
      const current = this.tree.get(this.#keys.decode(kv.key));
      return current && tombstone(current.key, revision);
    }
    const version = this.#keys.version(kv);
    version.memo = this.#memoOf(version);
    return version.follows(visible(this.tree.newest(version.key))) ? version : undefined;
  }

  /** The event names what the mirror holds. A deletion that names nothing replaces what etcd has compacted already: nothing can be said of it. */
  #replaces(event: Event | undefined, { key, deleted }: Version): boolean {
    const previous = event?.prevKv;
    if (previous === undefined) return !deleted;
    return this.#keys.revisionOf(previous.modRevision) === this.tree.get(key)?.modRevision;
  }

  /** The same bytes have the same meaning, whichever server wrote them. */
  #memoOf({ key, value }: Version): unknown {
    for (const put of this.#pending.get(key) ?? []) if (Buffer.compare(put.value, value) === 0) return put.memo;
    return undefined;
  }

  #wake(): void {
    for (const { revision, done } of this.#waiting) if (revision <= this.tree.revision) done(true);
  }
}

/** How many revisions are trimmed before other work runs. */
const TRIM_REVISIONS = 10_000;

type Put = Extract<Write, { type: 'put' }>;
