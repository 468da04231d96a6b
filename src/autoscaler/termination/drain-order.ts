import type { Pod } from '../../api/generated/types.ts';
import { isOwnedByDaemonSet } from '../pods.ts';

const isCritical = ({ spec }: Pod): boolean => spec.priorityClassName === 'system-cluster-critical' || spec.priorityClassName === 'system-node-critical';

/** Pods go in groups, each when the one before is gone: critical pods last, and those of DaemonSets after the others of their group. */
export function nextGroup(pods: readonly Pod[]): readonly Pod[] {
  const rank = (pod: Pod): number => (isCritical(pod) ? 2 : 0) + (isOwnedByDaemonSet(pod) ? 1 : 0);
  const first = Math.min(...pods.map(rank));
  return pods.filter((pod) => rank(pod) === first);
}
