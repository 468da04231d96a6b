import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import type { Store } from '../../store/contract.ts';
import type { Timers } from '../../world/world.ts';
import { type FollowedChange, PrefixFollower } from './follow-prefix.ts';
import type { Resource } from './resources.ts';
import { revisionOf } from './object-revision.ts';

/**
 * The objects of one kind, by name: listed once, then updated by a watch on the store.
 * For kinds with few objects (webhook configurations, policies).
 */
export class StoreInformer<T extends KubeObject> {
  readonly #resource: Resource;
  readonly #changed: (objects: readonly Stored<T>[]) => void;
  readonly #objects = new Map<string, Stored<T>>();
  readonly #follower: PrefixFollower;

  /** `changed` gets all objects, sorted by name. */
  constructor({ store, timers }: { readonly store: Store; readonly timers: Timers }, resource: Resource, changed: (objects: readonly Stored<T>[]) => void) {
    this.#resource = resource;
    this.#changed = changed;
    this.#follower = new PrefixFollower({ store, timers, prefix: resource.prefix, changes: (changes) => this.#apply(changes) });
  }

  start(): Promise<void> {
    return this.#follower.start();
  }

  /** Begins as soon as the objects can be read. */
  startEventually(): void {
    this.#follower.startEventually();
  }

  stop(): void {
    this.#follower.stop();
  }

  #apply(changes: readonly FollowedChange[]): void {
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
