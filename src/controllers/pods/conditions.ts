/** Reads and writes pod conditions. */
import type { Pod, PodCondition } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { timestamp } from '../../api/kinds/timestamps.ts';

export type NewCondition = Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>;

export const conditionOf = ({ status }: Pod, type: string): PodCondition | undefined => status.conditions?.find((condition) => condition.type === type);

/**
 * The pod with this condition; the same object if nothing changes. lastTransitionTime is `now` only if the status changes.
 * `now`: milliseconds since 1970.
 */
export function withCondition(pod: Stored<Pod>, condition: NewCondition, now: number): Stored<Pod> {
  const old = conditionOf(pod, condition.type);
  if (old !== undefined && old.status === condition.status && old.reason === condition.reason && old.message === condition.message) return pod;
  const { generation } = pod.metadata;
  const next: PodCondition = {
    ...condition,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    lastProbeTime: null,
    lastTransitionTime: old?.status === condition.status ? old.lastTransitionTime : timestamp(now),
  };
  const conditions = pod.status.conditions ?? [];
  return {
    ...pod,
    status: { ...pod.status, conditions: old === undefined ? [...conditions, next] : conditions.map((other) => (other === old ? next : other)) },
  };
}

/** The DisruptionTarget condition: the pod is terminated on purpose. */
export const disruption = (reason: string, message: string): NewCondition => ({ type: 'DisruptionTarget', status: 'True', reason, message });
