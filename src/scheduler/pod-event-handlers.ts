import type { Pod } from '../api/generated/types.ts';
import type { BindingCycles } from './binding-cycle.ts';
import type { SchedulerCache } from './scheduler-cache.ts';
import type { ObjectChange } from './framework.ts';
import { nominatedNode, type NominatedPods } from './nominated-pods.ts';
import { type PodInfo, readPod } from './pod-info.ts';
import type { SchedulingQueue } from './scheduling-queue.ts';

export interface PodEventContext {
  readonly cache: SchedulerCache;
  readonly queue: SchedulingQueue;
  readonly nominations: NominatedPods;
  readonly bindingCycles: BindingCycles;
}

/**
 * - `assigned`: has a node, and takes resources of it
 * - `pending`:  has no node, and this scheduler is responsible for it
 * - `ignored`:  has terminated, or another scheduler is responsible for it
 */
type PodState = 'placed' | 'waiting' | 'none';

function stateOf(pod: Pod | undefined): PodState {
  if (pod === undefined || pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed') return 'none';
  if ((pod.spec.nodeName ?? '') !== '') return 'placed';
  return pod.spec.schedulerName === schedulerName ? 'waiting' : 'none';
}

const schedulerName = 'default-scheduler';

/** Routes a pod event to the cache or to the queue, and lets the queue evaluate which pods it may help (eventhandlers.go). */
export function podEventHandler(places: PodEventContext): (change: ObjectChange<Pod>) => void {
  return ({ before, after }) => {
    // A new pod of the same name: the old one was deleted.
    if (before !== undefined && after !== undefined && before.metadata.uid !== after.metadata.uid) {
      handle(places, { before, after: undefined });
      handle(places, { before: undefined, after });
    } else handle(places, { before, after });
  };
}

function handle(places: PodEventContext, { before, after }: ObjectChange<Pod>): void {
  const [was, is] = [stateOf(before), stateOf(after)];
  if (is === 'placed' && after !== undefined) return assignedPodChanged(places, { before: was === 'placed' ? before : undefined, after });
  if (was === 'placed' && before !== undefined) return assignedPodRemoved(places, before);
  if (is === 'waiting' && after !== undefined) return pendingPodChanged(places, { before: was === 'waiting' ? before : undefined, after });
  if (was === 'waiting' && before !== undefined) pendingPodRemoved(places, before);
}

function assignedPodChanged(
  { cache: cluster, queue, nominations }: PodEventContext,
  { before, after }: { readonly before: Pod | undefined; readonly after: Pod },
): void {
  const uid = after.metadata.uid ?? '';
  cluster.setPod(reread(cluster.pod(uid), after));
  if (before === undefined) {
    queue.delete(uid);
    nominations.delete(uid);
  }
  queue.changed({ resource: 'pod', before, after });
}

/** Most updates of an assigned pod are status reports of its containers, which do not concern the scheduler. */
function reread(known: PodInfo | undefined, pod: Pod): PodInfo {
  const isUnchanged =
    known !== undefined &&
    known.pod.metadata.generation === pod.metadata.generation &&
    sameLabels(known.labels, pod.metadata.labels) &&
    !(pod.status.containerStatuses ?? []).some(({ resources }) => resources !== undefined);
  return isUnchanged ? { ...known, pod, nodeName: pod.spec.nodeName ?? '' } : readPod(pod);
}

function sameLabels(a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>> = {}): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

function assignedPodRemoved({ cache: cluster, queue }: PodEventContext, before: Pod): void {
  cluster.removePod(before.metadata.uid ?? '');
  queue.changed({ resource: 'pod', before, after: undefined });
}

function pendingPodChanged(places: PodEventContext, { before, after }: { readonly before: Pod | undefined; readonly after: Pod }): void {
  const { cache: cluster, queue, nominations, bindingCycles: binder } = places;
  const pod = readPod(after);
  const known = queue.get(pod.uid);
  queue.set(pod, { resource: 'pod', before, after });
  if (cluster.isAssumedPod(pod.uid)) {
    if (after.metadata.deletionTimestamp !== undefined) binder.cancel(pod.uid, 'pod gone');
    return;
  }
  if (known === undefined) nominations.set(pod, nominatedNode(pod));
  else nominations.update(known, pod);
  if (known !== undefined && nominatedNode(known) !== '' && nominatedNode(known) !== nominatedNode(pod)) nominationReleased(places, known);
}

function pendingPodRemoved(places: PodEventContext, before: Pod): void {
  const { cache: cluster, queue, nominations, bindingCycles: binder } = places;
  const uid = before.metadata.uid ?? '';
  const known = queue.get(uid);
  queue.delete(uid);
  nominations.delete(uid);
  if (cluster.isAssumedPod(uid)) {
    binder.cancel(uid, 'pod gone');
    const assumed = cluster.pod(uid);
    cluster.forgetPod(uid);
    queue.changed({ resource: 'pod', before: { ...before, spec: { ...before.spec, nodeName: assumed?.nodeName ?? '' } }, after: undefined });
  } else if (known !== undefined && nominatedNode(known) !== '') nominationReleased(places, known);
}

/** The nominated resources are free for pods of the same or a lower priority. */
function nominationReleased({ queue }: PodEventContext, { pod, priority }: PodInfo): void {
  queue.changed({ resource: 'pod', before: pod, after: undefined }, (other) => other.priority <= priority);
}
