import type { Deployment, Pod, ReplicaSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { deploymentKind } from '../../../api/kinds/apps/deployment.ts';
import { sortByOwner, ownershipActions } from '../../pods/ownership.ts';
import { selects } from '../../pods/selector.ts';
import { isPodTerminal } from '../../pods/state.ts';
import { controllerReference } from '../../pods/template.ts';
import { type DeploymentAction, type DeploymentDecision, decided } from './actions.ts';
import { revisionOf } from './annotations.ts';
import { conditionOf, progressing, withCondition } from './conditions.ts';
import { active, allOf, byAge, type ReplicaSets, replicaSetsOf, replicasOf, sum } from './replica-sets.ts';
import { createCurrent, syncRevision } from './revision.ts';
import { rollBack, rollbackRevision } from './rollback.ts';
import { isScaling, scale, scaleAll, shrinkOld, sizeOfNew } from './scaling.ts';
import { hasDeadline, isComplete, statusOf, syncRolloutStatus, updateStatus } from './status.ts';

export interface DeploymentSnapshot {
  readonly deployment: Stored<Deployment>;
  /** The ReplicaSets that it controls, and those in its namespace without controller. */
  readonly candidates: readonly Stored<ReplicaSet>[];
  /** Any ReplicaSet of this name in its namespace. */
  readonly named: (name: string) => Stored<ReplicaSet> | undefined;
  readonly podsOf: (set: Stored<ReplicaSet>) => readonly Pod[];
}

interface Rollout extends DeploymentSnapshot {
  readonly replicaSets: ReplicaSets;
  readonly now: number;
}

/**
 * One step towards the Deployment's template, in the order of syncDeployment (pkg/controller/deployment/deployment_controller.go):
 * ownership, pause, rollback, revision, scaling, and then the strategy. Each step is a pass of its own; its writes enqueue the
 * next. A step that changes a ReplicaSet does not write the status: the change of the ReplicaSet will.
 */
export function decideRollout(snapshot: DeploymentSnapshot, now: number): DeploymentDecision {
  const { deployment, candidates } = snapshot;
  const { owned, ...claims } = sortByOwner(deployment, candidates, ({ metadata }) => selects(deployment.spec.selector, metadata.labels));
  const claiming = ownershipActions(controllerReference(deployment, deploymentKind), deployment, claims);
  if (claiming.length > 0) return decided('SetsClaimed', 'replica sets begin or cease to match its selector', claiming);
  const replicaSets = replicaSetsOf(deployment, owned);
  const rollout: Rollout = { ...snapshot, replicaSets, now };
  if (deployment.metadata.deletionTimestamp !== undefined)
    return syncRevision(deployment, replicaSets, now) ?? syncDeploymentStatus('Deleting', 'it is being deleted', rollout);
  return syncPause(deployment, now) ?? syncRevision(deployment, replicaSets, now) ?? decideSizes(rollout);
}

/** progressDeadlineSeconds does not run while the Deployment is paused, and starts again when it is resumed. */
function syncPause(deployment: Stored<Deployment>, now: number): DeploymentDecision | undefined {
  const { paused = false } = deployment.spec;
  const reason = conditionOf(deployment.status, 'Progressing')?.reason;
  const isNoted = reason === 'DeploymentPaused';
  if (!hasDeadline(deployment) || reason === 'ProgressDeadlineExceeded' || paused === isNoted) return undefined;
  const condition = paused
    ? progressing('Unknown', 'DeploymentPaused', 'Deployment is paused', now)
    : progressing('Unknown', 'DeploymentResumed', 'Deployment is resumed', now);
  const object = { ...deployment, status: withCondition(deployment.status, condition) };
  return decided(condition.reason ?? '', condition.message ?? '', [{ do: 'updateStatus', object, from: deployment }]);
}

function decideSizes(rollout: Rollout): DeploymentDecision {
  const { deployment, replicaSets } = rollout;
  const toRevision = rollbackRevision(deployment);
  if (deployment.spec.paused === true) {
    const cleaning = toRevision === undefined ? cleanUp(rollout) : [];
    return resize('Paused', 'it is paused', rollout, cleaning);
  }
  if (toRevision !== undefined) return replicaSets.current === undefined ? createCurrent(rollout) : rollBack(deployment, allOf(replicaSets), toRevision);
  if (isScaling(deployment, replicaSets)) return resize('Scaling', 'it changes its size', rollout);
  return deployment.spec.strategy.type === 'Recreate' ? recreate(rollout) : roll(rollout);
}

function resize(code: string, text: string, rollout: Rollout, afterwards: readonly DeploymentAction[] = []): DeploymentDecision {
  const scaling = scaleAll(rollout.deployment, rollout.replicaSets);
  const actions = scaling.length > 0 ? scaling : afterwards;
  return actions.length > 0 ? decided(code, text, actions) : syncDeploymentStatus(code, text, rollout);
}

const syncDeploymentStatus = (code: string, text: string, { deployment, replicaSets, now }: Rollout): DeploymentDecision =>
  decided(code, text, updateStatus(deployment, statusOf(deployment, replicaSets, now)));

/** RollingUpdate: new pods within maxSurge first, then old pods are removed within maxUnavailable. */
function roll(rollout: Rollout): DeploymentDecision {
  const { deployment, replicaSets } = rollout;
  const { current, old } = replicaSets;
  if (current === undefined) return createCurrent(rollout);
  const growing = scale(deployment, current, sizeOfNew(deployment, replicaSets)).actions;
  if (growing.length > 0) return decided('ScalesNew', 'maxSurge allows pods of the current template', growing);
  const shrinking = shrinkOld(deployment, { current, old });
  if (shrinking.length > 0) return decided('ScalesOld', 'maxUnavailable allows fewer old pods', shrinking);
  return finish(rollout);
}

/** Recreate: all old pods end before the first new one is created. */
function recreate(rollout: Rollout): DeploymentDecision {
  const { deployment, replicaSets } = rollout;
  const shrinking = active(replicaSets.old).flatMap((set) => scale(deployment, set, 0).actions);
  if (shrinking.length > 0) return decided('ScalesOld', 'old pods go first', shrinking);
  if (oldPodsRun(rollout)) return syncRolloutStatus(deployment, replicaSets, rollout.now);
  if (replicaSets.current === undefined) return createCurrent(rollout);
  const growing = scale(deployment, replicaSets.current, replicasOf(deployment)).actions;
  if (growing.length > 0) return decided('ScalesNew', 'no old pod is left', growing);
  return finish(rollout);
}

/** Includes terminating pods: two versions must not run at the same time. */
const oldPodsRun = ({ replicaSets: { old }, podsOf }: Rollout): boolean =>
  sum(old, ({ status }) => status.replicas) > 0 || old.some((set) => podsOf(set).some((pod) => !isPodTerminal(pod)));

function finish(rollout: Rollout): DeploymentDecision {
  const { deployment, replicaSets, now } = rollout;
  const cleaning = isComplete(deployment, deployment.status) ? cleanUp(rollout) : [];
  return cleaning.length > 0
    ? decided('CleansUp', 'more old replica sets are left than its history is long', cleaning)
    : syncRolloutStatus(deployment, replicaSets, now);
}

/** Deletes the oldest ReplicaSets beyond revisionHistoryLimit, unless they have pods or their status is behind. */
function cleanUp({ deployment, replicaSets }: Rollout): readonly DeploymentAction[] {
  const { revisionHistoryLimit: limit } = deployment.spec;
  if (limit === undefined) return [];
  const cleanable = replicaSets.old.filter(({ metadata }) => metadata.deletionTimestamp === undefined).toSorted(byRevision);
  return cleanable
    .slice(0, Math.max(0, cleanable.length - limit))
    .filter((set) => replicasOf(set) === 0 && set.status.replicas === 0 && (set.metadata.generation ?? 0) <= (set.status.observedGeneration ?? 0))
    .map((object) => ({ do: 'delete', object }));
}

function byRevision(a: Stored<ReplicaSet>, b: Stored<ReplicaSet>): number {
  const [revision, other] = [revisionOf(a), revisionOf(b)];
  return revision === undefined || other === undefined || revision === other ? byAge(a, b) : revision < other ? -1 : 1;
}
