import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '../../../api/generated/types.ts';
import { sortedJson } from '../../pods/hash.ts';
import { type DeploymentAction, type DeploymentDecision, decided } from './actions.ts';
import { availability, conditionOf, progressing, withCondition, withoutCondition } from './conditions.ts';
import { allOf, type ReplicaSets, replicasOf, sum } from './replica-sets.ts';
import { unavailableOf } from './limits.ts';

/** The largest number means: never. */
const never = 2 ** 31 - 1;

export function hasDeadline({ spec }: Deployment): boolean {
  return spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== never;
}

/** All that was asked for is of the present template and available, and nothing else is left. */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = replicasOf(deployment);
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status;
  return updatedReplicas === wanted && replicas === wanted && availableReplicas === wanted && observedGeneration >= (deployment.metadata.generation ?? 0);
}

/** How the deployment stands, but for its progress. */
export function statusOf(deployment: Deployment, family: ReplicaSets, now: number): DeploymentStatus {
  const sets = allOf(family);
  const available = sum(sets, ({ status }) => status.availableReplicas);
  const { conditions, collisionCount } = deployment.status;
  const terminatingReplicas = terminatingOf(sets);
  const counts = {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: sum(sets, ({ status }) => status.replicas),
    updatedReplicas: family.current?.status.replicas ?? 0,
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

/** Undefined: a set has been looked at by a controller that does not count them. */
function terminatingOf(sets: readonly ReplicaSet[]): number | undefined {
  const seen = sets.filter(({ status }) => (status.observedGeneration ?? 0) > 0 || status.terminatingReplicas !== undefined);
  return seen.some(({ status }) => status.terminatingReplicas === undefined) ? undefined : sum(seen, ({ status }) => status.terminatingReplicas);
}

/** The status, if it is news. */
export function updateStatus(deployment: Deployment, status: DeploymentStatus): readonly DeploymentAction[] {
  if (sortedJson(status) === sortedJson(deployment.status)) return [];
  return [{ do: 'updateStatus', object: { ...deployment, status }, from: deployment }];
}

/** How a rollout goes: what the counts are, whether it progresses, and when to look whether it still does. */
export function syncRolloutStatus(deployment: Deployment, family: ReplicaSets, now: number): DeploymentDecision {
  const status = withFailures(withProgress(deployment, family, now), family);
  const actions = updateStatus(deployment, status);
  const progress = conditionOf(status, 'Progressing');
  const decision = decided(progress?.reason ?? 'NoDeadline', progress?.message ?? 'nobody asked for progress', actions);
  const again = deadlineOf(deployment, progress);
  return again === undefined || isComplete(deployment, status) ? decision : { ...decision, again };
}

function withProgress(deployment: Deployment, family: ReplicaSets, now: number): DeploymentStatus {
  const status = statusOf(deployment, family, now);
  if (!hasDeadline(deployment)) return withoutCondition(status, 'Progressing');
  const present = conditionOf(deployment.status, 'Progressing');
  const isOver = (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && present?.reason === 'NewReplicaSetAvailable';
  if (isOver) return status;
  const who = family.current === undefined ? `Deployment "${deployment.metadata.name ?? ''}"` : `ReplicaSet "${family.current.metadata.name ?? ''}"`;
  if (isComplete(deployment, status)) return withCondition(status, progressing('True', 'NewReplicaSetAvailable', `${who} has successfully progressed.`, now));
  if (hasProgressed(deployment.status, status))
    return withNewProgress(status, progressing('True', 'ReplicaSetUpdated', `${who} is progressing.`, now), present);
  const deadline = deadlineOf(deployment, present);
  if (deadline === undefined || now < deadline) return status;
  return withCondition(status, progressing('False', 'ProgressDeadlineExceeded', `${who} has timed out progressing.`, now));
}

/** Progress starts the deadline anew, even where the condition says nothing else than before. */
function withNewProgress(status: DeploymentStatus, condition: DeploymentCondition, present: DeploymentCondition | undefined): DeploymentStatus {
  const lastTransitionTime = present?.status === 'True' ? present.lastTransitionTime : condition.lastTransitionTime;
  return withCondition(withoutCondition(status, 'Progressing'), { ...condition, lastTransitionTime });
}

/** New pods came up or became ready or available, or old ones went. */
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

/** From this moment on the lack of progress is a failure. Undefined: time will not tell, or has told already. */
function deadlineOf(deployment: Deployment, condition: DeploymentCondition | undefined): number | undefined {
  if (!hasDeadline(deployment) || condition === undefined || condition.lastUpdateTime === null) return undefined;
  if (condition.reason === 'NewReplicaSetAvailable' || condition.reason === 'ProgressDeadlineExceeded') return undefined;
  return Date.parse(condition.lastUpdateTime) + (deployment.spec.progressDeadlineSeconds ?? 0) * 1000 + 1;
}

/** The failure of a set is its deployment's: of the present one, else of the oldest that has one. */
function withFailures(status: DeploymentStatus, { current, old }: ReplicaSets): DeploymentStatus {
  const failures = (current === undefined ? old : [current, ...old]).flatMap((set) =>
    (set.status.conditions ?? []).filter(({ type }) => type === 'ReplicaFailure'),
  );
  const [failure] = failures;
  if (failure === undefined) return withoutCondition(status, 'ReplicaFailure');
  return withCondition(status, { ...failure, lastUpdateTime: failure.lastTransitionTime });
}
