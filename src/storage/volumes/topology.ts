import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, TopologySelectorTerm, VolumeNodeAffinity } from '../../api/generated/types.ts';
import { validateNodeSelectorTerm } from '../../api/validation/node-selector.ts';
import { type Labels, matchesLabels, type Requirement, type SelectorOperator } from '../../api/selectors/label-selector.ts';

/** A node's labels. Without a name, requirements on the name are skipped, as Kubernetes does for volumes. */
export interface NodeFacts {
  readonly name?: string;
  readonly labels: Labels | undefined;
}

/** A parsed node selector: its terms are alternatives; an empty or invalid term matches no node. */
export type NodeTerms = readonly NodeTerm[];

interface NodeTerm {
  readonly labels: readonly Requirement[];
  readonly names: readonly { readonly equal: boolean; readonly name: string }[];
}

const operators: ReadonlyMap<string, SelectorOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
  ['Gt', '>'],
  ['Lt', '<'],
]);

/** Selectors never change, and many objects share theirs. */
const alreadyRead = new WeakMap<NodeSelector, NodeTerms>();

export function nodeTermsOf(selector: NodeSelector): NodeTerms {
  let terms = alreadyRead.get(selector);
  if (terms === undefined) {
    terms = (selector.nodeSelectorTerms ?? []).flatMap((term) => (isEmpty(term) || validateNodeSelectorTerm(term, '').length > 0 ? [] : [readTerm(term)]));
    alreadyRead.set(selector, terms);
  }
  return terms;
}

const isEmpty = (term: NodeSelectorTerm): boolean => (term.matchExpressions ?? []).length === 0 && (term.matchFields ?? []).length === 0;

function readTerm(term: NodeSelectorTerm): NodeTerm {
  return {
    labels: (term.matchExpressions ?? []).map(readRequirement),
    names: (term.matchFields ?? []).map(({ operator, values }) => ({ equal: operator === 'In', name: values?.[0] ?? '' })),
  };
}

function readRequirement({ key, operator, values }: NodeSelectorRequirement): Requirement {
  // A term with an unknown operator was left out before.
  return { key, operator: operators.get(operator) ?? '!', values: values ?? [] };
}

export function matchesNode(terms: NodeTerms, node: NodeFacts): boolean {
  return terms.some(
    (term) =>
      matchesLabels({ type: 'requirements', requirements: term.labels }, node.labels) &&
      (node.name === undefined || term.names.every(({ equal, name }) => (node.name === name) === equal)),
  );
}

/** Whether a class' allowedTopologies allow a node. No terms: every node. */
export function topologyAllows(terms: readonly TopologySelectorTerm[] | undefined, labels: Labels | undefined): boolean {
  if (terms === undefined || terms.length === 0) return true;
  return terms.some(({ matchLabelExpressions = [] }) => {
    if (matchLabelExpressions.length === 0) return false;
    const requirements = matchLabelExpressions.map(({ key, values }): Requirement => ({ key, operator: 'in', values: values ?? [] }));
    return matchesLabels({ type: 'requirements', requirements }, labels);
  });
}

const topologyLabels = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'] as const;

/**
 * The topology labels of a volume: its zones and regions, if its node affinity names them in every alternative. Several values are
 * joined as Kubernetes joins them: 'a__b'.
 */
export function topologyLabelsOf(affinity: VolumeNodeAffinity | undefined): Readonly<Record<string, string>> {
  const terms = affinity?.required?.nodeSelectorTerms ?? [];
  const labels: Record<string, string> = {};
  for (const key of topologyLabels) {
    const values = terms.map(({ matchExpressions = [] }) => matchExpressions.find((each) => each.key === key && each.operator === 'In')?.values ?? []);
    if (values.length > 0 && values.every((each) => each.length > 0)) labels[key] = [...new Set(values.flat())].sort().join('__');
  }
  return labels;
}
