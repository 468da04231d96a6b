/** When a pod is worth another look that others kept away, or were too far from. */
import type { Node, Pod } from '../../api/generated/types.ts';
import { semanticallyEqual } from '../../api/validation/equality.ts';
import type { ClusterChange, ObjectChange, PodInfo } from '../framework.ts';
import { type AffinityTerm, readPod, termMatches } from '../pod-info.ts';

export function affinityHelps(pod: PodInfo, change: ClusterChange): boolean {
  if (change.resource === 'node') return change.after !== undefined && helpsByNode(pod, change);
  return change.resource === 'pod' && helpsByPod(pod, change);
}

/** Namespaces are not looked up: a term with a selector for them counts as matching, and the pod is looked at once too often. */
const mayMatch = (terms: readonly AffinityTerm[], other: PodInfo): boolean =>
  terms.length > 0 && terms.every((term) => term.namespaceSelector.type !== 'nothing' || termMatches(term, other, undefined));

function helpsByPod(pod: PodInfo, { before, after }: ObjectChange<Pod>): boolean {
  if (after?.metadata.uid === pod.uid) return before !== undefined && !semanticallyEqual(before.metadata.labels, after.metadata.labels);
  const { required = [], requiredAnti = [] } = pod.affinity ?? {};
  const [then, now] = [before === undefined ? undefined : readPod(before), after === undefined ? undefined : readPod(after)];
  if (then !== undefined && now !== undefined) {
    if (semanticallyEqual(then.labels, now.labels)) return false;
    return (!mayMatch(required, then) && mayMatch(required, now)) || requiredAnti.some((term) => mayMatch([term], then) && !mayMatch([term], now));
  }
  if (now !== undefined) return mayMatch(required, now);
  if (then === undefined) return false;
  return requiredAnti.some((term) => mayMatch([term], then)) || (then.affinity?.requiredAnti ?? []).some((term) => mayMatch([term], pod));
}

function helpsByNode(pod: PodInfo, { before, after }: ObjectChange<Node>): boolean {
  const { required = [], requiredAnti = [] } = pod.affinity ?? {};
  const place = (node: Node | undefined, { topologyKey }: AffinityTerm): string | undefined => node?.metadata.labels?.[topologyKey];
  const isMoved = (term: AffinityTerm): boolean => place(before, term) !== undefined && place(after, term) !== place(before, term);
  if (required.some((term) => place(after, term) !== undefined && place(after, term) !== place(before, term))) return true;
  if (before === undefined) return required.length === 0;
  return requiredAnti.some(isMoved) || (required.length === 0 && !semanticallyEqual(before.metadata.labels, after?.metadata.labels));
}
