/** InterPodAffinity's queueing hints. */
import type { Node, Pod } from '../../api/generated/types.ts';
import { semanticallyEqual } from '../../api/validation/equality.ts';
import type { ClusterEvent, ObjectChange, PodInfo } from '../framework.ts';
import { type AffinityTerm, readPod, termMatches } from '../pod-info.ts';

export function interPodAffinityHint(pod: PodInfo, change: ClusterEvent): boolean {
  if (change.resource === 'node') return nodeHint(change);
  return change.resource === 'pod' && podHint(pod, change);
}

/** A namespaceSelector counts as matching: namespaces are not looked up. The worst case is one scheduling cycle too many. */
const mayMatch = (terms: readonly AffinityTerm[], other: PodInfo): boolean =>
  terms.length > 0 && terms.every((term) => term.namespaceSelector.type !== 'nothing' || termMatches(term, other, undefined));

function podHint(pod: PodInfo, { before, after }: ObjectChange<Pod>): boolean {
  if (after?.metadata.uid === pod.uid) return before !== undefined && !semanticallyEqual(before.metadata.labels, after.metadata.labels);
  if (before !== undefined && after !== undefined && semanticallyEqual(before.metadata.labels, after.metadata.labels)) return false;
  return (after !== undefined && arrives(pod, readPod(after))) || (before !== undefined && leaves(pod, readPod(before)));
}

/** The new pod may satisfy the affinity. */
const arrives = ({ affinity }: PodInfo, other: PodInfo): boolean => mayMatch(affinity?.required ?? [], other);

/** The deleted pod may have violated an anti-affinity. Or it was the last of a group with affinity to itself: then the pod may be the first. */
function leaves(pod: PodInfo, other: PodInfo): boolean {
  const { required = [], requiredAnti = [] } = pod.affinity ?? {};
  if (requiredAnti.some((term) => mayMatch([term], other))) return true;
  return (other.affinity?.requiredAnti ?? []).some((term) => mayMatch([term], pod)) || (mayMatch(required, other) && mayMatch(required, pod));
}

/** A node that is deleted, or whose topology labels change, takes its pods along. */
const nodeHint = ({ before, after }: ObjectChange<Node>): boolean => !semanticallyEqual(before?.metadata.labels, after?.metadata.labels);
