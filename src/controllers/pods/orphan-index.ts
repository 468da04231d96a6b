import type { LabelSelector } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import type { Cache, Index } from '../../client/informers/cache.ts';
import { controllerOf } from './ownership.ts';

/**
 * Objects without controller, by namespace and by each of their labels: a controller that may adopt them reads only those that have one of
 * the labels it selects, not every bare pod of the namespace.
 */
export class OrphanIndex<T extends KubeObject> {
  readonly #byLabel: Index<T>;

  constructor(cache: Cache<T>) {
    this.#byLabel = cache.addIndex(orphanKeys);
  }

  /** Objects that the selector may select, and maybe more. */
  candidates(namespace: string | undefined, selector: LabelSelector | null | undefined): readonly Stored<T>[] {
    const [label] = Object.entries(selector?.matchLabels ?? {});
    return this.#byLabel.get(orphanKey(namespace, label));
  }
}

/** One function for all instances, so that they share an index. */
function orphanKeys(object: KubeObject): readonly string[] {
  if (controllerOf(object) !== undefined) return [];
  const { namespace, labels = {} } = object.metadata;
  return [orphanKey(namespace, undefined), ...Object.entries(labels).map((label) => orphanKey(namespace, label))];
}

const orphanKey = (namespace: string | undefined, label: readonly [string, string] | undefined): string =>
  label === undefined ? (namespace ?? '') : `${namespace ?? ''} ${label[0]}=${label[1]}`;
