import { podKind } from '../../../../api/kinds/pod/pod.ts';
import { keyOf } from '../../../../client/informers/cache.ts';
import type { Client } from '../../../../client/client.ts';
import type { Informers } from '../../../../client/informers/informers.ts';
import { defineController } from '../../../../client/controller/define-controller.ts';
import { type Controller, outcomeOf, source, type Trigger } from '../../../../client/controller/loop.ts';
import type { RecordedEvents } from '../../../../client/events/event-dedup.ts';
import { conditionOf } from '../../../pods/conditions.ts';
import type { PodSelectorIndex } from '../../../pods/pod-selector-index.ts';
import type { DisruptedPodAction } from './actions.ts';
import { decideDisruptedPod, type DisruptedPodSnapshot } from './decide.ts';

export interface DisruptedPodOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly recordedEvents: RecordedEvents;
  /** Enqueues pods that several budgets select. */
  readonly contested: Trigger<string>;
  /** The pods of each budget. */
  readonly podIndex: PodSelectorIndex;
}

/** Keys are those of pods: 'namespace/name'. */
export function disruptedPods({
  client,
  informers,
  recordedEvents,
  contested,
  podIndex,
}: DisruptedPodOptions): Controller<string, DisruptedPodSnapshot, DisruptedPodAction> {
  const pods = informers.cache(podKind);
  return defineController({
    name: 'disrupted-pods',
    sources: [
      contested,
      source(podKind, ({ after }) => (after !== undefined && conditionOf(after, 'DisruptionTarget')?.status === 'True' ? [keyOf(after.metadata)] : [])),
    ],
    snapshot(key) {
      const pod = pods.getKey(key);
      if (pod === undefined) return undefined;
      const budgets = podIndex.selecting(pod).map((budget) => budget.slice(budget.indexOf('/') + 1));
      return { pod, budgets: budgets.sort(), isRecorded: recordedEvents.lastEvent(pod.metadata.uid) !== undefined };
    },
    decide: decideDisruptedPod,
    events: recordedEvents,
    actions: {
      async updateStatus({ object }) {
        const result = await client.updateStatus(podKind, object);
        return !result.ok && result.reason === 'notFound' ? 'done' : outcomeOf(result);
      },
    },
    parallelism: 16,
  });
}
