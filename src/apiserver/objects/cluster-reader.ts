import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import { type Entry, prefixEnd, type Range, type Store } from '../../store/contract.ts';
import { keyOf, prefixOf, type Resource } from './resources.ts';
import { revisionOf } from './object-revision.ts';

const maxRanges = 1_000;

/** What plugins look up. Objects are frozen and as new as the store can show them. */
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

  /** All of a namespace; '': of the cluster. */
  async list<T extends KubeObject>(resource: Resource, namespace: string): Promise<readonly Stored<T>[]> {
    const entries = await this.entries(resource, namespace);
    return entries.map((entry) => revisionOf(resource, entry).object as Stored<T>);
  }

  /** The same, not decoded: mostly it matters only whether there are any. */
  async entries(resource: Resource, namespace: string): Promise<readonly Entry[]> {
    const { entries } = await this.#store.range(this.#rangeOf(resource, namespace));
    return entries;
  }

  /** Every write asks for the same few. */
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
