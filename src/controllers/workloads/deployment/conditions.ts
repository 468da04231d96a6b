import type { DeploymentCondition, DeploymentStatus } from '../../../api/generated/types.ts';
import { timestamp } from '../../../api/kinds/timestamps.ts';

type ConditionType = 'Available' | 'Progressing' | 'ReplicaFailure';
type ConditionStatus = 'True' | 'False' | 'Unknown';

/** Reasons of the Progressing condition. */
export type ProgressReason =
  | 'ReplicaSetUpdated'
  | 'ReplicaSetCreateError'
  | 'NewReplicaSetCreated'
  | 'FoundNewReplicaSet'
  | 'NewReplicaSetAvailable'
  | 'ProgressDeadlineExceeded'
  | 'DeploymentPaused'
  | 'DeploymentResumed';

export const conditionOf = ({ conditions = [] }: DeploymentStatus, type: ConditionType): DeploymentCondition | undefined =>
  conditions.find((condition) => condition.type === type);

/** A condition with the same status and reason is not changed; one with the same status keeps lastTransitionTime. */
export function withCondition(status: DeploymentStatus, condition: DeploymentCondition): DeploymentStatus {
  const conditions = status.conditions ?? [];
  const present = conditions.find(({ type }) => type === condition.type);
  if (present?.status === condition.status && present.reason === condition.reason) return status;
  const lastTransitionTime = present?.status === condition.status ? present.lastTransitionTime : condition.lastTransitionTime;
  return { ...status, conditions: [...conditions.filter((other) => other !== present), { ...condition, lastTransitionTime }] };
}

export function withoutCondition({ conditions = [], ...status }: DeploymentStatus, type: ConditionType): DeploymentStatus {
  const others = conditions.filter((condition) => condition.type !== type);
  return others.length === 0 ? status : { ...status, conditions: others };
}

export const progressing = (status: ConditionStatus, reason: ProgressReason, message: string, now: number): DeploymentCondition => ({
  type: 'Progressing',
  status,
  lastUpdateTime: timestamp(now),
  lastTransitionTime: timestamp(now),
  reason,
  message,
});

export const availability = (isAvailable: boolean, now: number): DeploymentCondition => ({
  type: 'Available',
  status: isAvailable ? 'True' : 'False',
  lastUpdateTime: timestamp(now),
  lastTransitionTime: timestamp(now),
  reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
  message: isAvailable ? 'Deployment has minimum availability.' : 'Deployment does not have minimum availability.',
});
