import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { sortedJson } from '../../../api/sorted-json.ts';
import { type DeploymentAction, type DeploymentDecision, decided } from './actions.ts';
import { availability, conditionOf, progressing, withCondition, withoutCondition } from './conditions.ts';
import { allOf, type ReplicaSets, replicasOf, sum } from './replica-sets.ts';
import { unavailableOf } from './limits.ts';

/** progressDeadlineSeconds of this value means: no deadline. */
const never = 2 ** 31 - 1;

export function hasDeadline({ spec }: Deployment): boolean {
  return spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== never;
}

/** All replicas are of the current template and available, and no old pod is left. */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = replicasOf(deployment);
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status;
  return updatedReplicas === wanted && replicas === wanted && availableReplicas === wanted && observedGeneration >= (deployment.metadata.generation ?? 0);
}

/** The status without the Progressing condition. */
export function statusOf(deployment: Deployment, replicaSets: ReplicaSets, now: number): DeploymentStatus {
  const sets = allOf(replicaSets);
  const available = sum(sets, ({ status }) => status.availableReplicas);
  const { conditions, collisionCount } = deployment.status;
  const terminatingReplicas = terminatingOf(sets);
  const counts = {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: sum(sets, ({ status }) => status.replicas),
    updatedReplicas: replicaSets.current?.status.replicas ?? 0,
    readyReplicas: sum(sets, ({ status }) => status.readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sum(sets, replicasOf) - available),
  };
  const status: DeploymentStatus = {
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0)),
    ...(terminatingReplicas === undefined ? {} : { terminatingReplicas }),
    ...(conditions === undefined ? {} : { conditions }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
  };
  return withCondition(status, availability(available >= replicasOf(deployment) - unavailableOf(deployment), now));
}

/** Undefined: a ReplicaSet's status does not have terminatingReplicas. */
function terminatingOf(sets: readonly ReplicaSet[]): number | undefined {
  const observed = sets.filter(({ status }) => (status.observedGeneration ?? 0) > 0 || status.terminatingReplicas !== undefined);
  return observed.some(({ status }) => status.terminatingReplicas === undefined) ? undefined : sum(observed, ({ status }) => status.terminatingReplicas);
}

/** Writes the status if it changes. */
export function updateStatus(deployment: Stored<Deployment>, status: DeploymentStatus): readonly DeploymentAction[] {
  if (sortedJson(status) === sortedJson(deployment.status)) return [];
  return [{ do: 'updateStatus', object: { ...deployment, status }, from: deployment }];
}

/** Writes counts and progress, and decides again when the progress deadline passes. */
export function syncRolloutStatus(deployment: Stored<Deployment>, replicaSets: ReplicaSets, now: number): DeploymentDecision {
  const status = withFailures(withProgress(deployment, replicaSets, now), replicaSets);
  const actions = updateStatus(deployment, status);
  const progress = conditionOf(status, 'Progressing');
  const decision = decided(progress?.reason ?? 'NoDeadline', progress?.message ?? 'it has no progressDeadlineSeconds', actions);
  const again = deadlineOf(deployment, progress);
  return again === undefined || isComplete(deployment, status) ? decision : { ...decision, again };
}

function withProgress(deployment: Stored<Deployment>, replicaSets: ReplicaSets, now: number): DeploymentStatus {
  const status = statusOf(deployment, replicaSets, now);
  if (!hasDeadline(deployment)) return withoutCondition(status, 'Progressing');
  const present = conditionOf(deployment.status, 'Progressing');
  const isOver = (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && present?.reason === 'NewReplicaSetAvailable';
  if (isOver) return status;
  const subject = replicaSets.current === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${replicaSets.current.metadata.name}"`;
  if (isComplete(deployment, status))
    return withCondition(status, progressing('True', 'NewReplicaSetAvailable', `${subject} has successfully progressed.`, now));
  if (hasProgressed(deployment.status, status))
    return withNewProgress(status, progressing('True', 'ReplicaSetUpdated', `${subject} is progressing.`, now), present);
  const deadline = deadlineOf(deployment, present);
  if (deadline === undefined || now < deadline) return status;
  return withCondition(status, progressing('False', 'ProgressDeadlineExceeded', `${subject} has timed out progressing.`, now));
}

/** Progress restarts the deadline, even where the condition does not change otherwise. */
function withNewProgress(status: DeploymentStatus, condition: DeploymentCondition, present: DeploymentCondition | undefined): DeploymentStatus {
  const lastTransitionTime = present?.status === 'True' ? present.lastTransitionTime : condition.lastTransitionTime;
  return withCondition(withoutCondition(status, 'Progressing'), { ...condition, lastTransitionTime });
}

/** New pods were created or became ready or available, or old pods ended. */
function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const grew = (count: (status: DeploymentStatus) => number | undefined) => (count(after) ?? 0) > (count(before) ?? 0);
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas;
  return (
    grew(({ updatedReplicas }) => updatedReplicas) ||
    old(after) < old(before) ||
    grew(({ readyReplicas }) => readyReplicas) ||
    grew(({ availableReplicas }) => availableReplicas)
  );
}

/** When the progress deadline passes. Undefined: there is none, or it has passed. */
function deadlineOf(deployment: Deployment, condition: DeploymentCondition | undefined): number | undefined {
  if (!hasDeadline(deployment) || condition === undefined || condition.lastUpdateTime === null) return undefined;
  if (condition.reason === 'NewReplicaSetAvailable' || condition.reason === 'ProgressDeadlineExceeded') return undefined;
  return Date.parse(condition.lastUpdateTime) + (deployment.spec.progressDeadlineSeconds ?? 0) * 1000 + 1;
}

/** ReplicaFailure is copied from the current ReplicaSet, else from the oldest that has it. */
function withFailures(status: DeploymentStatus, { current, old }: ReplicaSets): DeploymentStatus {
  const failures = (current === undefined ? old : [current, ...old]).flatMap((set) =>
    (set.status.conditions ?? []).filter(({ type }) => type === 'ReplicaFailure'),
  );
  const [failure] = failures;
  if (failure === undefined) return withoutCondition(status, 'ReplicaFailure');
  return withCondition(status, { ...failure, lastUpdateTime: failure.lastTransitionTime });
}
