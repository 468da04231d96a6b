import type { Lease, Node, ObjectReference, Pod } from '../../api/generated/types.ts';
import { erased } from '../../api/kind.ts';
import { leaseKind } from '../../api/kinds/lease.ts';
import { nodeKind } from '../../api/kinds/node.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import type { Cache, Change } from '../../machinery/cache.ts';
import type { Client } from '../../machinery/client.ts';
import type { Informers } from '../../machinery/informers.ts';
import { Bell, type Controller, type Outcome, outcomeOf, source } from '../../machinery/loop.ts';
import type { Recorder } from '../../machinery/recorder.ts';
import { ObjectWriter } from '../../machinery/writes.ts';
import type { Clock } from '../../world/world.ts';
import { nodeOfPod } from '../pods/on-node.ts';
import type { Action } from './actions.ts';
import { readyOf } from './conditions.ts';
import { decideNode, type Snapshot } from './decide.ts';
import { leaseNamespace, SignsOfLife } from './signs-of-life.ts';
import { needsTurn, type Turn } from './taints.ts';
import { Zones } from './zones.ts';

export interface NodeLifecycleOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly recorder: Pick<Recorder, 'record'>;
  readonly clock: Clock;
}

/**
 * Watches over nodes that have had a Lease, and over no others: what they report becomes taints, and when they fall silent they are
 * lost. Keys are names of nodes.
 *
 * A node is looked at when it changes and when it would be lost. A renewed lease only moves that moment.
 */
export function nodeLifecycle(options: NodeLifecycleOptions): Controller<string, Snapshot, Action> {
  const { informers, client, recorder } = options;
  const watch = new Watch(options);
  const writer = new ObjectWriter(client, [erased(nodeKind)]);
  const perform = async (action: Action, name: string): Promise<Outcome> => {
    switch (action.do) {
      case 'update':
      case 'updateStatus':
        return writer.perform(action);
      case 'mark-pod': {
        const result = await client.updateStatus(podKind, action.pod);
        return !result.ok && result.reason === 'notFound' ? 'done' : outcomeOf(result);
      }
      case 'take-turn':
        watch.zones.taken(name);
        return 'done';
      case 'tell':
        recorder.record(action.about, action.report);
        return 'done';
    }
  };
  const nodes = informers.cache(nodeKind);
  return {
    name: 'node-lifecycle',
    sources: [
      watch.bell,
      source(nodeKind, ({ after }) => (after === undefined ? [] : [after.metadata.name ?? ''])),
      // A pod that comes to a lost node may call itself ready.
      source(podKind, (change) => (isPlaced(change) ? nodeOfPod(change.after).filter((name) => isLost(nodes.getKey(name))) : [])),
    ],
    snapshot: (name) => watch.snapshot(name),
    decide: decideNode,
    perform,
    parallelism: 16,
  };
}

const isPlaced = (change: Change<Pod>): change is Change<Pod> & { readonly after: Pod } =>
  change.after !== undefined && change.before?.spec.nodeName !== change.after.spec.nodeName;

const isLost = (node: Node | undefined): boolean => node !== undefined && readyOf(node)?.status === 'Unknown';

/** What is known of nodes beyond their objects, kept up with each change before anybody decides. */
class Watch {
  readonly zones: Zones;
  /** Rings for nodes that something else than themselves concerns. */
  readonly bell = new Bell<string>();
  readonly #signs: SignsOfLife;
  readonly #nodes: Cache<Node>;
  readonly #leases: Cache<Lease>;
  readonly #podsOnNode: (name: string) => readonly Pod[];
  readonly #options: NodeLifecycleOptions;
  readonly #followed = new Set<string>();

  constructor(options: NodeLifecycleOptions) {
    const { informers, clock } = options;
    this.#options = options;
    this.#signs = new SignsOfLife(clock);
    this.#nodes = informers.cache(nodeKind);
    this.#leases = informers.cache(leaseKind);
    const index = informers.cache(podKind).addIndex(nodeOfPod);
    this.#podsOnNode = (name) => index.get(name);
    this.zones = new Zones({
      clock,
      wake: (name) => this.bell.ring(name),
      onAllDown: (allDown) => {
        if (!allDown) this.#signs.heardOfAll();
        for (const name of this.zones.names()) this.bell.ring(name);
      },
    });
    this.#leases.subscribe((change) => this.#sawLease(change));
    this.#nodes.subscribe((change) => this.#sawNode(change));
  }

  snapshot(name: string): Snapshot | undefined {
    const node = this.#nodes.getKey(name);
    if (node === undefined || !this.#followed.has(name)) return undefined;
    return { node, silentMs: this.#signs.silentMs(name), turn: this.#turnOf(node, name), pods: () => this.#podsOnNode(name) };
  }

  #turnOf(node: Node, name: string): Turn {
    if (needsTurn(node)) return this.zones.turnOf(name);
    this.zones.leave(name);
    return { state: this.zones.allDown ? 'off' : 'later' };
  }

  #sawLease({ before, after }: Change<Lease>): void {
    const { namespace, name = '' } = (after ?? before)?.metadata ?? {};
    if (namespace !== leaseNamespace) return;
    if (after === undefined) return this.#signs.leaseGone(name);
    if (!this.#signs.sawLease(after)) return;
    const node = this.#nodes.getKey(name);
    if (node !== undefined) this.#follow(node);
    this.bell.ring(name);
  }

  #sawNode({ before, after }: Change<Node>): void {
    const name = (after ?? before)?.metadata.name ?? '';
    if (before !== undefined && before.metadata.uid !== after?.metadata.uid) this.#unfollow(before);
    if (after === undefined) return;
    this.#signs.sawNode(after);
    if (this.#followed.has(name)) this.zones.count(name, after);
    else if (this.#signs.isFollowed(after)) this.#follow(after);
  }

  #follow(node: Node): void {
    const { name = '', creationTimestamp = '' } = node.metadata;
    this.#followed.add(name);
    this.zones.count(name, node);
    // Once: not again by everyone who takes over.
    if (this.#options.clock.now() - Date.parse(creationTimestamp) < newForMs) this.#tell(node, 'RegisteredNode', `Registered Node ${name} in Controller`);
  }

  #unfollow(node: Node): void {
    const { name = '' } = node.metadata;
    this.#signs.nodeGone(name, this.#leases.get({ namespace: leaseNamespace, name }) !== undefined);
    this.zones.count(name, undefined);
    if (this.#followed.delete(name)) this.#tell(node, 'RemovingNode', `Removing Node ${name} from Controller`);
  }

  #tell({ metadata: { name = '', uid = '' } }: Node, reason: string, event: string): void {
    const about: ObjectReference = { kind: 'Node', name, uid, apiVersion: 'v1' };
    this.#options.recorder.record(about, { type: 'Normal', reason, message: `Node ${name} event: ${event}` });
  }
}

const newForMs = 5 * 60_000;
