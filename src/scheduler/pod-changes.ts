import type { Pod } from '../api/generated/types.ts';
import type { Binder } from './binding.ts';
import type { Cluster } from './cluster.ts';
import type { ObjectChange } from './framework.ts';
import { nominatedNode, type Nominations } from './nominations.ts';
import { type PodInfo, readPod } from './pod-info.ts';
import type { SchedulingQueue } from './queue.ts';

export interface PodPlaces {
  readonly cluster: Cluster;
  readonly queue: SchedulingQueue;
  readonly nominations: Nominations;
  readonly binder: Binder;
}

/**
 * - `placed`:  it has a node, and takes part of it
 * - `waiting`: it is to be given a node, by this scheduler
 * - `none`:    it has ended, or somebody else schedules it
 */
type Role = 'placed' | 'waiting' | 'none';

function roleOf(pod: Pod | undefined): Role {
  if (pod === undefined || pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed') return 'none';
  if ((pod.spec.nodeName ?? '') !== '') return 'placed';
  return pod.spec.schedulerName === schedulerName ? 'waiting' : 'none';
}

const schedulerName = 'default-scheduler';

/** Where a change of a pod belongs: to the nodes, or to the queue; and whom it may help. */
export function followPods(places: PodPlaces): (change: ObjectChange<Pod>) => void {
  return ({ before, after }) => {
    // Another pod of the same name: the old one is gone.
    if (before !== undefined && after !== undefined && before.metadata.uid !== after.metadata.uid) {
      route(places, { before, after: undefined });
      route(places, { before: undefined, after });
    } else route(places, { before, after });
  };
}

function route(places: PodPlaces, { before, after }: ObjectChange<Pod>): void {
  const [was, is] = [roleOf(before), roleOf(after)];
  if (is === 'placed' && after !== undefined) return placed(places, { before: was === 'placed' ? before : undefined, after });
  if (was === 'placed' && before !== undefined) return left(places, before);
  if (is === 'waiting' && after !== undefined) return waiting(places, { before: was === 'waiting' ? before : undefined, after });
  if (was === 'waiting' && before !== undefined) gone(places, before);
}

function placed({ cluster, queue, nominations }: PodPlaces, { before, after }: { readonly before: Pod | undefined; readonly after: Pod }): void {
  const uid = after.metadata.uid ?? '';
  cluster.setPod(reread(cluster.pod(uid), after));
  if (before === undefined) {
    queue.delete(uid);
    nominations.delete(uid);
  }
  queue.changed({ resource: 'pod', before, after });
}

/** Most changes of a pod on a node are reports on its containers, and concern nobody here. */
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

function left({ cluster, queue }: PodPlaces, before: Pod): void {
  cluster.removePod(before.metadata.uid ?? '');
  queue.changed({ resource: 'pod', before, after: undefined });
}

function waiting(places: PodPlaces, { before, after }: { readonly before: Pod | undefined; readonly after: Pod }): void {
  const { cluster, queue, nominations, binder } = places;
  const pod = readPod(after);
  const known = queue.get(pod.uid);
  queue.set(pod, { resource: 'pod', before, after });
  if (cluster.isAssumed(pod.uid)) {
    if (after.metadata.deletionTimestamp !== undefined) binder.callOff(pod.uid, 'pod gone');
    return;
  }
  if (known === undefined) nominations.set(pod, nominatedNode(pod));
  else nominations.update(known, pod);
  if (known !== undefined && nominatedNode(known) !== '' && nominatedNode(known) !== nominatedNode(pod)) freed(places, known);
}

function gone(places: PodPlaces, before: Pod): void {
  const { cluster, queue, nominations, binder } = places;
  const uid = before.metadata.uid ?? '';
  const known = queue.get(uid);
  queue.delete(uid);
  nominations.delete(uid);
  if (cluster.isAssumed(uid)) {
    binder.callOff(uid, 'pod gone');
    const assumed = cluster.pod(uid);
    cluster.forget(uid);
    queue.changed({ resource: 'pod', before: { ...before, spec: { ...before.spec, nodeName: assumed?.nodeName ?? '' } }, after: undefined });
  } else if (known !== undefined && nominatedNode(known) !== '') freed(places, known);
}

/** A promise was taken back: the room is there for those who had to yield to it. */
function freed({ queue }: PodPlaces, { pod, priority }: PodInfo): void {
  queue.changed({ resource: 'pod', before: pod, after: undefined }, (other) => other.priority <= priority);
}
