import type { Node, Pod } from '../../../api/generated/types.ts';
import { untypedKind } from '../../../api/kind.ts';
import { nodeKind } from '../../../api/kinds/core/node.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import { type Cache, type Change, keyOf } from '../../../client/informers/cache.ts';
import { type Client, refOf } from '../../../client/client.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, outcomeOf, source } from '../../../client/controller/loop.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import type { Clock } from '../../../world/world.ts';
import { nodeOfPod } from '../../pods/on-node.ts';
import type { PodGcAction } from './actions.ts';
import { decidePodGc, isOutOfService, type PodNode, type PodGcSnapshot } from './decide.ts';
import { FinishedPods } from './finished-pods.ts';

export interface PodGarbageCollectorOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly clock: Clock;
  /** How many finished pods are kept; Kubernetes' default if absent. */
  readonly finishedKept?: number;
}

/** Deletes pods that no kubelet will. Keys are those of pods: 'namespace/name'. */
export function podGarbageCollector({
  client,
  informers,
  clock,
  finishedKept = 12_500,
}: PodGarbageCollectorOptions): Controller<string, PodGcSnapshot, PodGcAction> {
  const pods = informers.cache(podKind);
  const podsOnNode = pods.addIndex(nodeOfPod);
  const nodes = new MissingNodes(informers.cache(nodeKind), clock);
  const finished = new FinishedPods(finishedKept);

  const keysForPod = (change: Change<Pod>): readonly string[] => {
    finished.change(change);
    const { before, after } = change;
    if (after === undefined && !podsOnNode.has(before?.spec.nodeName ?? '')) nodes.forget(before?.spec.nodeName);
    const mayGo = after !== undefined && (after.metadata.deletionTimestamp !== undefined || nodes.isMissing(after.spec.nodeName));
    return mayGo ? [keyOf(after.metadata), ...finished.surplus()] : finished.surplus();
  };
  const keysForNode = ({ before, after }: Change<Node>): readonly string[] => {
    const isNews = after === undefined || (isOutOfService(after) && (before === undefined || !isOutOfService(before)));
    return isNews ? podsOnNode.get((after ?? before)?.metadata.name ?? '').map(({ metadata }) => keyOf(metadata)) : [];
  };

  return defineController({
    name: 'pod-garbage-collector',
    sources: [source(podKind, keysForPod), source(nodeKind, keysForNode)],
    snapshot(key) {
      const pod = pods.getKey(key);
      return pod === undefined ? undefined : { pod, node: nodes.of(pod), isSurplus: finished.surplus().includes(key) };
    },
    decide: decidePodGc,
    writer: new ObjectWriter(client, [untypedKind(podKind)]),
    actions: {
      async confirmNodeGone({ node }) {
        const found = await client.get(nodeKind, { name: node });
        // The node exists: the cache will show it soon.
        if (found.ok) return 'conflict';
        return found.reason === 'notFound' ? 'done' : outcomeOf(found);
      },
      async forceDelete({ pod }) {
        const { uid } = pod.metadata;
        const result = await client.delete(podKind, refOf(pod), { preconditions: { uid }, gracePeriodSeconds: 0 });
        return !result.ok && result.reason === 'notFound' ? 'done' : outcomeOf(result);
      },
    },
    parallelism: 32,
  });
}

/** Nodes of pods that are not in the cache: since when. */
class MissingNodes {
  readonly #nodes: Cache<Node>;
  readonly #clock: Clock;
  /** By name. An entry is removed when the node appears, or when no pod names it any more. */
  readonly #since = new Map<string, number>();

  constructor(nodes: Cache<Node>, clock: Clock) {
    this.#nodes = nodes;
    this.#clock = clock;
    nodes.subscribe(({ after }) => {
      if (after !== undefined) this.#since.delete(after.metadata.name);
    });
  }

  forget(name: string | undefined): void {
    this.#since.delete(name ?? '');
  }

  isMissing(name: string | undefined): boolean {
    return name !== undefined && name !== '' && this.#nodes.getKey(name) === undefined;
  }

  of({ spec: { nodeName = '' } }: Pod): PodNode {
    if (nodeName === '') return { state: 'none' };
    const node = this.#nodes.getKey(nodeName);
    if (node !== undefined) return { state: 'known', node };
    const since = this.#since.get(nodeName) ?? this.#clock.now();
    this.#since.set(nodeName, since);
    return { state: 'missing', name: nodeName, since };
  }
}
