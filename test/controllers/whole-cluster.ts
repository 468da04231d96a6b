/** The whole control plane in simulated time: the real registry, every controller under its own name, and a driver without a disk. */
import { createHash } from 'node:crypto';
import type { PersistentVolume, Pod } from '../../src/api/generated/types.ts';
import type { Kind } from '../../src/api/kind.ts';
import { allKinds } from '../../src/api/kinds/index.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/persistent-volume.ts';
import { podKind } from '../../src/api/kinds/workloads/pod.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { DriverSet } from '../../src/drivers/driver-set.ts';
import { hostPathDriver } from '../../src/drivers/host-path/driver.ts';
import { bootstrap } from '../../src/main/bootstrap.ts';
import { controllersByRole } from '../../src/main/controller-roles.ts';
import { startControllers } from '../../src/main/controllers.ts';
import { type Connect, type ConnectNode, connectInProcess, connectNodesInProcess, systemClient } from '../../src/main/identities.ts';
import { nodeSettings } from '../../src/main/node-settings.ts';
import { startScheduler } from '../../src/main/scheduler.ts';
import type { Client, Draft, Ref, Result } from '../../src/machinery/client.ts';
import type { RunningControllers } from '../../src/machinery/controllers.ts';
import type { LoopOptions } from '../../src/machinery/loop.ts';
import type { Transport } from '../../src/machinery/transport.ts';
import { hollowHosts } from '../../src/node/hollow/hosts.ts';
import { type HollowNodes, runHollowNodes } from '../../src/node/hollow/nodes.ts';
import type { Authorizer } from '../../src/server/auth/authorizer.ts';
import { RbacAuthorizer } from '../../src/server/auth/rbac/authorizer.ts';
import { createApi } from '../../src/server/create-api.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { SimulatedDirectories } from '../../src/sim/directories.ts';
import { SimulatedDisks } from '../../src/sim/disks.ts';
import { othersMayAll } from '../server/authenticated-may-all.ts';
import type { SimulatedWorld } from '../../src/sim/world.ts';
import type { World } from '../../src/world/world.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

export const ok = <T>(result: Result<T>): T => {
  if (!result.ok) throw result.error;
  return result.value;
};

/** Directories that exist in name only. */
class Directories extends SimulatedDirectories {
  /** Every attempt to make one fails, as long as this is set. */
  full = false;

  override async make(path: string): Promise<void> {
    if (this.full) throw new Error('no space left on device');
    await super.make(path);
  }
}

export interface WholeClusterOptions {
  readonly bindsTogether?: boolean;
  readonly authorizer?: Authorizer;
  /** False: whoever wants controllers starts them. */
  readonly controllers?: boolean;
}

export interface ControllerProcess {
  readonly world: World;
  readonly identity: string;
  readonly takeOver?: boolean;
  /** What lies between it and the server. */
  readonly through?: (server: Transport) => Transport;
}

export interface NodeProcess {
  readonly count: number;
  readonly world?: World;
  /** What lies between it and the server. */
  readonly through?: (server: Transport) => Transport;
  readonly onAction?: LoopOptions['onAction'];
}

const machine = { architecture: 'amd64', kernelVersion: '', osImage: '', containerRuntimeVersion: 'hollow://test', kubeletVersion: 'v1.36.4' };

interface Made {
  readonly client: Client;
  readonly connect: Connect;
  readonly connectNode: ConnectNode;
  readonly bindsTogether: boolean | undefined;
}

/** What people, kubelets and CSI sidecars do in it. Everything fails the test if the server refuses it. */
export class WholeCluster {
  readonly client: Client;
  readonly directories = new Directories();
  readonly disks = new SimulatedDisks();
  readonly #world: SimulatedWorld;
  readonly #connect: Connect;
  readonly #connectNode: ConnectNode;
  readonly #bindsTogether: boolean;

  static async start(world: SimulatedWorld, options: WholeClusterOptions = {}): Promise<WholeCluster> {
    const { authorizer = controllersByRole(othersMayAll) } = options;
    const api = createApi({ store: openMemoryStore(), kinds: allKinds, world, extensions: { authorizer }, access: { authorizer, rbac: new RbacAuthorizer() } });
    const cluster = new WholeCluster(world, {
      client: systemClient(api, 'test'),
      connect: connectInProcess(api, authorizer),
      connectNode: connectNodesInProcess(api, authorizer),
      bindsTogether: options.bindsTogether,
    });
    await bootstrap(cluster.client, 6443);
    if (options.controllers ?? true) {
      cluster.run({ world, identity: 'test', takeOver: true });
      cluster.schedule({ identity: 'test', takeOver: true });
    }
    await cluster.wait();
    return cluster;
  }

  private constructor(world: SimulatedWorld, made: Made) {
    this.#world = world;
    this.client = made.client;
    this.#connect = made.connect;
    this.#connectNode = made.connectNode;
    this.#bindsTogether = made.bindsTogether ?? true;
  }

  /** A process with all controllers, which lead or stand by. */
  run({ world, identity, takeOver = false, through = (server) => server }: ControllerProcess): RunningControllers {
    return startControllers({
      connect: (name) => through(this.#connect(name)),
      world,
      kinds: allKinds,
      housekeeping: { rootCa: 'PEM' },
      drivers: new DriverSet([hostPathDriver({ directories: this.directories, sha256, cluster: 'test' }), this.disks]),
      bindsTogether: this.#bindsTogether,
      election: { identity, takeOver },
    });
  }

  /** A process with hollow nodes, which know the cluster's disks. */
  runNodes({ count, world = this.#world, through = (server) => server, onAction }: NodeProcess): HollowNodes {
    const settings = nodeSettings({ count, csiDrivers: [this.disks.facts.name] });
    const hosts = hollowHosts(settings, machine, sha256);
    const [reader, teller] = [through(this.#connect('moor-informers')), through(this.#connect('hollow-nodes'))];
    const as = (node: string) => through(this.#connectNode(node));
    return runHollowNodes({ world, hosts, reader, teller, as, sha256, ...(onAction === undefined ? {} : { onAction }) });
  }

  /** A process with the scheduler, which leads or stands by. */
  schedule({
    world = this.#world,
    identity,
    takeOver = false,
    through = (server) => server,
  }: Partial<Pick<ControllerProcess, 'world'>> & Omit<ControllerProcess, 'world'>): RunningControllers {
    const connect: Connect = (name) => through(this.#connect(name));
    return startScheduler({ connect, world, bindsTogether: this.#bindsTogether, election: { identity, takeOver } });
  }

  /** Long enough for whatever follows from what was done, short enough for nothing to be given up. */
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
