import type { CSINode, Node } from '../../api/generated/types.ts';
import { csiNodeKind } from '../../api/kinds/storage/csi-node.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import type { Cache } from '../../client/informers/cache.ts';
import type { Client, Result } from '../../client/client.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { type Controller, type Outcome, outcomeOf, type Source, source } from '../../client/controller/loop.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { World } from '../../world/world.ts';
import type { Host } from '../host.ts';
import type { VolumesInUse } from '../volumes-in-use.ts';
import type { NodeAction, RecordNodeEvent } from './actions.ts';
import { decideNode, type NodeRegistrationSnapshot } from './decide.ts';
import { driverIds } from './objects.ts';
import type { PluginDrivers } from './plugin-drivers.ts';
import { isNodeReady } from './status.ts';

export interface RegistrationOptions {
  readonly hosts: ReadonlyMap<string, Host>;
  /** Each node writes about itself under its own name. */
  readonly clientOf: (node: string) => Client;
  readonly informers: Informers;
  readonly recorder: EventRecorder;
  readonly world: Pick<World, 'clock' | 'random'>;
  readonly inUse: VolumesInUse;
  /** Attachable volumes that pods of the node have mounted or wait for. */
  readonly volumesInUse: (node: string) => ReadonlySet<string>;
  /** What changes `volumesInUse`. */
  readonly sources: readonly Source<string>[];
  /** Of a single node. Absent: drivers cannot register by sockets. */
  readonly plugins?: PluginDrivers;
  /** Called once for each node. */
  readonly onRegistered: (node: string) => void;
  readonly onReady: (node: string) => void;
  /** The node's status was sent. */
  readonly onReported: (node: string) => void;
}

/** Registers nodes and updates their statuses. Keys are names of nodes. */
export function registration(options: RegistrationOptions): Controller<string, NodeRegistrationSnapshot, NodeAction> {
  const { hosts, informers } = options;
  const updater = new NodeStatusUpdater(options);
  const mine = ({ metadata: { name = '' } }: { readonly metadata: { readonly name?: string } }) => (hosts.has(name) ? [name] : []);
  return {
    name: 'node-registration',
    parallelism: 64,
    sources: [
      { subscribe: (_, add) => addAll(hosts.keys(), add) },
      source(nodeKind, ({ before, after }) => mine(after ?? before ?? noObject)),
      source(csiNodeKind, ({ before, after }) => mine(after ?? before ?? noObject)),
      ...options.sources,
      ...(options.plugins === undefined ? [] : [options.plugins.changed]),
    ],
    snapshot: (name) => updater.snapshot(name, { nodes: informers.cache(nodeKind), csiNodes: informers.cache(csiNodeKind) }),
    decide: decideNode,
    perform: (action, name) => updater.perform(action, name),
  };
}

const noObject = { metadata: {} };

/** Nodes that do not exist yet, too. */
function addAll(names: Iterable<string>, add: (name: string) => void): () => void {
  for (const name of names) add(name);
  return () => undefined;
}

interface UpdaterState {
  registered: boolean;
  unschedulableRecorded: boolean;
  ready: boolean;
  /** Milliseconds since 1970. */
  reportDue: number;
}

class NodeStatusUpdater {
  readonly #options: RegistrationOptions;
  readonly #states = new Map<string, UpdaterState>();

  constructor(options: RegistrationOptions) {
    this.#options = options;
  }

