import type { DaemonSet, Node, Taint, Toleration } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { toleratesTaint } from '../../../api/taints.ts';
import { matchesNode, type NodeTerms, nodeTermsOf } from '../../../storage/volumes/topology.ts';
import { daemonTolerations } from './daemon-pod.ts';

/**
 * - `run`: the node should have a pod
 * - `stay`: no pod is created there, but an existing one stays
 * - `none`: an existing pod is deleted
 */
export type NodeEligibility = 'run' | 'stay' | 'none';

/** What a DaemonSet requires of a node, computed once for all nodes. */
export interface NodeRequirements {
  readonly nodeName: string | undefined;
  readonly labels: readonly (readonly [string, string])[];
  readonly terms: NodeTerms | undefined;
  readonly tolerations: readonly Toleration[];
}

export function nodeRequirementsOf({ spec: { template } }: DaemonSet): NodeRequirements {
  const { nodeName = '', nodeSelector = {}, affinity } = template.spec;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return {
    nodeName: nodeName === '' ? undefined : nodeName,
    labels: Object.entries(nodeSelector),
    terms: required === undefined ? undefined : nodeTermsOf(required),
    tolerations: daemonTolerations(template.spec),
  };
}

export function eligibilityOf({ metadata, spec }: Stored<Node>, { nodeName, labels, terms, tolerations }: NodeRequirements): NodeEligibility {
  const { name, labels: has } = metadata;
  if (nodeName !== undefined && nodeName !== name) return 'none';
  if (labels.some(([key, value]) => has?.[key] !== value)) return 'none';
  if (terms !== undefined && !matchesNode(terms, { name, labels: has })) return 'none';
  const repelling = (spec.taints ?? []).filter((taint) => !tolerations.some((toleration) => toleratesTaint(toleration, taint)));
  if (repelling.some(hasEffect('NoExecute'))) return 'none';
  return repelling.some(hasEffect('NoSchedule')) ? 'stay' : 'run';
}

const hasEffect =
  (effect: string) =>
  (taint: Taint): boolean =>
    taint.effect === effect;
