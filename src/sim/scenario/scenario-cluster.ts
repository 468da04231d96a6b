/** The cluster of a scenario: the real server, every controller, the scheduler and hollow nodes, all on virtual time. */
import { createHash } from 'node:crypto';
import type { Kind } from '../../api/kind.ts';
import { allKinds, followedKinds } from '../../api/kinds/index.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { ebsDriverName } from '../../drivers/aws-ebs/driver.ts';
import type { VolumeDriver } from '../../drivers/contract.ts';
import { DriverSet } from '../../drivers/driver-set.ts';
import { hostPathDriver } from '../../drivers/host-path/driver.ts';
import { createClient, type Client } from '../../client/client.ts';
import { defaultTiming, type LeaderElectionTiming } from '../../client/controller/leader-election.ts';
import type { Transport } from '../../client/transport.ts';
import { bootstrap } from '../../cluster/apiserver/bootstrap.ts';
import { controllerAuthorizer, type ControllerName } from '../../cluster/access/controller-roles.ts';
import { startControllers } from '../../cluster/controllers/controllers.ts';
import { connectInProcess, connectNodesInProcess, systemClient } from '../../cluster/access/identities.ts';
import { createInProcessTransport } from '../../cluster/access/in-process-transport.ts';
import { startScheduler } from '../../cluster/scheduler.ts';
import { Cloud } from '../../cloud/engine/cloud.ts';
import { launchFirstInstances } from '../../cluster/cloud/first-instances.ts';
import { InstanceNodes } from '../../cluster/cloud/instance-nodes.ts';
import { ensureKarpenterDefinitions } from '../../cluster/cloud/karpenter-definitions.ts';
import { NodeProvider } from '../../cluster/cloud/node-provider.ts';
import { type HollowNodes, runHollowNodes } from '../../node/hollow-nodes.ts';
import type { Host } from '../../node/host.ts';
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';
import { RbacAuthorizer } from '../../apiserver/authorization/rbac/authorizer.ts';
import { createApi } from '../../apiserver/create-api.ts';
import type { Store } from '../../store/contract.ts';
import type { StoreContent } from '../../store/memory/memory-store.ts';
import { SimulatedDirectories } from '../drivers/simulated-directories.ts';
import { allowOthers } from '../cluster/access.ts';
import { SimulatedComponent } from '../cluster/simulated-component.ts';
import { simulatedEbsDriver, type SimulatedEbsOptions } from '../cluster/simulated-ebs.ts';
import { SimulatedServer } from '../cluster/simulated-server.ts';
import type { World } from '../../world/world.ts';
import type { SimulatedProcess } from '../world/process.ts';
import type { SimulatedWorld } from '../world/world.ts';
import { SimulatedBackend, type BackendCallRecord } from './simulated-backend.ts';
import type { ProcessName } from './language/script-step.ts';
import { ObjectHistory } from './object-history.ts';
import { machine } from './hosts.ts';
import type { CloudPlan, DriverPlan } from './language/scenario.ts';
import { shortControllerName, WriteAuthors } from './write-authors.ts';

export interface ScenarioClusterOptions {
  readonly hosts: readonly Host[];
  readonly drivers: readonly DriverPlan[];
  /** Nodes come from this cloud, launched by the autoscaler. Absent: all nodes are `hosts`. */
  readonly cloud?: CloudPlan | undefined;
  readonly onBackendCall: (word: BackendCallRecord) => void;
  /** Told of what the driver of the cloud's disks asks for. */
  readonly onEc2Call?: SimulatedEbsOptions['onCall'];
  /** What the store begins with: that of an earlier cluster. Absent: nothing. */
  readonly content?: StoreContent | undefined;
  /** Fills the store before the server starts. */
  readonly fill?: (store: Store) => Promise<void>;
  /** Adds existing disks to the backends. */
  readonly adopt?: (backends: ReadonlyMap<string, SimulatedBackend>) => void;
  /** Default: controllers and nodes have their roles, and all others may do everything. */
  readonly authorizer?: Authorizer;
  /** Of leader election; default: as in production. */
  readonly timing?: LeaderElectionTiming;
  /** Nodes without a connection from the beginning. */
  readonly unreachable?: readonly string[];
}

interface ScenarioParts {
  readonly server: SimulatedServer;
  readonly store: Store;
  readonly history: ObjectHistory;
  readonly options: ScenarioClusterOptions;
  readonly cloud: Cloud | undefined;
}

const usualAuthorizer = controllerAuthorizer(allowOthers);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const zoneLabel = 'topology.kubernetes.io/zone';

/** The name of the kubectl user in the timeline. */
export const kubectlUser = 'you';

