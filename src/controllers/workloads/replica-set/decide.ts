import type { Pod, ReplicaSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { updateStatus } from '../../../client/decision.ts';
import { inDeletionOrder } from '../../pods/deletion-order.ts';
import { sortByOwner, ownershipActions } from '../../pods/ownership.ts';
import { selects } from '../../pods/selector.ts';
import { isPodActive } from '../../pods/state.ts';
import { controllerReference } from '../../pods/template.ts';
import type { ReplicaSetDecision } from './actions.ts';
import type { OwnedPods } from './pods-view.ts';
import { isSameStatus, statusOf, withFailure, withoutFailure } from './status.ts';
import { kindOf } from './variants.ts';

export interface ReplicaSetSnapshot {
  readonly set: Stored<ReplicaSet>;
  /** The pods that it controls. */
  readonly pods: OwnedPods;
  /** Pods of its namespace without controller. */
  readonly orphans: readonly Stored<Pod>[];
  /** The pods of all ReplicaSets of the same Deployment, its own included; empty if it has no owner. */
  readonly related: () => readonly Stored<Pod>[];
}

/** At most this many pods are created or deleted in one pass; the next pass sees the result. */
const burst = 500;

/**
 * Creates or deletes pods until the number of active ones is spec.replicas. A pass that does so does not write the status: the changes
 * of the pods enqueue the ReplicaSet again.
 */
export function decideReplicas(snapshot: ReplicaSetSnapshot, now: number): ReplicaSetDecision {
  const { set, pods } = snapshot;
  const { toAdopt } = sortByOwner(set, snapshot.orphans.filter(isPodActive), ({ metadata }) => selects(set.spec.selector, metadata.labels));
  const toRelease = set.metadata.deletionTimestamp === undefined ? [...pods.mismatched] : [];
  const claiming = ownershipActions(controllerReference(set, kindOf(set)), set, { toAdopt, toRelease });
  if (claiming.length > 0) return decided('PodsClaimed', 'pods begin or cease to match its selector', ...claiming);
  if (set.metadata.deletionTimestamp !== undefined) return syncStatus(set, pods, now);
  const surplus = pods.active - (set.spec.replicas ?? 0);
  if (surplus < 0) return create(set, pods, { count: Math.min(-surplus, burst), now });
  if (surplus > 0) return remove(snapshot, { count: Math.min(surplus, burst), now });
  return syncStatus(set, pods, now);
}

interface Change {
  readonly count: number;
  readonly now: number;
}

function create(set: Stored<ReplicaSet>, pods: OwnedPods, { count, now }: Change): ReplicaSetDecision {
  const status = statusOf(set, pods, now);
  // A selector that requires the absence of a label may match a template without labels. Such pods could not be found again.
  if (Object.keys(set.spec.template.metadata.labels ?? {}).length === 0) {
    const failed = withFailure(status, 'FailedCreate', 'unable to create pods, no labels', now);
    const actions = isSameStatus(failed, set.status) ? [] : updateStatus(set, { ...set, status: failed });
    return decided('NoLabels', 'pods of its template would have no labels', ...actions);
  }
  return decided('TooFewPods', `it has ${pods.active} pods of ${set.spec.replicas ?? 0}`, { do: 'createPods', set, count, status });
}

function remove({ set, pods, related }: ReplicaSetSnapshot, { count, now }: Change): ReplicaSetDecision {
  const active = pods.activePods();
  const all = count === active.length;
  const toDelete = all ? active : inDeletionOrder(active, { rank: neighboursOnNode(related()), now }).slice(0, count);
  return decided('TooManyPods', `it has ${active.length} pods of ${set.spec.replicas ?? 0}`, {
    do: 'deletePods',
    set,
    pods: toDelete,
    status: statusOf(set, pods, now),
  });
}

/** How many of the related pods are on a pod's node, itself included. */
function neighboursOnNode(related: readonly Stored<Pod>[]): (pod: Stored<Pod>) => number {
  const counts = new Map<string, number>();
  for (const { spec } of related.filter(isPodActive)) counts.set(spec.nodeName ?? '', (counts.get(spec.nodeName ?? '') ?? 0) + 1);
  return ({ spec }) => counts.get(spec.nodeName ?? '') ?? 0;
}

/** The number of pods is right: the status loses its ReplicaFailure condition. */
function syncStatus(set: Stored<ReplicaSet>, pods: OwnedPods, now: number): ReplicaSetDecision {
  const status = withoutFailure(statusOf(set, pods, now));
  const again = pods.nextAvailability(now);
  const actions = isSameStatus(status, set.status) ? [] : updateStatus(set, { ...set, status });
  return { ...decided('Settled', `it has its ${pods.active} pods`, ...actions), ...(again === undefined ? {} : { again }) };
}

const decided = (code: string, text: string, ...actions: ReplicaSetDecision['actions']): ReplicaSetDecision => ({ actions, reasons: [{ code, text }] });
