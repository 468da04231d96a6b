import type { ObjectReference, Pod, Taint, Toleration } from '../../../api/generated/types.ts';
import { tolerationsFor } from '../../../api/taints.ts';
import { conditionOf, disruption, withCondition } from '../../pods/conditions.ts';
import type { TaintEvictionAction, TaintEvictionDecision, PlannedEviction } from './actions.ts';

/** A pod and what its node holds against it. */
export interface TaintEvictionSnapshot {
  /** 'namespace/name' */
  readonly key: string;
  /** Undefined: it is gone, and there was a plan for it. */
  readonly pod: Pod | undefined;
  /** Those of its node that drive pods out. Undefined: the node is gone, and nobody knows. */
  readonly taints: readonly Taint[] | undefined;
  /** When it was to go, as decided before. */
  readonly plan: PlannedEviction | undefined;
  /** It was told that it goes. */
  readonly isRecorded: boolean;
}

const evicted = disruption('DeletionByTaintManager', 'Taint manager: deleting due to NoExecute taint');

/** Drives pods out; other effects only keep new ones away. */
export const isNoExecute = ({ effect }: Taint): boolean => effect === 'NoExecute';

/**
 * A pod leaves a node whose taints it does not tolerate: at once, or when the shortest time is up for which it tolerates them. Once
 * that time runs it is not set anew, whatever else changes, until every taint is gone or is tolerated for ever.
 */
export function decideEviction(snapshot: TaintEvictionSnapshot, now: number): TaintEvictionDecision {
  const { pod, taints } = snapshot;
  const plan = pod !== undefined && snapshot.plan?.uid === pod.metadata.uid ? snapshot.plan : undefined;
  // What was planned for an earlier pod of this name is off, whatever becomes of this one.
  const dropped = snapshot.plan !== undefined && plan === undefined ? cancel(snapshot) : [];
  if (pod === undefined) return { actions: dropped, reasons: [{ code: 'PodGone', text: 'the pod is gone' }] };
  if (isEvicted(pod)) return { actions: dropped, reasons: [{ code: 'Evicted', text: 'the pod is leaving its node' }] };

  const verdict = verdictOn(pod, taints, plan);
  switch (verdict.type) {
    case 'stays':
      return { actions: [...dropped, ...(plan === undefined ? [] : cancel(snapshot))], reasons: [verdict.reason] };
    case 'goes':
      return { actions: [...dropped, ...(plan === undefined ? [] : cancel(snapshot)), ...evict(snapshot, pod, now)], reasons: [verdict.reason] };
    case 'goesLater': {
      const next = plan ?? { uid: pod.metadata.uid ?? '', at: now + verdict.afterMs };
      if (next.at <= now) return { actions: [...dropped, ...evict(snapshot, pod, now), { do: 'forget-plan' }], reasons: [verdict.reason] };
      return { actions: [...dropped, ...(plan === undefined ? [{ do: 'plan', plan: next } as const] : [])], reasons: [verdict.reason], again: next.at };
    }
  }
}

type Verdict = { readonly reason: TaintEvictionDecision['reasons'][number] } & (
  | { readonly type: 'stays' | 'goes' }
  | { readonly type: 'goesLater'; readonly afterMs: number }
);

function verdictOn({ spec }: Pod, taints: readonly Taint[] | undefined, plan: PlannedEviction | undefined): Verdict {
  if (taints === undefined) {
    const reason = { code: 'NodeGone', text: 'its node is gone: what was planned stays planned' };
    return plan === undefined ? { type: 'stays', reason } : { type: 'goesLater', afterMs: 0, reason };
  }
  if (taints.length === 0) return { type: 'stays', reason: { code: 'NotTainted', text: 'no taint of its node drives pods out' } };
  const used = tolerationsFor(taints, spec.tolerations ?? []);
  if (used === undefined) {
    const keys = taints.filter((taint) => tolerationsFor([taint], spec.tolerations ?? []) === undefined).map(({ key }) => key);
    return { type: 'goes', reason: { code: 'NotTolerated', text: `the pod does not tolerate ${keys.join(', ')}` } };
  }
  const seconds = shortest(used);
  if (seconds === undefined) return { type: 'stays', reason: { code: 'Tolerated', text: 'the pod tolerates the taints of its node for ever' } };
  return { type: 'goesLater', afterMs: seconds * 1000, reason: { code: 'ToleratedForNow', text: `the pod tolerates the taints of its node for ${seconds} s` } };
}

/** Undefined: for ever. */
function shortest(tolerations: readonly Toleration[]): number | undefined {
  const limits = tolerations.flatMap(({ tolerationSeconds }) => (tolerationSeconds === undefined ? [] : [Math.max(0, tolerationSeconds)]));
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/** Our work on it is done: its node, or whoever holds its finalizers, does the rest. */
function isEvicted(pod: Pod): boolean {
  const condition = conditionOf(pod, evicted.type);
  return pod.metadata.deletionTimestamp !== undefined && condition?.status === 'True' && condition.reason === evicted.reason;
}

function evict({ key, isRecorded: isTold }: TaintEvictionSnapshot, pod: Pod, now: number): readonly TaintEvictionAction[] {
  const marked = withCondition(pod, evicted, now);
  return [
    ...(isTold ? [] : [eventAction(key, `Marking for deletion Pod ${key}`, pod.metadata.uid)]),
    ...(marked === pod ? [] : [{ do: 'mark', pod: marked } as const]),
    ...(pod.metadata.deletionTimestamp === undefined ? [{ do: 'delete', pod } as const] : []),
  ];
}

const cancel = ({ key }: TaintEvictionSnapshot): readonly TaintEvictionAction[] => [
  { do: 'forget-plan' },
  eventAction(key, `Cancelling deletion of Pod ${key}`),
];

function eventAction(key: string, message: string, rememberAs?: string): TaintEvictionAction {
  return {
    do: 'tell',
    about: referenceTo(key),
    report: { type: 'Normal', reason: 'TaintManagerEviction', message },
    ...(rememberAs === undefined ? {} : { rememberAs }),
  };
}

/** Without uid, as Kubernetes': the pod may be gone by now. */
function referenceTo(key: string): ObjectReference {
  const slash = key.indexOf('/');
  return { kind: 'Pod', namespace: key.slice(0, slash), name: key.slice(slash + 1), apiVersion: 'v1' };
}
