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
  readonly nominatedPods: NominatedPods;
  readonly bindingCycles: BindingCycles;
}

/**
 * - `assigned`: has a node, and takes resources of it
 * - `pending`:  has no node, and this scheduler is responsible for it
 * - `ignored`:  has terminated, or another scheduler is responsible for it
 */
type PodState = 'assigned' | 'pending' | 'ignored';

function stateOf(pod: Pod | undefined): PodState {
  if (pod === undefined || pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed') return 'ignored';
  if ((pod.spec.nodeName ?? '') !== '') return 'assigned';
  return pod.spec.schedulerName === schedulerName ? 'pending' : 'ignored';
}

const schedulerName = 'default-scheduler';

/** Routes a pod event to the cache or to the queue, and lets the queue evaluate which pods it may help (eventhandlers.go). */
export function podEventHandler(context: PodEventContext): (change: ObjectChange<Pod>) => void {
  return (change) => {
    const { before, after } = change;
    // A new pod of the same name: the old one was deleted.
    if (before !== undefined && after !== undefined && before.metadata.uid !== after.metadata.uid) {
      handle(context, { before, after: undefined });
      handle(context, { before: undefined, after });
    } else handle(context, change);
  };
}

function handle(context: PodEventContext, { before, after }: ObjectChange<Pod>): void {
  const [was, is] = [stateOf(before), stateOf(after)];
  if (is === 'assigned' && after !== undefined) return assignedPodChanged(context, { before: was === 'assigned' ? before : undefined, after });
  if (was === 'assigned' && before !== undefined) return assignedPodRemoved(context, before);
  if (is === 'pending' && after !== undefined) return pendingPodChanged(context, { before: was === 'pending' ? before : undefined, after });
  if (was === 'pending' && before !== undefined) pendingPodRemoved(context, before);
}

function assignedPodChanged(
  { cache, queue, nominatedPods }: PodEventContext,
  { before, after }: { readonly before: Pod | undefined; readonly after: Pod },
): void {
  const uid = after.metadata.uid ?? '';
  cache.setPod(refreshed(cache.pod(uid), after));
  if (before === undefined) {
    queue.delete(uid);
    nominatedPods.delete(uid);
  }
  queue.changed({ resource: 'pod', before, after });
}

/** Most updates of an assigned pod are status reports of its containers, which do not concern the scheduler. */
function refreshed(known: PodInfo | undefined, pod: Pod): PodInfo {
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

function assignedPodRemoved({ cache, queue }: PodEventContext, before: Pod): void {
  cache.removePod(before.metadata.uid ?? '');
  queue.changed({ resource: 'pod', before, after: undefined });
}

function pendingPodChanged(context: PodEventContext, { before, after }: { readonly before: Pod | undefined; readonly after: Pod }): void {
  const { cache, queue, nominatedPods, bindingCycles } = context;
  const pod = readPod(after);
  const known = queue.get(pod.uid);
  queue.set(pod, { resource: 'pod', before, after });
  if (cache.isAssumedPod(pod.uid)) {
    if (after.metadata.deletionTimestamp !== undefined) bindingCycles.cancel(pod.uid, 'pod gone');
    return;
  }
  if (known === undefined) nominatedPods.set(pod, nominatedNode(pod));
  else nominatedPods.update(known, pod);
  if (known !== undefined && nominatedNode(known) !== '' && nominatedNode(known) !== nominatedNode(pod)) nominationReleased(context, known);
}

function pendingPodRemoved(context: PodEventContext, before: Pod): void {
  const { cache, queue, nominatedPods, bindingCycles } = context;
  const uid = before.metadata.uid ?? '';
  const known = queue.get(uid);
  queue.delete(uid);
  nominatedPods.delete(uid);
  if (cache.isAssumedPod(uid)) {
    bindingCycles.cancel(uid, 'pod gone');
    const assumed = cache.pod(uid);
    cache.forgetPod(uid);
    queue.changed({ resource: 'pod', before: { ...before, spec: { ...before.spec, nodeName: assumed?.nodeName ?? '' } }, after: undefined });
  } else if (known !== undefined && nominatedNode(known) !== '') nominationReleased(context, known);
}

/** The nominated resources are free for pods of the same or a lower priority. */
function nominationReleased({ queue }: PodEventContext, { pod, priority }: PodInfo): void {
  queue.changed({ resource: 'pod', before: pod, after: undefined }, (other) => other.priority <= priority);
}
