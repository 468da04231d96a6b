/** The whole control plane on virtual time: the real API server, every controller with its own identity, and a driver without a disk. */
import { createHash } from 'node:crypto';
import type { PersistentVolume, Pod } from '../../api/generated/types.ts';
import type { Kind } from '../../api/kind.ts';
import { allKinds, followedKinds } from '../../api/kinds/index.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { KubeObject } from '../../api/object.ts';
import type { VolumeDriver } from '../../drivers/contract.ts';
import { DriverSet } from '../../drivers/driver-set.ts';
import { hostPathDriver } from '../../drivers/host-path/driver.ts';
import { bootstrap } from '../../cluster/apiserver/bootstrap.ts';
import { controllerAuthorizer } from '../../cluster/access/controller-roles.ts';
import { startControllers } from '../../cluster/controllers/controllers.ts';
import { createInProcessTransport } from '../../cluster/access/in-process-transport.ts';
import { type Connect, type ConnectNode, connectInProcess, connectNodesInProcess, systemClient } from '../../cluster/access/identities.ts';
import { type NodeOptions, nodeSettings } from '../../cluster/nodes/node-settings.ts';
import { startScheduler } from '../../cluster/scheduler.ts';
import type { Client, Draft, Ref, Result } from '../../client/client.ts';
import type { RunningControllers } from '../../client/controller/leader-elected-controllers.ts';
import { type LeaderElectionTiming, defaultTiming } from '../../client/controller/leader-election.ts';
import type { LoopOptions } from '../../client/controller/loop.ts';
import type { Transport } from '../../client/transport.ts';
import { hollowHosts } from '../../node/runtimes/hollow/hosts.ts';
import type { Host } from '../../node/host.ts';
import { type HollowNodes, runHollowNodes } from '../../node/hollow-nodes.ts';
import { NodeReader } from '../../node/object-reader/node-reader.ts';
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';
import { RbacAuthorizer } from '../../apiserver/authorization/rbac/authorizer.ts';
import { createApi } from '../../apiserver/create-api.ts';
import type { Store } from '../../store/contract.ts';
import type { SimulatedMachine } from '../host/simulated-machine.ts';
import { SimulatedDirectories } from '../drivers/simulated-directories.ts';
import { SimulatedDiskDriver } from '../drivers/simulated-disk-driver.ts';
import type { SimulatedProcess } from '../world/process.ts';
import type { SimulatedWorld } from '../world/world.ts';
import type { World } from '../../world/world.ts';
import { allowOthers } from './access.ts';
import { type SimulatedAgentOptions, startSimulatedAgent } from './simulated-agent.ts';
import { simulatedCertificate } from './certificate.ts';
import { type ServedApi, SimulatedServer, type SimulatedServerOptions } from './simulated-server.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

export const ok = <T>(result: Result<T>): T => {
  if (!result.ok) throw result.error;
  return result.value;
};

/** Directories that can run out of space. */
class Directories extends SimulatedDirectories {
  /** While set, every attempt to create a directory fails. */
  full = false;

  override async make(path: string): Promise<void> {
    if (this.full) throw new Error('no space left on device');
    await super.make(path);
  }
}

export interface SimulatedClusterOptions {
  readonly bindsTogether?: boolean;
  readonly authorizer?: Authorizer;
  /** False: the test starts the controllers itself. */
  readonly controllers?: boolean;
  /** Default: memory. */
  readonly store?: SimulatedServerOptions['store'];
  /** Faults of the store's disk. */
  readonly disk?: SimulatedServerOptions['disk'];
  readonly disks?: SimulatedDiskDriver;
  readonly onRequest?: SimulatedServerOptions['onRequest'];
  /** Leader election; default: as in production. */
  readonly timing?: LeaderElectionTiming;
}

export interface ControllerProcess {
  readonly world: World;
  readonly identity: string;
  readonly takeOver?: boolean;
  /** Wraps the connection to the server. */
  readonly through?: (server: Transport) => Transport;
  /** Wraps a driver. */
  readonly throughTo?: (driver: VolumeDriver) => VolumeDriver;
  /** Called with the drivers of the process: more may be added. */
  readonly onDrivers?: (drivers: DriverSet) => void;
}

