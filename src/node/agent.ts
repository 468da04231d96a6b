import { configMapKind } from '../api/kinds/core/config-map.ts';
import { eventKind } from '../api/kinds/core/event.ts';
import { secretKind } from '../api/kinds/core/secret.ts';
import type { ConfigMap, CSIDriver, Pod, Secret } from '../api/generated/types.ts';
import { csiDriverKind } from '../api/kinds/storage/csi-driver.ts';
import type { CsiSocket, NodeDriver } from '../drivers/contract.ts';
import type { Channel } from '../grpc/channel.ts';
import { type Client, createClient } from '../client/client.ts';
import { Informers } from '../client/informers/informers.ts';
import { Trigger, runController } from '../client/controller/loop.ts';
import { EventRecorder } from '../client/events/event-recorder.ts';
import type { Transport } from '../client/transport.ts';
import type { Disk } from '../world/disk.ts';
import type { Manifests } from '../world/manifests.ts';
import type { HostFiles, Mounts } from '../world/mounts.ts';
import type { Sockets } from '../world/sockets.ts';
import type { World } from '../world/world.ts';
import { NodeAllocations } from './allocations.ts';
import { NodeCaches } from './cache/node-caches.ts';
import { nodeSources } from './cache/sources.ts';
import type { NodeStats } from './kubelet-api/node-stats.ts';
import type { Host } from './host.ts';
import type { ImageManager } from './images/image-manager.ts';
import { LeaseRenewals } from './lease/lease-renewals.ts';
import { VolumeManager } from './volume-manager/volume-manager.ts';
import { AllocatableUpdates } from './plugin-registration/allocatable-updates.ts';
import { PluginManager } from './plugin-registration/plugin-manager.ts';
import { registration } from './registration/controller.ts';
import { PluginDrivers } from './registration/plugin-drivers.ts';
import type { PodsContext } from './pod-worker/context.ts';
import { podsController } from './pod-worker/controller.ts';
import { servicesFrom } from './pod-worker/services.ts';
import type { Runtime } from './runtime.ts';
import { staticPods } from './static-pods/controller.ts';
import { KubeletPages } from './kubelet-api/pages.ts';
import { nodeStats } from './kubelet-api/volume-usages.ts';
import { VolumesInUse } from './volumes-in-use.ts';

