import type { ReplicaSet, ReplicaSetCondition, ReplicaSetStatus } from '../../../api/generated/types.ts';
import { timestamp } from '../../../api/kinds/timestamps.ts';
import { sortedJson } from '../../../api/sorted-json.ts';
import type { OwnedPods } from './pods-view.ts';

const replicaFailure = 'ReplicaFailure';

/** The status with its current ReplicaFailure condition. */
export function statusOf({ kind, metadata, status }: ReplicaSet, pods: OwnedPods, now: number): ReplicaSetStatus {
  const conditions = status.conditions ?? [];
  return withoutZeros({
    replicas: pods.active,
    fullyLabeledReplicas: pods.fullyLabeled,
    readyReplicas: pods.ready,
    availableReplicas: pods.available(now),
    // A ReplicationController does not show them.
    ...(kind === 'ReplicationController' ? {} : { terminatingReplicas: pods.terminating }),
    observedGeneration: metadata.generation ?? 0,
    ...(conditions.length === 0 ? {} : { conditions }),
  });
}

/** As Go serializes it: `replicas` and `terminatingReplicas` are written even if they are 0. */
function withoutZeros({
  fullyLabeledReplicas,
  readyReplicas,
  availableReplicas,
  observedGeneration,
  ...status
}: Required<Omit<ReplicaSetStatus, 'conditions' | 'terminatingReplicas'>> & Pick<ReplicaSetStatus, 'terminatingReplicas'>): ReplicaSetStatus {
  return {
    ...status,
    ...(fullyLabeledReplicas === 0 ? {} : { fullyLabeledReplicas }),
    ...(readyReplicas === 0 ? {} : { readyReplicas }),
    ...(availableReplicas === 0 ? {} : { availableReplicas }),
    ...(observedGeneration === 0 ? {} : { observedGeneration }),
  };
}

export type FailureReason = 'FailedCreate' | 'FailedDelete';

/** The first failure stays until there is none. */
export function withFailure(status: ReplicaSetStatus, reason: FailureReason, message: string, now: number): ReplicaSetStatus {
  const conditions = status.conditions ?? [];
  if (conditions.some(({ type }) => type === replicaFailure)) return status;
  const condition: ReplicaSetCondition = { type: replicaFailure, status: 'True', lastTransitionTime: timestamp(now), reason, message };
  return { ...status, conditions: [...conditions, condition] };
}

export function withoutFailure({ conditions = [], ...status }: ReplicaSetStatus): ReplicaSetStatus {
  const others = conditions.filter(({ type }) => type !== replicaFailure);
  return others.length === 0 ? status : { ...status, conditions: others };
}

export const isSameStatus = (a: ReplicaSetStatus, b: ReplicaSetStatus): boolean => sortedJson(a) === sortedJson(b);
