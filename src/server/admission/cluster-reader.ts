import type { KubeObject } from '../../api/object.ts';
import { prefixEnd, type Store } from '../../store/contract.ts';
import { keyOf, prefixOf, type Resource } from '../registry/resources.ts';
import { storedOf } from '../registry/stored.ts';

/** What plugins look up. Objects are frozen and as new as the store can show them. */
export class ClusterReader {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async get<T extends KubeObject>(resource: Resource, namespace: string, name: string): Promise<T | undefined> {
    const entry = await this.#store.get(keyOf(resource, namespace, name));
    return entry === undefined ? undefined : (storedOf(resource, entry).object as T);
  }

  /** All of a namespace; '': of the cluster. */
  async list<T extends KubeObject>(resource: Resource, namespace: string): Promise<readonly T[]> {
    const prefix = prefixOf(resource, namespace);
    const { entries } = await this.#store.range({ from: prefix, to: prefixEnd(prefix) });
    return entries.map((entry) => storedOf(resource, entry).object as T);
  }
}