export interface NodeProcess {
  readonly hosts: ReadonlyMap<string, Host>;
  readonly world?: World;
  /** Wraps the connection to the server. */
  readonly through?: (server: Transport) => Transport;
  readonly onAction?: LoopOptions['onAction'];
}

export interface AgentProcess {
  readonly host: Host;
  readonly process: SimulatedProcess;
  readonly world: World;
  readonly machine: SimulatedMachine;
  /** As in `SimulatedAgentOptions`. */
  readonly plugins?: SimulatedAgentOptions['plugins'];
  /** Wraps the connection to the server. */
  readonly through: (server: Transport) => Transport;
  /** It reads as `moor node` does: only the objects that concern its node. */
  readonly readsAsNode?: boolean;
}

const machine = { architecture: 'amd64', kernelVersion: '', osImage: '', containerRuntimeVersion: 'hollow://test', kubeletVersion: 'v1.36.4' };

/** A cluster for tests. Its helpers throw if the server refuses a request. */
export class SimulatedCluster {
  readonly server: SimulatedServer;
  readonly client: Client;
  readonly directories = new Directories();
  readonly disks: SimulatedDiskDriver;
  readonly #world: SimulatedWorld;
  readonly #connect: Connect;
  /** What an agent reads as its node: there is no Node authorizer here. */
  readonly #reader: Transport;
  readonly #connectNode: ConnectNode;
  readonly #bindsTogether: boolean;
  readonly #timing: LeaderElectionTiming;

  static async start(world: SimulatedWorld, options: SimulatedClusterOptions = {}): Promise<SimulatedCluster> {
    const cluster = SimulatedCluster.prepare(world, options);
    await cluster.server.start();
    if (options.controllers ?? true) {
      cluster.startControllers({ world, identity: 'test', takeOver: true });
      cluster.startScheduler({ identity: 'test', takeOver: true });
    }
    await cluster.wait();
    return cluster;
  }

  /** A cluster in which nothing runs yet, not even the server. */
  static prepare(world: SimulatedWorld, options: SimulatedClusterOptions = {}): SimulatedCluster {
    return new SimulatedCluster(world, options);
  }

  private constructor(world: SimulatedWorld, options: SimulatedClusterOptions) {
    const { authorizer = controllerAuthorizer(allowOthers), store = 'memory', disk } = options;
    this.#world = world;
    this.disks = options.disks ?? new SimulatedDiskDriver();
    this.server = new SimulatedServer({
      world,
      store,
      onRequest: options.onRequest,
      serve: (run) => serve(run, authorizer),
      ...(disk === undefined ? {} : { disk }),
    });
    const { api } = this.server;
    this.client = systemClient(api, 'test');
    this.#reader = createInProcessTransport(api, { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }, 'moor/node');
    this.#connect = connectInProcess(api, authorizer);
    this.#connectNode = connectNodesInProcess(api, authorizer);
    this.#bindsTogether = options.bindsTogether ?? true;
    this.#timing = options.timing ?? defaultTiming;
  }

