/** What a pod needs of a node that is launched for it, computed once for each plan. */
import type { PodInfo } from '../../scheduler/framework.ts';
import { volumesOf } from '../../scheduler/plugins/node-volume-limits.ts';
import type { ClusterSnapshot } from '../../scheduler/framework.ts';
import type { Requirements } from '../requirements/requirements.ts';
import { alternativesOf } from './pod-alternatives.ts';

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
  const found = alternativesOf(pod.pod, views);
  if (found.type === 'refused') return found;
  return { type: 'demand', pod, alternatives: found.alternatives, volumes: volumesOf(pod.pod, views), isZonal: dependsOnZone(pod) };
}

const dependsOnZone = ({ claims, affinity, pod }: PodInfo): boolean =>
  claims.length > 0 || affinity !== undefined || (pod.spec.topologySpreadConstraints ?? []).length > 0;