  snapshot(name: string, caches: { readonly nodes: Cache<Node>; readonly csiNodes: Cache<CSINode> }): NodeRegistrationSnapshot | undefined {
    const host = this.#options.hosts.get(name);
    if (host === undefined) {
      // A machine of the same name that comes later is a new one.
      this.#states.delete(name);
      return undefined;
    }
    const { registered, reportDue, unschedulableRecorded } = this.#state(name);
    return {
      host,
      node: caches.nodes.getKey(name),
      csiNode: caches.csiNodes.getKey(name),
      registered,
      reportDue,
      unschedulableRecorded,
      volumesInUse: [...this.#options.volumesInUse(name)].sort(),
      plugins: this.#options.plugins?.all(),
    };
  }

  async perform(action: NodeAction, name: string): Promise<Outcome> {
    const client = this.#options.clientOf(name);
    switch (action.do) {
      case 'create-node':
        return outcomeOf(await client.create(nodeKind, action.object));
      case 'update-node':
        return this.#pluginOutcome(await client.patch(nodeKind, { name }, { type: 'merge', body: registrationPatch(action.object) }));
      case 'registered':
        this.#state(name).registered = true;
        this.#options.onRegistered(name);
        return 'done';
      case 'create-csi-node':
        return outcomeOf(await client.create(csiNodeKind, action.object));
      case 'update-csi-node':
        return this.#pluginOutcome(await client.update(csiNodeKind, action.object));
      case 'delete-csi-node':
        return this.#deleteCsiNode(action.object, client);
      case 'driver-installed':
        this.#options.plugins?.confirmInstalled(action.driver);
        return 'done';
      case 'driver-uninstalled':
        this.#options.plugins?.confirmUninstalled(action.driver);
        return 'done';
      case 'refuse-driver':
        this.#options.plugins?.refuse(action.driver, action.error);
        return 'done';
      case 'report':
        return this.#report(action.object, client);
      case 'record-event':
        return this.#recordEvent(action, name);
    }
  }

  /** A driver whose write is refused (a label that a node may not set) is refused; an API server that does not answer is waited for. */
  #pluginOutcome(result: Result<unknown>): Outcome {
    const outcome = outcomeOf(result);
    if (!result.ok && typeof outcome === 'object' && result.reason !== 'unreachable') this.#options.plugins?.refuseInstalling(result.error.message);
    return outcome;
  }

  async #deleteCsiNode({ metadata: { name = '', uid } }: CSINode, client: Client): Promise<Outcome> {
    const deleted = await client.delete(csiNodeKind, { name }, uid === undefined ? {} : { preconditions: { uid } });
    return !deleted.ok && deleted.reason === 'notFound' ? 'done' : outcomeOf(deleted);
  }

  async #report(object: Node, client: Client): Promise<Outcome> {
    const { inUse, volumesInUse } = this.#options;
    const { name = '' } = object.metadata;
    const reported = object.status.volumesInUse ?? [];
    // Since the decision, a pod may have mounted a volume that is not listed.
    if ([...volumesInUse(name)].some((volume) => !reported.includes(volume))) return 'conflict';
    const known = this.#options.informers.cache(nodeKind).getKey(name)?.status.volumesInUse ?? [];
    inUse.withdraw(
      name,
      known.filter((volume) => !reported.includes(volume)),
    );
    const result = await client.patch(nodeKind, { name }, { type: 'merge', body: statusPatch(object) }, { subresource: 'status' });
    if (result.ok || result.reason !== 'unreachable') inUse.confirmReported(name, result.ok ? 'sent' : 'refused');
    if (result.ok) this.#reported(object);
    return outcomeOf(result);
  }

  /** Without changes, the next status is sent in about five minutes, spread over the nodes. */
  #reported({ metadata: { name = '' }, status }: Node): void {
    const { clock, random } = this.#options.world;
    const state = this.#state(name);
    state.reportDue = clock.now() + reportEveryMs * (0.5 + random.float());
    this.#options.onReported(name);
    if (state.ready || !isNodeReady(status)) return;
    state.ready = true;
    this.#options.onReady(name);
  }

  #recordEvent({ about, reason, message, remember }: RecordNodeEvent, name: string): Outcome {
    this.#options.recorder.record(about, { type: 'Normal', reason, message }, name);
    if (remember !== undefined) this.#state(name).unschedulableRecorded = remember.unschedulable;
    return 'done';
  }

  #state(name: string): UpdaterState {
    let state = this.#states.get(name);
    if (state === undefined) this.#states.set(name, (state = { registered: false, unschedulableRecorded: false, ready: false, reportDue: 0 }));
    return state;
  }
}

const reportEveryMs = 300_000;

/**
 * Only the agent's own fields. An update of the whole Node would send its taints as well: if another client changes those meanwhile, the
 * NodeRestriction admission plugin refuses it. An outdated resourceVersion is still a conflict.
 */
function registrationPatch({ metadata: { resourceVersion, labels, annotations }, spec: { podCIDR, podCIDRs } }: Node): object {
  return { metadata: { resourceVersion, labels, annotations: { [driverIds]: null, ...annotations } }, spec: { podCIDR, podCIDRs } };
}

function statusPatch({ metadata: { resourceVersion }, status }: Node): object {
  return { metadata: { resourceVersion }, status: { ...status, volumesInUse: status.volumesInUse ?? null } };
}
