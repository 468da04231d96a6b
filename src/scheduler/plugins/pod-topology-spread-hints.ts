/** PodTopologySpread's queueing hints. */
import type { Node, Pod } from '../../api/generated/types.ts';
import { semanticallyEqual } from '../../api/validation/equality.ts';
import { matchesLabels } from '../../api/selectors/label-selector.ts';
import type { ClusterEvent, ObjectChange, PodInfo } from '../framework.ts';
import { constraintsOf, hasAllTopologyKeys, type SpreadConstraint } from './spread-constraints.ts';

export function topologySpreadHint(pod: PodInfo, change: ClusterEvent): boolean {
  // The constraints are valid: PreFilter has parsed them.
  const constraints = constraintsOf(pod.pod, 'DoNotSchedule');
  if (change.resource === 'node') return nodeHint(constraints, change);
  return change.resource === 'pod' && podHint(pod, constraints, change);
}

function podHint(pod: PodInfo, constraints: readonly SpreadConstraint[], { before, after }: ObjectChange<Pod>): boolean {
  const either = after ?? before;
  if (either === undefined) return false;
  const isOwn = either.metadata.uid === pod.uid;
  if (!isOwn && either.metadata.namespace !== pod.namespace) return false;
  const matches = ({ selector }: SpreadConstraint, of: Pod): boolean => matchesLabels(selector, of.metadata.labels);
  if (before === undefined || after === undefined) return constraints.some((constraint) => matches(constraint, either));
  if (isOwn && constraints.some(({ honorsTaints }) => honorsTaints) && !semanticallyEqual(before.spec.tolerations, after.spec.tolerations)) return true;
  return constraints.some((constraint) => matches(constraint, before) !== matches(constraint, after));
}

function nodeHint(constraints: readonly SpreadConstraint[], { before, after }: ObjectChange<Node>): boolean {
  const counted = (node: Node | undefined): boolean => node !== undefined && hasAllTopologyKeys(node.metadata.labels, constraints);
  if (before === undefined || after === undefined) return counted(after ?? before);
  if (counted(before) !== counted(after)) return true;
  if (!counted(after)) return false;
  const moved = constraints.some(({ topologyKey }) => before.metadata.labels?.[topologyKey] !== after.metadata.labels?.[topologyKey]);
  return moved || !semanticallyEqual(before.spec.taints, after.spec.taints);
}