export class ScenarioCluster {
  readonly world: SimulatedWorld;
  readonly client: Client;
  /** Sends requests as kubectl does. */
  readonly transport: Transport;
  /** It survives the crashes of the server. */
  readonly store: Store;
  readonly history: ObjectHistory;
  readonly writers = new WriteAuthors();
  readonly backends: ReadonlyMap<string, SimulatedBackend>;
  readonly hosts = new Map<string, Host>();
  /** Undefined: the cluster is in no cloud. */
  readonly cloud: Cloud | undefined;
  readonly #server: SimulatedServer;
  readonly #authorizer: Authorizer;
  readonly #timing: LeaderElectionTiming;
  readonly #components: Readonly<Record<'controllers' | 'scheduler', SimulatedComponent>>;
  readonly #options: ScenarioClusterOptions;
  readonly #dead = new Set<string>();

  /** Starts the server and the nodes. The controllers start later: they would take a node without its first heartbeat for a dead one. */
  static async build(world: SimulatedWorld, options: ScenarioClusterOptions): Promise<ScenarioCluster> {
    let isNew = true;
    const serve = async (run: { readonly world: World; readonly store: Store }) => {
      if (isNew) await options.fill?.(run.store);
      isNew = false;
      return serveApi(run, options.authorizer ?? usualAuthorizer);
    };
    const server = new SimulatedServer({ world, store: 'memory', content: options.content, serve });
    await server.start();
    const { store } = server;
    if (store === undefined) throw new Error('the server did not start');
    const cloud = options.cloud === undefined ? undefined : await startCloud(world, options.cloud);
    const history = await ObjectHistory.open(store);
    const cluster = new ScenarioCluster(world, { server, store, history, options, cloud });
    options.adopt?.(cluster.backends);
    for (const node of options.unreachable ?? []) cluster.disconnect(node);
    await cluster.addNodes(options.hosts);
    if (cluster.cloud !== undefined) await ensureKarpenterDefinitions(systemClient(server.api, 'apiserver'));
    return cluster;
  }

  private constructor(world: SimulatedWorld, { server, store, history, options, cloud }: ScenarioParts) {
    this.world = world;
    this.#server = server;
    this.#options = options;
    this.#authorizer = options.authorizer ?? usualAuthorizer;
    this.#timing = options.timing ?? defaultTiming;
    this.store = store;
    this.history = history;
    this.transport = this.writers.recordedAs(
      kubectlUser,
      createInProcessTransport(server.api, { name: 'kubernetes-admin', groups: ['system:masters'] }, 'kubectl'),
    );
    this.client = createClient({ transport: this.transport });
    this.cloud = cloud;
    const ofCloud = this.cloud?.region.zones.map(({ name }) => name) ?? [];
    const zones = () => [...new Set([...ofCloud, ...Array.from(this.hosts.keys()).flatMap((node) => this.zoneOf(node) ?? [])])];
    const zoneOf = (node: string) => this.zoneOf(node);
    this.backends = new Map(options.drivers.map((plan) => [plan.name, new SimulatedBackend({ plan, world, zones, zoneOf, onCall: options.onBackendCall })]));
    this.#components = { controllers: this.#controllers(), scheduler: this.#scheduler() };
    if (this.cloud !== undefined) this.#runInstances(this.cloud);
  }

