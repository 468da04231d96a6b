import path from 'node:path';
import { hollowHosts, type HollowSettings } from '../../node/runtimes/hollow/hosts.ts';
import type { NodeAgent } from '../../node/agent.ts';
import type { NodeStats } from '../../node/kubelet-api/node-stats.ts';
import type { Host } from '../../node/host.ts';
import type { Runtime } from '../../node/runtime.ts';
import type { KubeletPages } from '../../node/kubelet-api/pages.ts';
import type { World } from '../../world/world.ts';
import type { Connect, ConnectNode } from '../access/identities.ts';
import type { ImageVolumes } from './image-volumes.ts';
import { hasRunningPods, startLocalNodeAgent } from './local-node-agent.ts';
import { sha256 } from '../sha256.ts';
import { describeMachine } from './machine.ts';
import { nodeDirectory, releaseRoot, separateRoot } from './node-directory.ts';
import type { PluginSockets } from './plugin-sockets.ts';
import type { SecuritySettings } from './machine-security.ts';
import { podCidrFor } from './pod-cidr.ts';
import { type PodNetworkOptions, type RunningPodNetwork, startPodNetwork } from './pod-network.ts';
import { type ImageSettings, openImageManager } from '../image-content.ts';
import { localSandboxRuntime } from '../sandbox-runtime.ts';

interface Server {
  readonly connect: Connect;
  readonly connectNode: ConnectNode;
  readonly world: World;
}

export interface SandboxNodesOptions {
  readonly settings: HollowSettings;
  /** Of each node, where it differs from this machine's. */
  readonly capacity: Readonly<Record<string, string>>;
  /** Of the nodes' containers and volumes. */
  readonly directory: string;
  /** The directory of the one node's volumes and plugins. Undefined: `directory`. */
  readonly rootDir?: string | undefined;
  /** Undefined: this machine cannot have image volumes. */
  readonly images: ImageVolumes | undefined;
  readonly security: SecuritySettings | undefined;
  readonly imageSettings: ImageSettings | undefined;
  /** Told of the CSI drivers that register. */
  readonly plugins: PluginSockets;
  /** As in `PodNetworkOptions`. */
  readonly onBridges: PodNetworkOptions['onBridges'];
}

export interface SandboxNodes extends Pick<NodeAgent, 'ready' | 'stop'> {
  readonly hosts: ReadonlyMap<string, Host>;
  /** By node. */
  readonly endpoints: ReadonlyMap<string, { readonly runtime: Runtime; readonly pages: KubeletPages }>;
  readonly stats: ReadonlyMap<string, NodeStats>;
  readonly network: RunningPodNetwork;
}

/** The nodes of `moor up` on which pods really run: all of them on this machine, with the names and zones of hollow nodes. */
export async function startSandboxNodes(options: SandboxNodesOptions, server: Server): Promise<SandboxNodes> {
  const { settings, capacity, directory, rootDir, images, security, imageSettings, plugins, onBridges } = options;
  const { world, connect, connectNode } = server;
  const machine = { architecture: '', kernelVersion: '', osImage: '', containerRuntimeVersion: '', kubeletVersion: '' };
  const hosts = new Map<string, Host>();
  const endpoints = new Map<string, { readonly runtime: Runtime; readonly pages: KubeletPages }>();
  const stats = new Map<string, NodeStats>();
  const agents: NodeAgent[] = [];
  // All nodes are on this machine.
  const { manager: containerImages, collector, close: closeImages } = await openImageManager(path.dirname(directory), world, imageSettings);
  const described: { readonly host: Host; readonly root: string; readonly sandbox: string }[] = [];
  for (const { name, labels } of hollowHosts({ ...settings, drivers: [] }, machine, sha256).values()) {
    const root = await nodeDirectory(path.join(directory, name));
    const sandbox = path.join(root, 'sandbox');
    const alsoTaken = Array.from(hosts.values(), (other) => other.podCidr);
    const podCidr = await podCidrFor({ node: name, root: sandbox, own: connectNode(name), alsoTaken });
    const machineHost = await describeMachine({ name, podCidr, root, labels: topologyLabels(labels), capacity, security });
    const host = images === undefined ? machineHost : images.withDriver(machineHost);
    hosts.set(name, host);
    described.push({ host, root, sandbox });
  }
  // Before any pod runs.
  const network = await startPodNetwork({
    world,
    directory,
    nodes: described,
    transport: connect('moor-informers'),
    eventTransport: connect('hollow-nodes'),
    onBridges,
  });
  for (const { host, root, sandbox } of described) {
    const { name } = host;
    const runtime = localSandboxRuntime(world, { root: sandbox, podCidr: host.podCidr });
    collector.follow(runtime);
    const agent = await startLocalNodeAgent(
      {
        host,
        root: rootDir === undefined ? root : await separateRoot(root, rootDir),
        runtime,
        images,
        containerImages,
        network,
        plugins,
      },
      { world, readTransport: connect('moor-informers'), eventTransport: connect('hollow-nodes'), nodeTransport: connectNode(name) },
    );
    endpoints.set(name, { runtime, pages: agent.pages });
    stats.set(name, agent.stats);
    agents.push(agent);
  }
  collector.start();
  return {
    hosts,
    endpoints,
    stats,
    network,
    ready: Promise.all(agents.map(({ ready }) => ready)).then(() => undefined),
    stop: async () => {
      await Promise.all(agents.map((agent) => agent.stop()));
      await network.stop({ podsGoOn: agents.some(hasRunningPods) });
      await closeImages();
      for (const name of hosts.keys()) await releaseRoot(path.join(directory, name));
    },
  };
}

const topologyLabels = (labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(labels).filter(([name]) => name.startsWith('topology.kubernetes.io/')));
