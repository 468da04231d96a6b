import { type Change, StoreError, type Watch, type Watcher, type WatchOptions } from '../contract.ts';
import type { Tree } from './tree.ts';

/** The watchers of one prefix. They share the array of changes. */
interface Group {
  readonly prefix: string;
  readonly watches: Set<LiveWatch>;
  /** The changes of the revision being dispatched that lie under the prefix. */
  changes: Change[];
}

/**
 * All watchers, by prefix. A key has as many prefixes as it has segments, so the dispatch of a change costs
 * the depth of its key plus its own watchers, however many watch other prefixes.
 */
export class Watchers {
  readonly #groups = new Map<string, Group>();
  readonly #tree: Tree;
  #size = 0;
  /** All watchers have got all revisions up to this one. */
  #dispatched: number;

  constructor(tree: Tree) {
    this.#tree = tree;
    this.#dispatched = tree.revision;
  }

  get size(): number {
    return this.#size;
  }

  watch({ prefix, after }: WatchOptions, watcher: Watcher): Watch {
    const watch = new LiveWatch(watcher, after);
    if (after < this.#tree.compacted) {
      watch.end(new StoreError('compacted', `revision ${after} is forgotten: the oldest is ${this.#tree.compacted}`));
    } else {
      this.#replay(prefix, watch);
      if (!watch.ended) this.#join(prefix, watch);
    }
    return {
      progress: () => watch.progress(this.#dispatched),
      stop: () => this.#leave(prefix, watch),
    };
  }

  /** Delivers a revision that readers can see already to its watchers. */
  dispatch(revision: number): void {
    if (this.#size > 0) {
      const changes = this.#tree.changesAt(revision) ?? [];
      const [only] = changes;
      if (changes.length === 1 && only !== undefined) {
        for (const group of this.#groupsOf(only.key)) deliver(group, revision, changes);
      } else this.#dispatchMany(revision, changes);
    }
    this.#dispatched = revision;
  }

  endAll(cause: StoreError): void {
    const groups = [...this.#groups.values()];
    this.#groups.clear();
    this.#size = 0;
    for (const group of groups) for (const watch of group.watches) watch.end(cause);
  }

  #dispatchMany(revision: number, changes: readonly Change[]): void {
    const concerned = new Set<Group>();
    for (const change of changes) {
      for (const group of this.#groupsOf(change.key)) {
        if (!concerned.has(group)) {
          concerned.add(group);
          group.changes = [];
        }
        group.changes.push(change);
      }
    }
    for (const group of concerned) deliver(group, revision, group.changes);
  }

  #groupsOf(key: string): Group[] {
    const groups: Group[] = [];
    for (let slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', slash + 1)) {
      const group = this.#groups.get(key.slice(0, slash + 1));
      if (group !== undefined) groups.push(group);
    }
    if (!key.endsWith('/')) {
      const group = this.#groups.get(key);
      if (group !== undefined) groups.push(group);
    }
    return groups;
  }

  #replay(prefix: string, watch: LiveWatch): void {
    const concerns = prefix.endsWith('/') ? (change: Change) => change.key.startsWith(prefix) : (change: Change) => change.key === prefix;
    for (let revision = watch.delivered + 1; revision <= this.#tree.revision && !watch.ended; revision++) {
      const changes = this.#tree.changesAt(revision)?.filter(concerns) ?? [];
      if (changes.length > 0) watch.changes(revision, changes);
      else watch.delivered = revision;
    }
  }

  #join(prefix: string, watch: LiveWatch): void {
    let group = this.#groups.get(prefix);
    if (group === undefined) {
      group = { prefix, watches: new Set(), changes: [] };
      this.#groups.set(prefix, group);
    }
    group.watches.add(watch);
    this.#size++;
  }

  #leave(prefix: string, watch: LiveWatch): void {
    watch.ended = true;
    const group = this.#groups.get(prefix);
    if (group === undefined || !group.watches.delete(watch)) return;
    this.#size--;
    if (group.watches.size === 0) this.#groups.delete(prefix);
  }
}

class LiveWatch {
  readonly #watcher: Watcher;
  /** The newest delivered revision. A watcher that joins during a dispatch so gets no revision twice. */
  delivered: number;
  ended = false;

  constructor(watcher: Watcher, after: number) {
    this.#watcher = watcher;
    this.delivered = after;
  }

  progress(dispatched: number): number {
    return Math.max(this.delivered, this.ended ? 0 : dispatched);
  }

  changes(revision: number, changes: readonly Change[]): void {
    if (this.ended || revision <= this.delivered) return;
    this.delivered = revision;
    guard(() => this.#watcher.changes(revision, changes));
  }

  end(cause: StoreError): void {
    if (this.ended) return;
    this.ended = true;
    guard(() => this.#watcher.end(cause));
  }
}

function deliver(group: Group, revision: number, changes: readonly Change[]): void {
  for (const watch of group.watches) watch.changes(revision, changes);
}

/** A watcher that throws is a bug that must surface, but neither the commit nor the other watchers may suffer from it. */
function guard(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
