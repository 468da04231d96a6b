import type { Lease, Node, ObjectReference, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { untypedKind } from '../../../api/kind.ts';
import { leaseKind } from '../../../api/kinds/coordination/lease.ts';
import { nodeKind } from '../../../api/kinds/core/node.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import type { Cache, Change } from '../../../client/informers/cache.ts';
import type { Client } from '../../../client/client.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, outcomeOf, source, Trigger } from '../../../client/controller/loop.ts';
import { RecordedEvents } from '../../../client/events/event-dedup.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import type { Clock } from '../../../world/world.ts';
import { nodeOfPod } from '../../pods/on-node.ts';
import type { NodeLifecycleAction } from './actions.ts';
import { readyOf } from './conditions.ts';
import { decideNode, type NodeLifecycleSnapshot } from './decide.ts';
import { leaseNamespace, NodeHeartbeats } from './node-heartbeats.ts';
import { needsEvictionTaint, type EvictionSlot } from './taints.ts';
import { Zones } from './zones.ts';

export interface NodeLifecycleOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
}

/**
 * Monitors nodes that have had a Lease, and no others: their conditions become taints, and without heartbeats they become
 * unreachable. Keys are names of nodes.
 *
 * A node is enqueued when it changes and when its grace period ends. A renewed Lease only moves that moment.
 */
export function nodeLifecycle(options: NodeLifecycleOptions): Controller<string, NodeLifecycleSnapshot, NodeLifecycleAction> {
  const { informers, client, recorder, clock } = options;
  const view = new NodeLifecycleView(options);
  const nodes = informers.cache(nodeKind);
  return defineController({
    name: 'node-lifecycle',
    sources: [
      view.trigger,
      source(nodeKind, ({ after }) => (after === undefined ? [] : [after.metadata.name])),
      // A pod that arrives on an unreachable node may have condition Ready.
      source(podKind, (change) => (isPlaced(change) ? nodeOfPod(change.after).filter((name) => isUnreachable(nodes.getKey(name))) : [])),
    ],
    snapshot: (name) => view.snapshot(name),
    decide: decideNode,
    writer: new ObjectWriter(client, [untypedKind(nodeKind)]),
    events: new RecordedEvents(recorder, clock),
    actions: {
      async markPod({ pod }) {
        const result = await client.updateStatus(podKind, pod);
        return !result.ok && result.reason === 'notFound' ? 'done' : outcomeOf(result);
      },
      async takeSlot(_, name) {
        view.zones.slotTaken(name);
        return 'done';
      },
    },
    parallelism: 16,
  });
}

const isPlaced = (change: Change<Pod>): change is Change<Pod> & { readonly after: Stored<Pod> } =>
  change.after !== undefined && change.before?.spec.nodeName !== change.after.spec.nodeName;

const isUnreachable = (node: Node | undefined): boolean => node !== undefined && readyOf(node)?.status === 'Unknown';

/** Heartbeats, zones and followed nodes, updated with each change before the next decision. */
class NodeLifecycleView {
  readonly zones: Zones;
  /** Enqueues nodes for other reasons than their own change. */
  readonly trigger = new Trigger<string>();
  readonly #heartbeats: NodeHeartbeats;
  readonly #nodes: Cache<Node>;
  readonly #leases: Cache<Lease>;
  readonly #podsOnNode: (name: string) => readonly Stored<Pod>[];
  readonly #options: NodeLifecycleOptions;
  readonly #followed = new Set<string>();

  constructor(options: NodeLifecycleOptions) {
    const { informers, clock } = options;
    this.#options = options;
    this.#heartbeats = new NodeHeartbeats(clock);
    this.#nodes = informers.cache(nodeKind);
    this.#leases = informers.cache(leaseKind);
    const index = informers.cache(podKind).addIndex(nodeOfPod);
    this.#podsOnNode = (name) => index.get(name);
    this.zones = new Zones({
      clock,
      enqueue: (name) => this.trigger.fire(name),
      onAllDown: (allDown) => {
        if (!allDown) this.#heartbeats.resetAll();
        for (const name of this.zones.names()) this.trigger.fire(name);
      },
    });
    this.#leases.subscribe((change) => this.#onLeaseChange(change));
    this.#nodes.subscribe((change) => this.#onNodeChange(change));
  }

  snapshot(name: string): NodeLifecycleSnapshot | undefined {
    const node = this.#nodes.getKey(name);
    if (node === undefined || !this.#followed.has(name)) return undefined;
    return { node, sinceHeartbeatMs: this.#heartbeats.sinceHeartbeatMs(name), slot: this.#slotOf(node, name), pods: () => this.#podsOnNode(name) };
  }

  #slotOf(node: Node, name: string): EvictionSlot {
    if (needsEvictionTaint(node)) return this.zones.slotOf(name);
    this.zones.dequeue(name);
    return { state: this.zones.allDown ? 'off' : 'later' };
  }

  #onLeaseChange({ before, after }: Change<Lease>): void {
    const { namespace, name = '' } = (after ?? before)?.metadata ?? {};
    if (namespace !== leaseNamespace) return;
    if (after === undefined) return this.#heartbeats.leaseDeleted(name);
    if (!this.#heartbeats.leaseRenewed(after)) return;
    const node = this.#nodes.getKey(name);
    if (node !== undefined) this.#follow(node);
    this.trigger.fire(name);
  }

  #onNodeChange({ before, after }: Change<Node>): void {
    if (before !== undefined && before.metadata.uid !== after?.metadata.uid) this.#unfollow(before);
    if (after === undefined) return;
    this.#heartbeats.nodeChanged(after);
    const { name } = after.metadata;
    if (this.#followed.has(name)) this.zones.count(name, after);
    else if (this.#heartbeats.isFollowed(after)) this.#follow(after);
  }

  #follow(node: Stored<Node>): void {
    const { name, creationTimestamp = '' } = node.metadata;
    this.#followed.add(name);
    this.zones.count(name, node);
    // Only for new nodes: a new leader must not record the event again.
    if (this.#options.clock.now() - Date.parse(creationTimestamp) < newForMs)
      this.#recordEvent(node, 'RegisteredNode', `Registered Node ${name} in Controller`);
  }

  #unfollow(node: Stored<Node>): void {
    const { name } = node.metadata;
    this.#heartbeats.nodeDeleted(name, this.#leases.get({ namespace: leaseNamespace, name }) !== undefined);
    this.zones.count(name, undefined);
    if (this.#followed.delete(name)) this.#recordEvent(node, 'RemovingNode', `Removing Node ${name} from Controller`);
  }

  #recordEvent({ metadata: { name, uid } }: Stored<Node>, reason: string, event: string): void {
    const about: ObjectReference = { kind: 'Node', name, uid, apiVersion: 'v1' };
    this.#options.recorder.record(about, { type: 'Normal', reason, message: `Node ${name} event: ${event}` });
  }
}

const newForMs = 5 * 60_000;
