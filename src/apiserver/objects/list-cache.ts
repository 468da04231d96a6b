import type { Cancel, World } from '../../world/world.ts';
import type { ObjectRevision } from '../api.ts';
import type { Resource } from './resources.ts';

/** A list of all objects below a prefix, in the version of one resource, at one revision. */
export interface ListKey {
  readonly prefix: string;
  readonly resource: Resource;
  readonly revision: number;
}

interface CachedList extends ListKey {
  readonly items: readonly ObjectRevision[];
  readonly forget: Cancel;
}

/** Smaller collections are read faster than they are found in the cache. */
const worthKeeping = 200;
const atMost = 4;
const keptForMs = 1_000;

/**
 * Collections that were listed within the last second. After a restart of the server all informers list the same collections at the same time.
 * Until the next write they get the same array, so the rendered list is also shared.
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
