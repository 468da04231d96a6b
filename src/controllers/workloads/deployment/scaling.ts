/** Sizes of ReplicaSets. */
import type { Deployment, ReplicaSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { recordOnce } from '../../../client/decision.ts';
import type { DeploymentAction } from './actions.ts';
import { desiredSizeOf, hasSizeAnnotations, mostSizeOf, sizeAnnotations } from './annotations.ts';
import { active, allOf, byAge, type ReplicaSets, replicasOf, sum } from './replica-sets.ts';
import { isRolling, surgeOf, unavailableOf } from './limits.ts';

export interface Scaled {
  /** The ReplicaSet after the action. */
  readonly set: Stored<ReplicaSet>;
  readonly actions: readonly DeploymentAction[];
}

/** No action if it has that size already. */
export const scale = (deployment: Stored<Deployment>, set: Stored<ReplicaSet>, to: number): Scaled =>
  replicasOf(set) === to ? { set, actions: [] } : resize(deployment, set, to);

function resize(deployment: Stored<Deployment>, set: Stored<ReplicaSet>, to: number): Scaled {
  const annotations = { ...set.metadata.annotations, ...sizeAnnotations(deployment) };
  const scaled: Stored<ReplicaSet> = { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, replicas: to } };
  const from = replicasOf(set);
  const update: DeploymentAction = { do: 'update', object: scaled, from: set };
  return { set: scaled, actions: from === to ? [update] : [update, scaledEvent(deployment, set.metadata.name, { from, to })] };
}

export const scaledEvent = (about: Stored<Deployment>, name: string, { from, to }: { readonly from: number; readonly to: number }): DeploymentAction =>
  recordOnce({
    about,
    type: 'Normal',
    reason: 'ScalingReplicaSet',
    message: `Scaled ${from < to ? 'up' : 'down'} replica set ${name} from ${from} to ${to}`,
  });

/** The Deployment was scaled since its ReplicaSets got their sizes. */
export const isScaling = (deployment: Deployment, replicaSets: ReplicaSets): boolean =>
  active(allOf(replicaSets)).some((set) => (desiredSizeOf(set) ?? replicasOf(deployment)) !== replicasOf(deployment));

/** Scaling does not roll out: every ReplicaSet keeps its share. */
export function scaleAll(deployment: Stored<Deployment>, replicaSets: ReplicaSets): readonly DeploymentAction[] {
  const only = onlyActiveOrLatest(replicaSets);
  if (only !== undefined) return scale(deployment, only, replicasOf(deployment)).actions;
  if (isSaturated(deployment, replicaSets.current)) return active(replicaSets.old).flatMap((set) => scale(deployment, set, 0).actions);
  return isRolling(deployment) ? scaleInProportion(deployment, active(allOf(replicaSets))) : [];
}

/** Undefined: several have replicas, or there is none at all. */
function onlyActiveOrLatest({ current, old }: ReplicaSets): Stored<ReplicaSet> | undefined {
  const [first, second] = active(allOf({ current, old }));
  if (first === undefined) return current ?? old.at(-1);
  return second === undefined ? first : undefined;
}

/** All replicas are of the current template and available. */
function isSaturated(deployment: Deployment, set: ReplicaSet | undefined): boolean {
  const wanted = replicasOf(deployment);
  return set !== undefined && replicasOf(set) === wanted && desiredSizeOf(set) === wanted && (set.status.availableReplicas ?? 0) === wanted;
}

/** The largest first, which also gets the rounding remainder; of equal ones the newer grows first, and the older shrinks first. */
function scaleInProportion(deployment: Stored<Deployment>, sets: readonly Stored<ReplicaSet>[]): readonly DeploymentAction[] {
  const wanted = replicasOf(deployment);
  const toAdd = (wanted > 0 ? wanted + surgeOf(deployment) : 0) - sum(sets, replicasOf);
  const ordered = sets.toSorted((a, b) => replicasOf(b) - replicasOf(a) || (toAdd > 0 ? byAge(b, a) : byAge(a, b)));
  let added = 0;
  const shares = ordered.map((set) => {
    const share = toAdd === 0 ? 0 : shareOf(set, deployment, toAdd - added);
    added += share;
    return share;
  });
  return ordered.flatMap((set, i) => {
    const to = replicasOf(set) + (shares[i] ?? 0) + (i === 0 ? toAdd - added : 0);
    const size = Math.max(0, to);
    return replicasOf(set) === size && hasSizeAnnotations(set, deployment) ? [] : resize(deployment, set, size).actions;
  });
}

