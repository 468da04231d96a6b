import { type Entry, type Range, type RangeResult, StoreError, type StoreStats, type Watch, type Watcher, type WatchOptions } from '../contract.ts';
import { Tree } from './tree.ts';
import type { Version } from './version.ts';
import { Watchers } from './watchers.ts';

/** The read side of a store with all data in memory. Readers and watchers see only published revisions. */
export class ReadableStore {
  protected tree: Tree;
  #watchers: Watchers;
  /** Why nothing can be read or written any more. */
  #closed: StoreError | undefined;

  constructor(tree = new Tree(1, 0)) {
    this.tree = tree;
    this.#watchers = new Watchers(tree);
  }

  revision(): number {
    return this.tree.revision;
  }

  async currentRevision(): Promise<number> {
    this.refuseIfClosed();
    return this.tree.revision;
  }

  compactedRevision(): number {
    return this.tree.compacted;
  }

  async get(key: string): Promise<Entry | undefined> {
    this.refuseIfClosed();
    return this.tree.get(key);
  }

  async range(range: Range): Promise<RangeResult> {
    this.refuseIfClosed();
    return this.tree.range(range);
  }

  watch(options: WatchOptions, watcher: Watcher): Watch {
    if (this.#closed === undefined) return this.#watchers.watch(options, watcher);
    watcher.end(this.#closed);
    return { progress: () => options.after, stop: () => {} };
  }

  stats(): StoreStats {
    return {
      keys: this.tree.keys,
      liveBytes: this.tree.liveBytes,
      historyRevisions: this.tree.revision - this.tree.compacted,
      historyBytes: this.tree.historyBytes,
      diskBytes: 0,
      watchers: this.#watchers.size,
    };
  }

  /** The next revision becomes visible to readers, then watchers get it. */
  protected publish(versions: readonly Version[]): void {
    this.tree.apply(versions);
    this.#watchers.dispatch(this.tree.revision);
  }

  /** The same for a revision that is not the next: those before it have no writes here. */
  protected publishAt(revision: number, versions: readonly Version[]): void {
    this.tree.skipTo(revision - 1);
    this.publish(versions);
  }

  /** Revisions without writes here become visible, up to `revision`. */
  protected advanceTo(revision: number): void {
    this.tree.skipTo(revision);
    this.#watchers.dispatch(revision);
  }

  /** Goes on with other data: watchers cannot get what lies between, and have to begin again. */
  protected replaceTree(tree: Tree, cause: StoreError): void {
    this.#watchers.endAll(cause);
    this.tree = tree;
    this.#watchers = new Watchers(tree);
  }

  protected get closed(): boolean {
    return this.#closed !== undefined;
  }

  /** @throws StoreError `closed` */
  protected refuseIfClosed(): void {
    if (this.#closed !== undefined) throw this.#closed;
  }

  /** Ends all watches; every later call fails. */
  protected endReading(cause = new StoreError('closed', 'the store is closed')): void {
    this.#closed = cause;
    this.#watchers.endAll(cause);
  }
}
