import { podKind } from '../api/kinds/workloads/pod.ts';
import type { Client, Result } from '../machinery/client.ts';
import type { SeriesRecorder } from '../machinery/series-recorder.ts';
import type { World } from '../world/world.ts';
import type { Binder } from './binding.ts';
import type { PodInfo } from './framework.ts';
import { nominatedNode } from './nominations.ts';
import { writeStatus } from './pod-status.ts';
import type { Victims } from './preemption.ts';

export interface EvictionOptions {
  readonly client: Client;
  readonly world: World;
  readonly recorder: Pick<SeriesRecorder, 'record'>;
  readonly binder: Binder;
}

/** Pods of lower priority that were promised the same node: they are promised it no more. */
export interface Preemption {
  readonly pod: PodInfo;
  readonly victims: Victims;
  readonly outbid: readonly PodInfo[];
}

/**
 * Makes pods go for one that needs their room. The last one goes when all others are on their way: its going is what wakes the pod that
 * waits, and then there is room. Whether all was done; else the pod decides again.
 */
export async function makeRoom({ pod, victims, outbid }: Preemption, options: EvictionOptions): Promise<boolean> {
  const { client, world } = options;
  const cleared = outbid.filter((other) => nominatedNode(other) !== '').map((other) => writeStatus(other.pod, { nominatedNodeName: '' }, { client, world }));
  const going = victims.pods.filter(({ pod: victim }) => victim.metadata.deletionTimestamp === undefined);
  const evict = (victim: PodInfo): Promise<boolean> => evictOne(victim, { pod, nodeName: victims.node.name }, options);
  const done = await Promise.all(going.slice(0, -1).map(evict));
  const last = going.at(-1);
  if (done.every(Boolean) && last !== undefined) done.push(await evict(last));
  const results: readonly Result<unknown>[] = await Promise.all(cleared);
  return done.every(Boolean) && results.every(({ ok }) => ok);
}

interface Cause {
  readonly pod: PodInfo;
  readonly nodeName: string;
}

async function evictOne(victim: PodInfo, { pod, nodeName }: Cause, { client, world, recorder, binder }: EvictionOptions): Promise<boolean> {
  const message = `Preempted by pod ${pod.uid} on node ${nodeName}`;
  const report = (text: string): void =>
    recorder.record(victim.pod, { type: 'Normal', reason: 'Preempted', action: 'Preempting', message: text, related: pod.pod });
  // It has not got there yet: nobody else knows that it was to.
  if (binder.callOff(victim.uid, 'preempted')) {
    report(`${message} (in kube-scheduler memory).`);
    return true;
  }
  const { namespace, name, uid } = victim;
  const told = await writeStatus(victim.pod, { condition: disruption(pod) }, { client, world });
  if (!told.ok) return told.reason === 'notFound';
  const deleted = await client.delete(podKind, { namespace, name }, { preconditions: { uid } });
  if (!deleted.ok) return deleted.reason === 'notFound';
  report(message);
  return true;
}

const disruption = ({ pod }: PodInfo) => ({
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'PreemptionByScheduler',
  message: `${pod.spec.schedulerName ?? ''}: preempting to accommodate a higher priority pod`,
});
