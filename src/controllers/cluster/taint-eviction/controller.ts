import type { Node, Pod, Taint } from '../../../api/generated/types.ts';
import { untypedKind } from '../../../api/kind.ts';
import { nodeKind } from '../../../api/kinds/core/node.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import { type Change, keyOf } from '../../../client/informers/cache.ts';
import type { Client } from '../../../client/client.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, source } from '../../../client/controller/loop.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import { RecordedEvents } from '../../../client/events/event-dedup.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';
import type { Clock } from '../../../world/world.ts';
import { nodeOfPod } from '../../pods/on-node.ts';
import type { TaintEvictionAction, PlannedEviction } from './actions.ts';
import { decideEviction, isNoExecute, type TaintEvictionSnapshot } from './decide.ts';

export interface TaintEvictionOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
}

/** Evicts pods that do not tolerate the NoExecute taints of their node. Keys are those of pods: 'namespace/name'. */
export function taintEviction({ client, informers, recorder, clock }: TaintEvictionOptions): Controller<string, TaintEvictionSnapshot, TaintEvictionAction> {
  const pods = informers.cache(podKind);
  const nodes = informers.cache(nodeKind);
  const podsOnNode = pods.addIndex(nodeOfPod);
  /** By key of pod. */
  const plans = new Map<string, PlannedEviction>();
  const events = new RecordedEvents(recorder, clock);

  return defineController({
    name: 'taint-eviction',
    sources: [
      source(podKind, keysForPod),
      source(nodeKind, ({ before, after }) =>
        isSame(noExecuteTaints(before), noExecuteTaints(after))
          ? []
          : podsOnNode.get((after ?? before)?.metadata.name ?? '').map(({ metadata }) => keyOf(metadata)),
      ),
    ],
    snapshot(key) {
      const pod = pods.getKey(key);
      const plan = plans.get(key);
      if (pod === undefined && plan === undefined) return undefined;
      const node = nodes.getKey(pod?.spec.nodeName ?? '');
      const taints = node === undefined ? undefined : noExecuteTaints(node);
      if ((taints ?? none).length === 0 && plan === undefined) return undefined;
      return { key, pod, taints, plan, isRecorded: events.lastEvent(pod?.metadata.uid ?? '') !== undefined };
    },
    decide: decideEviction,
    writer: new ObjectWriter(client, [untypedKind(podKind)]),
    events,
    actions: {
      async plan({ plan }, key) {
        plans.set(key, plan);
        return 'done';
      },
      async forgetPlan(_, key) {
        plans.delete(key);
        return 'done';
      },
    },
    parallelism: 32,
  });
}

const none: readonly Taint[] = [];

const noExecuteTaints = (node: Node | undefined): readonly Taint[] => node?.spec.taints?.filter(isNoExecute) ?? none;

const isSame = (before: unknown, after: unknown): boolean => JSON.stringify(before) === JSON.stringify(after);

/** Only node and tolerations of a pod matter. */
function keysForPod({ before, after }: Change<Pod>): readonly string[] {
  const isSamePod = before?.metadata.uid === after?.metadata.uid && before?.spec.nodeName === after?.spec.nodeName;
  return isSamePod && isSame(before?.spec.tolerations, after?.spec.tolerations) ? [] : [keyOf((after ?? before)?.metadata ?? {})];
}
