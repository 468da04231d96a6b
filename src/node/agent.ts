import { configMapKind } from '../api/kinds/config-map.ts';
import { eventKind } from '../api/kinds/event.ts';
import { secretKind } from '../api/kinds/secret.ts';
import type { ConfigMap, Pod, Secret } from '../api/generated/types.ts';
import type { NodeDriver } from '../drivers/contract.ts';
import { type Client, createClient } from '../machinery/client.ts';
import { Informers } from '../machinery/informers.ts';
import { Bell, runController } from '../machinery/loop.ts';
import { Recorder } from '../machinery/recorder.ts';
import type { Transport } from '../machinery/transport.ts';
import type { Disk } from '../world/disk.ts';
import type { HostFiles, Mounts } from '../world/mounts.ts';
import type { World } from '../world/world.ts';
import { Holdings } from './holdings.ts';
import { View } from './sight/view.ts';
import { nodeWakes } from './sight/wakes.ts';
import type { NodeStats } from './endpoint/stats.ts';
import type { Host } from './host.ts';
import { Renewals } from './lease/renewals.ts';
import { VolumeKeeper } from './mounting/keeper.ts';
import { NameServer } from './names/server.ts';
import { namesFrom } from './names/sight.ts';
import { registration } from './registration/controller.ts';
import { gatewayOf } from './names/gateway.ts';
import { runningPods } from './running/controller.ts';
import type { Runtime } from './runtime.ts';
import { NodePages } from './stats/pages.ts';
import { nodeStats } from './stats/volume-usages.ts';

export interface NodeAgentOptions {
  readonly world: World;
  readonly host: Host;
  /** For following objects. */
  readonly reader: Transport;
  /** For telling events. */
  readonly teller: Transport;
  /** For what the node writes about itself and its pods. */
  readonly own: Transport;
  readonly machine: { readonly mounts: Mounts; readonly files: HostFiles };
  readonly disk: Disk;
  /** The node's directory, absolute and without links. */
  readonly root: string;
  readonly runtime: Runtime;
  readonly drivers: (around: DriversAround) => NodeDrivers;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
}

/** The volume types that a node can mount. */
export interface NodeDrivers {
  readonly drivers: readonly NodeDriver[];
  /** Those that nobody knows before a volume names them. */
  readonly findDriver: (name: string) => NodeDriver | undefined;
}

/** What drivers of a node may know of the cluster. */
export interface DriversAround {
  readonly nodeName: string;
  readonly configMap: (key: string) => ConfigMap | undefined;
  readonly secret: (key: string) => Secret | undefined;
  /** What the node can give to pods, by resource. */
  readonly allocatable: () => Readonly<Record<string, string>>;
  /** Under the node's own name. */
  readonly client: Client;
}

export interface NodeAgent {
  /** What the node tells whoever may ask, by the paths of kubelets. */
  readonly pages: NodePages;
  readonly stats: NodeStats;
  /** Those that are to run here, as they are now. */
  readonly pods: () => readonly Pod[];
  /** Under the node's own name. */
  readonly client: Client;
  /** Resolves once the node is registered and ready. */
  readonly ready: Promise<void>;
  /** Containers go on and volumes stay mounted: the next agent finds them. */
  stop(): Promise<void>;
}

/** The agent of one machine on which pods really run. */
export async function startNodeAgent(options: NodeAgentOptions): Promise<NodeAgent> {
  const { world, host, runtime, sha256, machine, disk, root } = options;
  const { name } = host;
  const hosts = new Map([[name, host]]);
  const informers = new Informers({ world, client: createClient({ transport: options.reader }) });
  const client = createClient({ transport: options.own, observer: informers.observer });
  const recorder = new Recorder({ world, client: createClient({ transport: options.teller }), eventKind, component: 'kubelet', waitingLimit: eventLimit });
  const holdings = new Holdings();
  const view = new View({ hosts, informers, holdings, sha256 });
  const { drivers, findDriver } = options.drivers({
    nodeName: name,
    configMap: (key) => informers.cache(configMapKind).getKey(key),
    secret: (key) => informers.cache(secretKind).getKey(key),
    allocatable: () => view.nodes.getKey(name)?.status.allocatable ?? host.capacity,
    client,
  });
  // Each needs the other: nothing is unmounted that a container uses, no container is started before its volumes are there.
  const tenants = { mayRun: (uid: string): boolean => pods.tenants.mayRun(uid) };
  const volumes = await VolumeKeeper.open({ world, machine, disk, root, host, view, holdings, client, recorder, drivers, findDriver, tenants, sha256 });
  const names = new NameServer({ world, address: gatewayOf(host.podCidr), sight: namesFrom(informers) });
  const asking = { nameServer: gatewayOf(host.podCidr), onPlaced: () => names.listen() };
  const pods = runningPods({ world, host, informers, client, recorder, holdings, runtime, volumes, sha256, ...asking });
  const renewals = new Renewals({ world, clientOf: () => client, node: (node) => view.nodes.getKey(node) });
  const changed = new Bell<string>();
  volumes.subscribe(() => changed.ring(name));
  const { promise: ready, resolve: onReady } = promised();
  const registering = registration({
    hosts,
    clientOf: () => client,
    informers,
    recorder,
    world,
    holdings,
    volumesInUse: (node) => [...new Set([...view.volumesInUse(node), ...volumes.attached()])].sort(),
    wakes: [...nodeWakes(view), changed],
    onRegistered: (node) => renewals.add(node),
    onReady,
    onReported: () => volumes.reported(),
  });
  // What runs is known before anything is decided about it, or unmounted.
  await pods.recover();
  const loop = { world, informers };
  const loops = [runController(registering, loop), runController(volumes.controller, loop), runController(pods.controller, loop)];
  informers.start();
  const stats = nodeStats(volumes, world.clock);
  const pages = new NodePages({ nodeName: name, pods: () => volumes.pods(), stats, runtime, files: machine.files, root, clock: world.clock });
  return {
    ready,
    stats,
    pages,
    pods: () => view.podsOn(name),
    client,
    async stop() {
      renewals.stop();
      await Promise.all(loops.map((each) => each.stop()));
      pods.stop();
      names.stop();
      await volumes.stop();
      await recorder.stop();
      informers.stop();
      await runtime.close();
    },
  };
}

/** What many pods say that start at once. */
const eventLimit = 10_000;

function promised(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
