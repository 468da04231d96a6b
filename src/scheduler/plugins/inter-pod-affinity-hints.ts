/** When a pod is worth another look that others kept away, or were too far from. */
import type { Node, Pod } from '../../api/generated/types.ts';
import { semanticallyEqual } from '../../api/validation/equality.ts';
import type { ClusterEvent, ObjectChange, PodInfo } from '../framework.ts';
import { type AffinityTerm, readPod, termMatches } from '../pod-info.ts';

export function interPodAffinityHint(pod: PodInfo, change: ClusterEvent): boolean {
  if (change.resource === 'node') return nodeHint(change);
  return change.resource === 'pod' && podHint(pod, change);
}

/** Namespaces are not looked up: a term with a selector for them counts as matching, and the pod is looked at once too often. */
const mayMatch = (terms: readonly AffinityTerm[], other: PodInfo): boolean =>
  terms.length > 0 && terms.every((term) => term.namespaceSelector.type !== 'nothing' || termMatches(term, other, undefined));

function podHint(pod: PodInfo, { before, after }: ObjectChange<Pod>): boolean {
  if (after?.metadata.uid === pod.uid) return before !== undefined && !semanticallyEqual(before.metadata.labels, after.metadata.labels);
  if (before !== undefined && after !== undefined && semanticallyEqual(before.metadata.labels, after.metadata.labels)) return false;
  return (after !== undefined && arrives(pod, readPod(after))) || (before !== undefined && leaves(pod, readPod(before)));
}

/** It may be the one that the pod wants to be near to. */
const arrives = ({ affinity }: PodInfo, other: PodInfo): boolean => mayMatch(affinity?.required ?? [], other);

/** It may be the one that was in the way; or the last of those that the pod wants to be near to, who is one of them: then it may be the first. */
function leaves(pod: PodInfo, other: PodInfo): boolean {
  const { required = [], requiredAnti = [] } = pod.affinity ?? {};
  if (requiredAnti.some((term) => mayMatch([term], other))) return true;
  return (other.affinity?.requiredAnti ?? []).some((term) => mayMatch([term], pod)) || (mayMatch(required, other) && mayMatch(required, pod));
}

/** Those who are in the way may be on any node. One that moves to another place, or is gone, takes its pods with it. */
const nodeHint = ({ before, after }: ObjectChange<Node>): boolean => !semanticallyEqual(before?.metadata.labels, after?.metadata.labels);
