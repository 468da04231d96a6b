import type { ObjectReference, Pod, Taint, Toleration } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { tolerationsFor } from '../../../api/taints.ts';
import { conditionOf, disruption, withCondition } from '../../pods/conditions.ts';
import { updateStatus } from '../../../client/decision.ts';
import type { TaintEvictionAction, TaintEvictionDecision, PlannedEviction } from './actions.ts';

/** A pod and the NoExecute taints of its node. */
export interface TaintEvictionSnapshot {
  /** 'namespace/name' */
  readonly key: string;
  /** Undefined: it was deleted, and an eviction was planned. */
  readonly pod: Stored<Pod> | undefined;
  /** The NoExecute taints of its node. Undefined: the node does not exist. */
  readonly taints: readonly Taint[] | undefined;
  /** The eviction that was planned before. */
  readonly plan: PlannedEviction | undefined;
  /** The eviction event was recorded. */
  readonly isRecorded: boolean;
}

const evicted = disruption('DeletionByTaintManager', 'Taint manager: deleting due to NoExecute taint');

/** Evicts pods; other effects only keep new ones away. */
export const isNoExecute = ({ effect }: Taint): boolean => effect === 'NoExecute';

/**
 * A pod that does not tolerate the taints of its node is evicted: at once, or after the shortest tolerationSeconds. Once planned, the
 * time does not change until every taint is removed or tolerated without limit.
 */
export function decideEviction(snapshot: TaintEvictionSnapshot, now: number): TaintEvictionDecision {
  const { pod, taints } = snapshot;
  const plan = pod !== undefined && snapshot.plan?.uid === pod.metadata.uid ? snapshot.plan : undefined;
  // A plan for an earlier pod of this name is dropped.
  const dropped = snapshot.plan !== undefined && plan === undefined ? cancel(snapshot) : [];
  if (pod === undefined) return { actions: dropped, reasons: [{ code: 'PodGone', text: 'the pod is gone' }] };
  if (isEvicted(pod)) return { actions: dropped, reasons: [{ code: 'Evicted', text: 'the pod is being deleted' }] };

  const toleration = verdictOn(pod, taints, plan);
  switch (toleration.type) {
    case 'stays':
      return { actions: [...dropped, ...(plan === undefined ? [] : cancel(snapshot))], reasons: [toleration.reason] };
    case 'goes':
      return { actions: [...dropped, ...(plan === undefined ? [] : cancel(snapshot)), ...evict(snapshot, pod, now)], reasons: [toleration.reason] };
    case 'goesLater': {
      const next = plan ?? { uid: pod.metadata.uid, at: now + toleration.afterMs };
      if (next.at <= now) return { actions: [...dropped, ...evict(snapshot, pod, now), { do: 'forgetPlan' }], reasons: [toleration.reason] };
      return { actions: [...dropped, ...(plan === undefined ? [{ do: 'plan', plan: next } as const] : [])], reasons: [toleration.reason], again: next.at };
    }
  }
}

type Verdict = { readonly reason: TaintEvictionDecision['reasons'][number] } & (
  | { readonly type: 'stays' | 'goes' }
  | { readonly type: 'goesLater'; readonly afterMs: number }
);

function verdictOn({ spec }: Pod, taints: readonly Taint[] | undefined, plan: PlannedEviction | undefined): Verdict {
  if (taints === undefined) {
    const reason = { code: 'NodeGone', text: 'its node does not exist: a planned eviction stays planned' };
    return plan === undefined ? { type: 'stays', reason } : { type: 'goesLater', afterMs: 0, reason };
  }
  if (taints.length === 0) return { type: 'stays', reason: { code: 'NotTainted', text: 'its node has no NoExecute taint' } };
  const used = tolerationsFor(taints, spec.tolerations ?? []);
  if (used === undefined) {
    const keys = taints.filter((taint) => tolerationsFor([taint], spec.tolerations ?? []) === undefined).map(({ key }) => key);
    return { type: 'goes', reason: { code: 'NotTolerated', text: `the pod does not tolerate ${keys.join(', ')}` } };
  }
  const seconds = shortest(used);
  if (seconds === undefined) return { type: 'stays', reason: { code: 'Tolerated', text: 'the pod tolerates the taints of its node' } };
  return { type: 'goesLater', afterMs: seconds * 1000, reason: { code: 'ToleratedForNow', text: `the pod tolerates the taints of its node for ${seconds} s` } };
}

/** Undefined: without limit. */
function shortest(tolerations: readonly Toleration[]): number | undefined {
  const limits = tolerations.flatMap(({ tolerationSeconds }) => (tolerationSeconds === undefined ? [] : [Math.max(0, tolerationSeconds)]));
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/** The eviction is done: the kubelet and the finalizers do the rest. */
function isEvicted(pod: Pod): boolean {
  const condition = conditionOf(pod, evicted.type);
  return pod.metadata.deletionTimestamp !== undefined && condition?.status === 'True' && condition.reason === evicted.reason;
}

function evict({ key, isRecorded }: TaintEvictionSnapshot, pod: Stored<Pod>, now: number): readonly TaintEvictionAction[] {
  const marked = withCondition(pod, evicted, now);
  return [
    ...(isRecorded ? [] : [eventAction(key, `Marking for deletion Pod ${key}`, pod.metadata.uid)]),
    ...updateStatus(pod, marked),
    ...(pod.metadata.deletionTimestamp === undefined ? [{ do: 'delete', object: pod } as const] : []),
  ];
}

const cancel = ({ key }: TaintEvictionSnapshot): readonly TaintEvictionAction[] => [
  { do: 'forgetPlan' },
  eventAction(key, `Cancelling deletion of Pod ${key}`),
];

function eventAction(key: string, message: string, rememberAs?: string): TaintEvictionAction {
  return {
    do: 'recordEvent',
    event: { about: referenceTo(key), type: 'Normal', reason: 'TaintManagerEviction', message },
    ...(rememberAs === undefined ? {} : { rememberAs }),
  };
}

/** Without uid, as in Kubernetes: the pod may not exist any more. */
function referenceTo(key: string): ObjectReference {
  const slash = key.indexOf('/');
  return { kind: 'Pod', namespace: key.slice(0, slash), name: key.slice(slash + 1), apiVersion: 'v1' };
}
