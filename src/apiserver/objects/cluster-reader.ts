import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import { type Entry, prefixEnd, type Range, type Store } from '../../store/contract.ts';
import { keyOf, prefixOf, type Resource } from './resources.ts';
import { revisionOf } from './object-revision.ts';

const maxRanges = 1_000;

/** Objects for admission plugins, frozen, at the newest revision of the store. */
export class ClusterReader {
  readonly #store: Store;
  readonly #ranges = new WeakMap<Resource, Map<string, Range>>();

  constructor(store: Store) {
    this.#store = store;
  }

  async get<T extends KubeObject>(resource: Resource, namespace: string, name: string): Promise<Stored<T> | undefined> {
    const entry = await this.#store.get(keyOf(resource, namespace, name));
    return entry === undefined ? undefined : (revisionOf(resource, entry).object as Stored<T>);
  }

  /** All objects of a namespace; '': of the cluster. */
  async list<T extends KubeObject>(resource: Resource, namespace: string): Promise<readonly Stored<T>[]> {
    const entries = await this.entries(resource, namespace);
    return entries.map((entry) => revisionOf(resource, entry).object as Stored<T>);
  }

  /** The same, not decoded: most callers only ask whether there are any. */
  async entries(resource: Resource, namespace: string): Promise<readonly Entry[]> {
    const { entries } = await this.#store.range(this.#rangeOf(resource, namespace));
    return entries;
  }

  /** Every write reads the same few ranges. */
  #rangeOf(resource: Resource, namespace: string): Range {
    let ranges = this.#ranges.get(resource);
    if (ranges === undefined || ranges.size >= maxRanges) {
      ranges = new Map();
      this.#ranges.set(resource, ranges);
    }
    let range = ranges.get(namespace);
    if (range === undefined) {
      const prefix = prefixOf(resource, namespace);
      range = { from: prefix, to: prefixEnd(prefix) };
      ranges.set(namespace, range);
    }
    return range;
  }
}