/** By how much a ReplicaSet grows or shrinks: its share, within what is left. */
function shareOf(set: ReplicaSet, deployment: Deployment, left: number): number {
  const part = partOf(set, deployment);
  return left > 0 ? Math.min(part, left) : left < 0 ? Math.max(part, left) : 0;
}

function partOf(set: ReplicaSet, deployment: Deployment): number {
  const size = replicasOf(set);
  if (replicasOf(deployment) === 0) return -size;
  // A user may have removed the annotation: then the share is estimated.
  const before = mostSizeOf(set) || (deployment.status.replicas ?? 0);
  if (before === 0) return 0;
  return Math.round((size * (replicasOf(deployment) + surgeOf(deployment))) / before) - size;
}

/** The size of the current ReplicaSet in a rollout. */
export function sizeOfNew(deployment: Deployment, { old, current }: ReplicaSets): number {
  const wanted = replicasOf(deployment);
  const present = current === undefined ? 0 : replicasOf(current);
  if (!isRolling(deployment) || present > wanted) return wanted;
  const room = wanted + surgeOf(deployment) - sum(old, replicasOf) - present;
  return room <= 0 ? present : present + Math.min(room, wanted - present);
}

/**
 * Scales old ReplicaSets down within maxUnavailable. Unavailable pods go first: they would block the rollout, and their removal
 * does not reduce availability. Pods of the current ReplicaSet that are not available yet count as unavailable.
 */
export function shrinkOld(
  deployment: Stored<Deployment>,
  { current, old }: ReplicaSets & { readonly current: Stored<ReplicaSet> },
): readonly DeploymentAction[] {
  const shrinking = active(old);
  if (shrinking.length === 0) return [];
  const least = replicasOf(deployment) - unavailableOf(deployment);
  const comingUp = replicasOf(current) - (current.status.availableReplicas ?? 0);
  const mayGo = sum([...old, current], replicasOf) - least - comingUp;
  if (mayGo <= 0) return [];
  const unhealthy = removeUnavailable(deployment, shrinking, mayGo);
  if (unhealthy.type === 'unclear') return unhealthy.actions;
  const available = sum([...shrinking, current], ({ status }) => status.availableReplicas);
  return [...unhealthy.actions, ...removeAvailable(deployment, unhealthy.sets, available - least)];
}

/** `unclear`: a ReplicaSet has more available pods than replicas. Its last scaling has not taken effect yet, so nothing may be removed. */
type Removed =
  | { readonly type: 'done'; readonly sets: readonly Stored<ReplicaSet>[]; readonly actions: readonly DeploymentAction[] }
  | { readonly type: 'unclear'; readonly actions: readonly DeploymentAction[] };

function removeUnavailable(deployment: Stored<Deployment>, sets: readonly Stored<ReplicaSet>[], atMost: number): Removed {
  const scaled: Scaled[] = [];
  let left = atMost;
  for (const set of sets) {
    const by = left === 0 ? 0 : Math.min(left, replicasOf(set) - (set.status.availableReplicas ?? 0));
    if (by < 0) return { type: 'unclear', actions: scaled.flatMap(({ actions }) => actions) };
    left -= by;
    scaled.push(scale(deployment, set, replicasOf(set) - by));
  }
  return { type: 'done', sets: scaled.map(({ set }) => set), actions: scaled.flatMap(({ actions }) => actions) };
}

function removeAvailable(deployment: Stored<Deployment>, sets: readonly Stored<ReplicaSet>[], atMost: number): readonly DeploymentAction[] {
  let left = Math.max(0, atMost);
  return sets.flatMap((set) => {
    const by = Math.min(left, replicasOf(set));
    left -= by;
    return scale(deployment, set, replicasOf(set) - by).actions;
  });
}
