import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import { type Change, prefixEnd, type Store, type Watch } from '../../store/contract.ts';
import type { Resource } from './resources.ts';
import { revisionOf } from './object-revision.ts';

/**
 * The objects of one kind, by name: listed once, then updated by a watch on the store.
 * For kinds with few objects (webhook configurations, policies).
 */
export class StoreInformer<T extends KubeObject> {
  readonly #store: Store;
  readonly #resource: Resource;
  readonly #changed: (objects: readonly Stored<T>[]) => void;
  readonly #objects = new Map<string, Stored<T>>();
  #watch: Watch | undefined;
  #stopped = false;

  /** `changed` gets all objects, sorted by name. */
  constructor(store: Store, resource: Resource, changed: (objects: readonly Stored<T>[]) => void) {
    this.#store = store;
    this.#resource = resource;
    this.#changed = changed;
  }

  async start(): Promise<void> {
    const { prefix } = this.#resource;
    const { entries, revision } = await this.#store.range({ from: prefix, to: prefixEnd(prefix) });
    if (this.#stopped) return;
    for (const entry of entries) this.#objects.set(entry.key, revisionOf(this.#resource, entry).object as Stored<T>);
    if (entries.length > 0) this.#notify();
    // Only a closed store ends a watch that began at its newest revision.
    this.#watch = this.#store.watch({ prefix, after: revision }, { changes: (_, changes) => this.#apply(changes), end: () => {} });
  }

  stop(): void {
    this.#stopped = true;
    this.#watch?.stop();
  }

  #apply(changes: readonly Change[]): void {
    for (const { key, entry } of changes) {
      if (entry === undefined) this.#objects.delete(key);
      else this.#objects.set(key, revisionOf(this.#resource, entry).object as Stored<T>);
    }
    this.#notify();
  }

  #notify(): void {
    this.#changed([...this.#objects.keys()].sort().flatMap((key) => this.#objects.get(key) ?? []));
  }
}