  /** Starts the controllers and the scheduler. */
  start(): void {
    for (const component of Object.values(this.#components)) component.start();
  }

  /** Resolves when the nodes are ready. */
  async addNodes(hosts: readonly Host[]): Promise<void> {
    for (const host of hosts) this.hosts.set(host.name, host);
    if (hosts.length === 0) return;
    const nodes = this.#runNodes(hosts);
    const alive = hosts.filter(({ name }) => !this.#dead.has(name));
    await (alive.length === hosts.length ? nodes.ready : this.world.sleep(5_000));
  }

  #runNodes(hosts: readonly Host[]): HollowNodes {
    const connect = connectInProcess(this.#server.api, this.#authorizer);
    const connectNode = connectNodesInProcess(this.#server.api, this.#authorizer);
    return runHollowNodes({
      world: this.world,
      hosts: new Map(hosts.map((host) => [host.name, host])),
      readTransport: connect('moor-informers'),
      eventTransport: this.#withoutDead(connect('hollow-nodes')),
      transportOf: (node) => this.#unlessDead(node, this.writers.recordedAs(node, connectNode(node))),
      sha256,
    });
  }

  #runInstances(cloud: Cloud): void {
    const instances = new InstanceNodes({ world: this.world, cloud, machine });
    for (const [name, host] of instances.hosts) this.hosts.set(name, host);
    const nodes = this.#runNodes([...instances.hosts.values()]);
    instances.follow({
      add: (host) => {
        this.hosts.set(host.name, host);
        nodes.add(host);
      },
      remove: (name) => nodes.remove(name),
    });
  }

  /** Of a node, or of an instance: drivers know nodes by its id. */
  zoneOf(node: string): string | undefined {
    return this.hosts.get(node)?.labels[zoneLabel] ?? this.cloud?.state.instances.get(node)?.zone;
  }

  /** The id of the instance behind a node. */
  instanceOf(node: string): string | undefined {
    const id = this.hosts.get(node)?.providerID?.split('/').at(-1);
    return id !== undefined && this.cloud?.state.instances.has(id) === true ? id : undefined;
  }

  nodesIn(zone: string): readonly string[] {
    return [...this.hosts.keys()].filter((node) => this.zoneOf(node) === zone);
  }

  /** Cuts the connection between the node and the server. */
  disconnect(node: string): void {
    this.#dead.add(node);
  }

  reconnect(node: string): void {
    this.#dead.delete(node);
  }

  crash(process: ProcessName): void {
    if (process === 'server') this.#server.crash();
    else this.#components[process].crash();
  }

  async restart(process: ProcessName): Promise<void> {
    if (process !== 'server') this.#components[process].start();
    else if (!this.#server.up) await this.#server.start();
  }

  async removeNode(node: string): Promise<void> {
    this.disconnect(node);
    await this.client.delete(nodeKind, { name: node });
  }

  #controllers(): SimulatedComponent {
    const directories = new SimulatedDirectories();
    const { cloud } = this;
    return new SimulatedComponent({
      world: this.world,
      name: 'controllers',
      run: ({ process, world, through, number }) =>
        void startControllers({
          connect: this.#connect(through),
          world,
          kinds: followedKinds,
          housekeeping: { rootCa: 'PEM' },
          drivers: new DriverSet([hostPathDriver({ directories, sha256, cluster: 'simulation' }), ...this.backends.values(), ...this.#ebs(process, world)]),
          bindsTogether: true,
          ...(cloud === undefined ? {} : { autoscaler: { provider: (informers) => new NodeProvider({ cloud, informers, clusterName: 'simulation' }) } }),
          election: { identity: `controllers ${number}`, takeOver: true, timing: this.#timing },
        }),
    });
  }

  /** The cloud's own disks, unless the scenario has a backend in their place. */
  #ebs(process: SimulatedProcess, world: World): readonly VolumeDriver[] {
    const { cloud } = this;
    return cloud === undefined || this.backends.has(ebsDriverName) ? [] : [simulatedEbsDriver({ cloud, process, world, onCall: this.#options.onEc2Call })];
  }

  #scheduler(): SimulatedComponent {
    return new SimulatedComponent({
      world: this.world,
      name: 'scheduler',
      run: ({ world, through, number }) =>
        void startScheduler({
          connect: this.#connect(through),
          world,
          bindsTogether: true,
          election: { identity: `scheduler ${number}`, takeOver: true, timing: this.#timing },
        }),
    });
  }

  #connect(through: (server: Transport) => Transport): (name: ControllerName) => Transport {
    const connect = connectInProcess(this.#server.api, this.#authorizer);
    return (name) => through(this.writers.recordedAs(shortControllerName(name), connect(name)));
  }

  #unlessDead(node: string, transport: Transport): Transport {
    return {
      send: (request) => (this.#dead.has(node) ? Promise.resolve(noConnection) : transport.send(request)),
      watch: (request, sink) => transport.watch(request, sink),
    };
  }

  /** The nodes share one connection for events. */
  #withoutDead(transport: Transport): Transport {
    return {
      send: (request) => {
        const { source } = (request.body?.object ?? {}) as { readonly source?: { readonly host?: string } };
        return this.#dead.has(source?.host ?? '') ? Promise.resolve(noConnection) : transport.send(request);
      },
      watch: (request, sink) => transport.watch(request, sink),
    };
  }
}

async function startCloud(world: SimulatedWorld, { region, systemNodes = 0 }: CloudPlan): Promise<Cloud> {
  const cloud = new Cloud({ world, region });
  await launchFirstInstances(cloud, { count: systemNodes, taints: [{ key: 'CriticalAddonsOnly', effect: 'NoSchedule' }] });
  return cloud;
}

const noConnection = { type: 'unreachable', error: new Error('the node has no connection') } as const;

/** One run of the server. */
async function serveApi({ store, world }: { readonly store: Store; readonly world: World }, authorizer: Authorizer) {
  const api = createApi({ store, kinds: allKinds, world, extensions: { authorizer }, access: { authorizer, rbac: new RbacAuthorizer() } });
  await bootstrap(systemClient(api, 'apiserver'), 6443);
  return api;
}

export const pluralOf = (object: { readonly apiVersion: string; readonly kind: string }): string => kindsByName.get(object.kind)?.plural ?? '';
const kindsByName = new Map<string, Kind>(allKinds.map((kind) => [kind.kind, kind]));
