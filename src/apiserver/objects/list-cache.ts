import type { Cancel, World } from '../../world/world.ts';
import type { ObjectRevision } from '../api.ts';
import type { Resource } from './resources.ts';

/** What a whole list shows: everything under a prefix, as one resource shows it, at one revision. */
export interface ListKey {
  readonly prefix: string;
  readonly resource: Resource;
  readonly revision: number;
}

interface CachedList extends ListKey {
  readonly items: readonly ObjectRevision[];
  readonly forget: Cancel;
}

/** Smaller collections are read faster than they are looked up. */
const worthKeeping = 200;
const atMost = 4;
const keptForMs = 1_000;

/**
 * Whole collections that were read a moment ago. Clients tend to read the same at the same time (after a server was away, all of its informers do):
 * as long as nothing at all was written in between they get the same array, and whoever prints it can know that it was printed already.
 */
export class ListCache {
  readonly #world: World;
  readonly #lists = new Map<string, CachedList>();

  constructor(world: World) {
    this.#world = world;
  }

  find({ prefix, resource, revision }: ListKey): readonly ObjectRevision[] | undefined {
    const list = this.#lists.get(prefix);
    return list?.revision === revision && list.resource === resource ? list.items : undefined;
  }

  keep(shown: ListKey, items: readonly ObjectRevision[]): void {
    if (items.length < worthKeeping) return;
    const { prefix } = shown;
    this.#drop(prefix);
    const [oldest] = this.#lists.keys();
    if (oldest !== undefined && this.#lists.size >= atMost) this.#drop(oldest);
    this.#lists.set(prefix, { ...shown, items, forget: this.#world.timers.after(keptForMs, () => this.#lists.delete(prefix)) });
  }

  #drop(prefix: string): void {
    this.#lists.get(prefix)?.forget();
    this.#lists.delete(prefix);
  }
}