  /** Starts a process with all controllers, which lead or stand by. */
  startControllers({
    world,
    identity,
    takeOver = false,
    through = (server) => server,
    throughTo = (driver) => driver,
    onDrivers,
  }: ControllerProcess): RunningControllers {
    const drivers = new DriverSet([hostPathDriver({ directories: this.directories, sha256, cluster: 'test' }), this.disks].map(throughTo));
    onDrivers?.(drivers);
    return startControllers({
      connect: (name) => through(this.#connect(name)),
      world,
      kinds: followedKinds,
      housekeeping: { rootCa: 'PEM', sign: async () => simulatedCertificate },
      drivers,
      bindsTogether: this.#bindsTogether,
      election: { identity, takeOver, timing: this.#timing },
    });
  }

  /** Hosts node-1, node-2 …, with the cluster's disk driver. */
  hosts(options: NodeOptions): ReadonlyMap<string, Host> {
    return hollowHosts(nodeSettings({ csiDrivers: [this.disks.capabilities.name], ...options }), machine, sha256);
  }

  /** Starts a process with the agents of hollow nodes. */
  startNodes({ hosts, world = this.#world, through = (server) => server, onAction }: NodeProcess): HollowNodes {
    const [reader, teller] = [through(this.#connect('moor-informers')), through(this.#connect('hollow-nodes'))];
    const as = (node: string) => through(this.#connectNode(node));
    return runHollowNodes({
      world,
      hosts,
      readTransport: reader,
      eventTransport: teller,
      transportOf: as,
      sha256,
      ...(onAction === undefined ? {} : { onAction }),
    });
  }

  /** Starts the agent of a machine in its process. */
  startAgent({ host, process, world, machine, plugins, through, readsAsNode = false }: AgentProcess): void {
    startSimulatedAgent({
      host,
      process,
      world,
      machine,
      ...(plugins === undefined ? {} : { plugins }),
      diskDriver: this.disks.capabilities.name,
      readTransport: readsAsNode
        ? new NodeReader({ transport: through(this.#reader), node: host.name, world, sha256 })
        : through(this.#connect('moor-informers')),
      eventTransport: through(this.#connect('hollow-nodes')),
      nodeTransport: through(this.#connectNode(host.name)),
      sha256,
    });
  }

  /** Starts a process with the scheduler, which leads or stands by. */
  startScheduler({
    world = this.#world,
    identity,
    takeOver = false,
    through = (server) => server,
  }: Partial<Pick<ControllerProcess, 'world'>> & Omit<ControllerProcess, 'world'>): RunningControllers {
    const connect: Connect = (name) => through(this.#connect(name));
    return startScheduler({ connect, world, bindsTogether: this.#bindsTogether, election: { identity, takeOver, timing: this.#timing } });
  }

  /** By default long enough for the controllers to settle, and shorter than any timeout. */
  wait(ms = 3_000): Promise<void> {
    return this.#world.sleep(ms);
  }

  async create<T extends KubeObject>(kind: Kind<T>, object: Draft<T>): Promise<T> {
    return ok(await this.client.create(kind, object));
  }

  async change<T extends KubeObject>(kind: Kind<T>, ref: Ref, change: (object: T) => T): Promise<void> {
    ok(await this.client.update(kind, change(ok(await this.client.get(kind, ref)))));
  }

  async changeStatus<T extends KubeObject>(kind: Kind<T>, ref: Ref, change: (object: T) => T): Promise<void> {
    ok(await this.client.updateStatus(kind, change(ok(await this.client.get(kind, ref)))));
  }

  async delete<T extends KubeObject>(kind: Kind<T>, ref: Ref, propagation?: 'Orphan' | 'Foreground'): Promise<void> {
    ok(await this.client.delete(kind, ref, propagation === undefined ? {} : { propagation }));
    await this.wait();
  }

  async isGone<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<boolean> {
    const found = await this.client.get(kind, ref);
    return !found.ok && found.reason === 'notFound';
  }

  volume(name: string, spec: Draft<PersistentVolume['spec']> = {}): Promise<PersistentVolume> {
    return this.create(persistentVolumeKind, {
      metadata: { name },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: `/tmp/${name}` }, ...spec },
    });
  }

  async claim(name: string, storageClassName = ''): Promise<void> {
    await this.create(persistentVolumeClaimKind, {
      metadata: { namespace: 'default', name },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName },
    });
    await this.wait();
  }

  async pod(name: string, node: string | undefined, volumes: Draft<Pod['spec']['volumes']>): Promise<void> {
    await this.create(podKind, {
      metadata: { namespace: 'default', name },
      spec: { ...(node === undefined ? {} : { nodeName: node }), terminationGracePeriodSeconds: 0, containers: [{ name: 'app', image: 'image' }], volumes },
    });
    await this.wait();
  }

  async phaseOfClaim(name: string): Promise<string | undefined> {
    return ok(await this.client.get(persistentVolumeClaimKind, { namespace: 'default', name })).status.phase;
  }
}

/** One run of the API server on the store. */
async function serve({ world, store }: { readonly world: World; readonly store: Store }, authorizer: Authorizer): Promise<ServedApi> {
  const api = createApi({ store, kinds: allKinds, world, extensions: { authorizer }, access: { authorizer, rbac: new RbacAuthorizer() } });
  await bootstrap(systemClient(api, 'apiserver'), 6443);
  return api;
}