export interface NodeAgentOptions {
  readonly world: World;
  readonly host: Host;
  /** The informers'. */
  readonly readTransport: Transport;
  /** The event recorder's. */
  readonly eventTransport: Transport;
  /** The node's own, for what it writes about itself and its pods. */
  readonly nodeTransport: Transport;
  readonly machine: { readonly mounts: Mounts; readonly files: HostFiles };
  readonly disk: Disk;
  /** The node's directory, absolute and without links. */
  readonly root: string;
  readonly runtime: Runtime;
  /** Absent: images are only names, and nothing runs. */
  readonly images?: ImageManager;
  readonly drivers: (context: DriverContext) => NodeDrivers;
  /** Absent: CSI drivers cannot register by sockets. `connect`: to 'unix:///path'. */
  readonly plugins?: {
    readonly sockets: Sockets;
    readonly connect: (address: string) => Channel;
    /** Called with the address ('unix:///path') of each driver that registered. */
    readonly onEndpoint?: ((driver: string, address: string) => void) | undefined;
  };
  /** Absent: the node has no static pods. */
  readonly manifests?: Manifests;
  /** The DNS server of the cluster's names. Absent: pods use the host's. */
  readonly nameServer?: string | undefined;
  /** As in `PodSandboxSpec`. */
  readonly fromHostLoopback?: boolean;
  /** As in `PodsContext`. */
  readonly awaitNetworkPolicies?: PodsContext['awaitNetworkPolicies'] | undefined;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

/** The volume types that a node can mount. */
export interface NodeDrivers {
  readonly drivers: readonly NodeDriver[];
  /** For drivers that are known only once a volume names them. */
  readonly findDriver: (name: string) => NodeDriver | undefined;
}

/** What a node's drivers are built with. */
export interface DriverContext {
  readonly nodeName: string;
  readonly configMap: (key: string) => ConfigMap | undefined;
  readonly secret: (key: string) => Secret | undefined;
  readonly csiDriver: (name: string) => CSIDriver | undefined;
  /** Undefined: no CSI driver of that name is registered. */
  readonly csiSocket: (driver: string) => CsiSocket | undefined;
  /** By resource. */
  readonly allocatable: () => Readonly<Record<string, string>>;
  /** Under the node's own name. */
  readonly client: Client;
}

export interface NodeAgent {
  readonly pages: KubeletPages;
  readonly stats: NodeStats;
  /** The node's pods, from the cache. */
  readonly pods: () => readonly Pod[];
  /** Under the node's own name. */
  readonly client: Client;
  /** Resolves once the node is registered and ready. */
  readonly ready: Promise<void>;
  /** Containers continue and volumes stay mounted: the next agent finds them. */
  stop(): Promise<void>;
}

/** The agent of one machine on which pods really run. */
export async function startNodeAgent(options: NodeAgentOptions): Promise<NodeAgent> {
  const { world, host, runtime, sha256, machine, disk, root } = options;
  const { name } = host;
  const hosts = new Map([[name, host]]);
  const informers = new Informers({ world, client: createClient({ transport: options.readTransport }) });
  const client = createClient({ transport: options.nodeTransport, observer: informers.observer });
  const recorder = new EventRecorder({
    world,
    client: createClient({ transport: options.eventTransport }),
    eventKind,
    component: 'kubelet',
    waitingLimit: eventLimit,
  });
  const [allocations, inUse] = [new NodeAllocations(), new VolumesInUse()];
  const registeredDrivers = options.plugins === undefined ? undefined : new PluginDrivers(name);
  const isRegistered = (driver: string): boolean => registeredDrivers?.has(driver) === true;
  const caches = new NodeCaches({ hosts, informers, allocations, inUse, isRegistered, sha256 });
  let plugins: Plugins | undefined;
  const { drivers, findDriver } = options.drivers({
    nodeName: name,
    configMap: (key) => informers.cache(configMapKind).getKey(key),
    secret: (key) => informers.cache(secretKind).getKey(key),
    csiDriver: (driver) => informers.cache(csiDriverKind).getKey(driver),
    csiSocket: (driver) => plugins?.manager.socketOf(driver),
    allocatable: () => caches.nodes.getKey(name)?.status.allocatable ?? host.capacity,
    client,
  });
  // Each needs the other: no volume is unmounted that a container uses, no container is started before its volumes are mounted.
  const podActivity = { mayRun: (uid: string): boolean => pods.activity.mayRun(uid) };
  const volumes = await VolumeManager.open({
    world,
    machine,
    disk,
    root,
    host,
    caches,
    inUse,
    client,
    recorder,
    drivers,
    findDriver,
    podActivity,
    sha256,
  });
  const pods = podsController({
    world,
    hosts,
    caches,
    clientOf: () => client,
    recorder,
    allocations,
    runtime,
    ...(options.images === undefined ? {} : { images: options.images }),
    volumes,
    services: servicesFrom(informers),
    sha256,
    ...(options.nameServer === undefined ? {} : { nameServer: options.nameServer }),
    fromHostLoopback: options.fromHostLoopback ?? false,
    ...(options.awaitNetworkPolicies === undefined ? {} : { awaitNetworkPolicies: options.awaitNetworkPolicies }),
    readSeccompProfile: (name) => machine.files.read(`${root}/seccomp/${name}`),
  });
  const renewals = new LeaseRenewals({ world, clientOf: () => client, node: (node) => caches.nodes.getKey(node) });
  const changed = new Trigger<string>();
  volumes.subscribe(() => changed.fire(name));
  const { promise: ready, resolve: onReady } = promised();
  const registering = registration({
    hosts,
    clientOf: () => client,
    informers,
    recorder,
    world,
    inUse,
    volumesInUse: (node) => new Set([...caches.attachableVolumes(node), ...volumes.attachedVolumes()]),
    sources: [...nodeSources(caches), changed],
    ...(registeredDrivers === undefined ? {} : { plugins: registeredDrivers }),
    onRegistered: (node) => renewals.add(node),
    onReady,
    onReported: () => volumes.onStatusReported(),
  });
  // Before any pod is decided about, and before any volume is unmounted.
  await pods.recover();
  const loop = { world, informers };
  const { manifests } = options;
  const fromFiles =
    manifests === undefined ? undefined : staticPods({ node: name, caches, client, log: world.log, sha256, manifests, directory: `${root}/manifests` });
  const loops = [runController(registering, loop), runController(volumes.controller, loop), runController(pods.controller, loop)];
  if (fromFiles !== undefined) loops.push(runController(fromFiles, loop));
  if (registeredDrivers !== undefined && options.plugins !== undefined) {
    const built = { drivers: registeredDrivers, informers, onRegistered: (driver: string) => volumes.onDriverRegistered(driver) };
    plugins = startPlugins({ ...options, ...options.plugins }, built);
  }
  informers.start();
  const stats = nodeStats(volumes, world.clock);
  const pages = new KubeletPages({ nodeName: name, pods: () => volumes.pods(), stats, runtime, files: machine.files, root, clock: world.clock });
  return {
    ready,
    stats,
    pages,
    pods: () => caches.podsOn(name),
    client,
    async stop() {
      renewals.stop();
      await Promise.all(loops.map((each) => each.stop()));
      pods.stop();
      // Calls in flight are canceled: a driver that hangs keeps no agent from ending.
      plugins?.stop();
      await volumes.stop();
      await recorder.stop();
      informers.stop();
      await runtime.close();
    },
  };
}

interface Plugins {
  readonly manager: PluginManager;
  stop(): void;
}

interface PluginParts {
  readonly drivers: PluginDrivers;
  readonly informers: Informers;
  readonly onRegistered: (driver: string) => void;
}

/** The registration of CSI drivers by their sockets. */
function startPlugins(
  { world, root, machine, host, sockets, connect, onEndpoint }: NodeAgentOptions & NonNullable<NodeAgentOptions['plugins']>,
  { drivers, informers, onRegistered }: PluginParts,
): Plugins {
  const manager: PluginManager = new PluginManager({
    world,
    root,
    sockets,
    connect,
    drivers,
    files: machine.files,
    builtIn: new Set(host.drivers.map((driver) => driver.name)),
    onRegistered: (driver, address) => {
      updates.sync(driver);
      onEndpoint?.(driver, address);
      onRegistered(driver);
    },
  });
  const updates = new AllocatableUpdates({
    node: host.name,
    informers,
    timers: world.timers,
    registered: () => manager.names(),
    refresh: (driver) => manager.refresh(driver),
  });
  return {
    manager,
    stop: () => {
      updates.stop();
      manager.stop();
    },
  };
}

/** For many pods that start at once. */
const eventLimit = 10_000;

function promised(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
