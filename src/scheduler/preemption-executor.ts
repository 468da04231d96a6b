import { podKind } from '../api/kinds/pod/pod.ts';
import type { Client, Result } from '../client/client.ts';
import type { EventSeriesRecorder } from '../client/events/event-series-recorder.ts';
import type { World } from '../world/world.ts';
import type { BindingCycles } from './binding-cycle.ts';
import type { PodInfo } from './framework.ts';
import { nominatedNode } from './nominated-pods.ts';
import { patchPodStatus } from './pod-status.ts';
import type { Victims } from './preemption.ts';

export interface PreemptionContext {
  readonly client: Client;
  readonly world: World;
  readonly recorder: Pick<EventSeriesRecorder, 'record'>;
  readonly bindingCycles: BindingCycles;
}

export interface PreemptionPlan {
  readonly pod: PodInfo;
  readonly victims: Victims;
  /** Pods of lower priority that are nominated to the node. */
  readonly lowerNominated: readonly PodInfo[];
}

/**
 * Evicts the victims and clears the nominations of lower priority. The last victim is deleted when all others are: its deletion event
 * wakes the preemptor, and then there is room. False: a step failed, and the preemptor needs another scheduling cycle.
 */
export async function executePreemption({ pod, victims, lowerNominated }: PreemptionPlan, context: PreemptionContext): Promise<boolean> {
  const { client, world } = context;
  const clearing = lowerNominated
    .filter((other) => nominatedNode(other) !== '')
    .map((other) => patchPodStatus(other.pod, { nominatedNodeName: '' }, { client, world }));
  const remaining = victims.pods.filter(({ pod: victim }) => victim.metadata.deletionTimestamp === undefined);
  const evict = (victim: PodInfo): Promise<boolean> => evictVictim(victim, { pod, nodeName: victims.node.name }, context);
  const done = await Promise.all(remaining.slice(0, -1).map(evict));
  const last = remaining.at(-1);
  if (done.every(Boolean) && last !== undefined) done.push(await evict(last));
  const results: readonly Result<unknown>[] = await Promise.all(clearing);
  return done.every(Boolean) && results.every(({ ok }) => ok);
}

interface Preemptor {
  readonly pod: PodInfo;
  readonly nodeName: string;
}

async function evictVictim(victim: PodInfo, { pod, nodeName }: Preemptor, { client, world, recorder, bindingCycles }: PreemptionContext): Promise<boolean> {
  const message = `Preempted by pod ${pod.uid} on node ${nodeName}`;
  const report = (text: string): void =>
    recorder.record(victim.pod, { type: 'Normal', reason: 'Preempted', action: 'Preempting', message: text, related: pod.pod });
  // The victim is only assumed on the node: cancelling its binding cycle suffices.
  if (bindingCycles.cancel(victim.uid, 'preempted')) {
    report(`${message} (in kube-scheduler memory).`);
    return true;
  }
  const { namespace, name, uid } = victim;
  const patched = await patchPodStatus(victim.pod, { condition: disruptionCondition(pod) }, { client, world });
  if (!patched.ok) return patched.reason === 'notFound';
  const deleted = await client.delete(podKind, { namespace, name }, { preconditions: { uid } });
  if (!deleted.ok) return deleted.reason === 'notFound';
  report(message);
  return true;
}

const disruptionCondition = ({ pod }: PodInfo) => ({
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'PreemptionByScheduler',
  message: `${pod.spec.schedulerName ?? ''}: preempting to accommodate a higher priority pod`,
});
