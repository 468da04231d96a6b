import type { Node, NodeSelectorTerm, Pod } from '../api/generated/types.ts';
import type { Labels } from '../api/selectors/label-selector.ts';
import { matchesNode, type NodeTerms, nodeTermsOf } from '../storage/volumes/topology.ts';

/** A pod's node selector and required node affinity, parsed once (nodeaffinity.RequiredNodeAffinity). */
export class RequiredNodeAffinity {
  readonly #labels: readonly (readonly [string, string])[];
  readonly #terms: NodeTerms | undefined;

  constructor({ spec }: Pod) {
    this.#labels = Object.entries(spec.nodeSelector ?? {});
    const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    this.#terms = required === undefined ? undefined : nodeTermsOf(required);
  }

  get matchesEveryNode(): boolean {
    return this.#labels.length === 0 && this.#terms === undefined;
  }

  matches(node: { readonly name: string; readonly labels: Labels | undefined }): boolean {
    const { labels } = node;
    for (const [key, value] of this.#labels) if (labels === undefined || !Object.hasOwn(labels, key) || labels[key] !== value) return false;
    return this.#terms === undefined || matchesNode(this.#terms, node);
  }

  matchesObject({ metadata: { name = '', labels } }: Node): boolean {
    return this.matches({ name, labels });
  }
}

export const requiredTerms = ({ spec }: Pod): readonly NodeSelectorTerm[] | undefined => {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined ? undefined : (required.nodeSelectorTerms ?? []);
};

/** The node names to which metadata.name terms restrict the pod. Undefined: a term has no such restriction. Empty: the terms contradict each other. */
export function namedNodes(terms: readonly NodeSelectorTerm[]): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  for (const { matchFields = [] } of terms) {
    const lists = matchFields.filter(({ key, operator }) => key === 'metadata.name' && operator === 'In').map(({ values = [] }) => values);
    const [first, ...others] = lists;
    if (first === undefined) return undefined;
    for (const name of first) if (others.every((list) => list.includes(name))) names.add(name);
  }
  return names;
}
