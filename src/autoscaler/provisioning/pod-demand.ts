/** What a pod needs of a node that is launched for it, computed once for each plan. */
import type { NodeSelectorRequirement, Pod } from '../../api/generated/types.ts';
import type { PodInfo } from '../../scheduler/framework.ts';
import { volumesOf } from '../../scheduler/plugins/node-volume-limits.ts';
import { requiredTerms } from '../../scheduler/required-node-affinity.ts';
import type { ClusterSnapshot } from '../../scheduler/framework.ts';
import { combined, haveCommonNodes, type Requirements, requirementsOf, requirementsOfLabels } from '../requirements/requirements.ts';
import { volumeTopologyOf } from './volume-topology.ts';

export interface PodDemand {
  readonly pod: PodInfo;
  /** The node has to satisfy one of them: node selector and affinity, and the places of the volumes. */
  readonly alternatives: readonly Requirements[];
  /** Drivers, by volume: they count against the limits of a node. */
  readonly volumes: ReadonlyMap<string, string>;
  /** Whether it may depend on the zone of a node if it fits there. */
  readonly isZonal: boolean;
}

export type Demand = ({ readonly type: 'demand' } & PodDemand) | { readonly type: 'refused'; readonly message: string };

export function demandOf(pod: PodInfo, views: ClusterSnapshot['views']): Demand {
  const topology = volumeTopologyOf(pod.pod, views);
  if (topology.type === 'refused') return topology;
  const ofPod = nodeRequirements(pod.pod);
  const alternatives = ofPod.flatMap((one) => topology.alternatives.filter((other) => haveCommonNodes(one, other)).map((other) => combined(one, other)));
  if (alternatives.length === 0) return { type: 'refused', message: "the pod's node selector and affinity exclude the places of its volumes" };
  return { type: 'demand', pod, alternatives, volumes: volumesOf(pod.pod, views), isZonal: dependsOnZone(pod) };
}

/** The terms of the required node affinity are alternatives. */
function nodeRequirements(pod: Pod): readonly Requirements[] {
  const selected = requirementsOfLabels(pod.spec.nodeSelector);
  const terms = requiredTerms(pod);
  if (terms === undefined) return [selected];
  return terms
    .filter(({ matchFields = [] }) => matchFields.length === 0)
    .map(({ matchExpressions = [] }) => combined(selected, requirementsOf(matchExpressions.map(expressionOf))));
}

const expressionOf = ({ key, operator, values }: NodeSelectorRequirement) => ({ key, operator, ...(values === undefined ? {} : { values }) });

const dependsOnZone = ({ claims, affinity, pod }: PodInfo): boolean =>
  claims.length > 0 || affinity !== undefined || (pod.spec.topologySpreadConstraints ?? []).length > 0;
