import type { LabelSelector, NodeSelectorTerm } from '../generated/types.ts';

const deprecated: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['scheduler.alpha.kubernetes.io/preferAvoidPods', 'deprecated since v1.22; use Taints and Tolerations instead'],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
]);

/** What is said of a label of nodes that should no longer be used. */
export const deprecatedNodeLabel = (key: string): string | undefined => deprecated.get(key);

function expressionWarnings(expressions: readonly { readonly key: string }[] | undefined, field: string): string[] {
  return (expressions ?? []).flatMap(({ key }, i) => {
    const message = deprecated.get(key);
    return message === undefined ? [] : [`${field}.matchExpressions[${i}].key: ${key} is ${message}`];
  });
}

export const nodeSelectorTermWarnings = (term: NodeSelectorTerm, field: string): string[] => expressionWarnings(term.matchExpressions, field);

/** A label selector that selects nodes. */
export function nodeLabelSelectorWarnings(selector: LabelSelector | undefined, field: string): string[] {
  const labels = Object.keys(selector?.matchLabels ?? {}).flatMap((label) => {
    const message = deprecated.get(label);
    return message === undefined ? [] : [`${field}.matchLabels.${label}: ${message}`];
  });
  return [...expressionWarnings(selector?.matchExpressions, field), ...labels];
}
