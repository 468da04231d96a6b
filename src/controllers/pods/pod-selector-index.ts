import type { Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { type Cache, type Change, keyOf } from '../../client/informers/cache.ts';

type Matches = (labels: Readonly<Record<string, string>> | undefined) => boolean;

interface IndexedSelector {
  readonly matches: Matches;
  readonly members: Set<string>;
}

/**
 * An index of the pods that each of many selectors (of Services, of PodDisruptionBudgets) selects. A changed pod is compared once with
 * the selectors of its namespace; the pods of a selector are read without a scan.
 */
export class PodSelectorIndex {
  readonly #pods: Cache<Pod>;
  readonly #byNamespace = new Map<string, Map<string, IndexedSelector>>();

  constructor(pods: Cache<Pod>) {
    this.#pods = pods;
  }

  /** `key`: 'namespace/name' of the object with the selector. `matches` undefined: it selects nothing, or was deleted. */
  select(key: string, matches: Matches | undefined): void {
    const namespace = namespaceOf(key);
    if (matches === undefined) return this.#drop(namespace, key);
    const members = new Set<string>();
    for (const { metadata } of this.#pods.inNamespace(namespace)) if (matches(metadata.labels)) members.add(keyOf(metadata));
    const known = this.#byNamespace.get(namespace) ?? new Map<string, IndexedSelector>();
    known.set(key, { matches, members });
    this.#byNamespace.set(namespace, known);
  }

  /** The keys of selectors that select the pod, or did before the change. */
  change({ before, after }: Change<Pod>): readonly string[] {
    const { metadata } = after ?? before ?? {};
    const selections = this.#byNamespace.get(metadata?.namespace ?? '');
    if (selections === undefined) return [];
    const pod = keyOf(metadata ?? {});
    const concerned: string[] = [];
    for (const [key, { matches, members }] of selections) {
      const isMember = after !== undefined && matches(after.metadata.labels);
      const was = isMember ? members.has(pod) : members.delete(pod);
      if (isMember && !was) members.add(pod);
      if (isMember || was) concerned.push(key);
    }
    return concerned;
  }

  /** The keys of selectors that select the pod. */
  selecting({ metadata }: Stored<Pod>): readonly string[] {
    const pod = keyOf(metadata);
    const selections = this.#byNamespace.get(metadata.namespace ?? '') ?? new Map<string, IndexedSelector>();
    return [...selections].filter(([, { members }]) => members.has(pod)).map(([key]) => key);
  }

  /** In no particular order. */
  members(key: string): readonly Stored<Pod>[] {
    const members = this.#byNamespace.get(namespaceOf(key))?.get(key)?.members;
    if (members === undefined) return [];
    return [...members].flatMap((pod) => this.#pods.getKey(pod) ?? []);
  }

  #drop(namespace: string, key: string): void {
    const known = this.#byNamespace.get(namespace);
    known?.delete(key);
    if (known?.size === 0) this.#byNamespace.delete(namespace);
  }
}

const namespaceOf = (key: string): string => key.slice(0, key.indexOf('/'));
