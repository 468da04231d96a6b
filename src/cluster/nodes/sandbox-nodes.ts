import { mkdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { hollowHosts, type HollowSettings } from '../../node/runtimes/hollow/hosts.ts';
import { type NodeAgent, startNodeAgent } from '../../node/agent.ts';
import type { NodeStats } from '../../node/kubelet-api/node-stats.ts';
import type { Host } from '../../node/host.ts';
import type { Runtime } from '../../node/runtime.ts';
import type { KubeletPages } from '../../node/kubelet-api/pages.ts';
import type { World } from '../../world/world.ts';
import type { Connect, ConnectNode } from '../access/identities.ts';
import type { ImageVolumes } from './image-volumes.ts';
import { sha256, describeMachine } from './machine.ts';
import { nodeDrivers } from './node-drivers.ts';
import { podCidrFor } from './pod-cidr.ts';
import { realDisk } from '../../host/disk.ts';
import { realHostFiles } from '../../host/files.ts';
import { realMounts } from '../../host/mounts.ts';
import { realPrograms } from '../../host/programs.ts';
import { localSandboxRuntime } from '../sandbox-runtime.ts';

interface Server {
  readonly connect: Connect;
  readonly connectNode: ConnectNode;
  readonly world: World;
}

export interface SandboxNodesOptions {
  readonly settings: HollowSettings;
  /** Of each node, where it is not this machine's. */
  readonly capacity: Readonly<Record<string, string>>;
  /** Where the nodes keep containers and volumes. */
  readonly directory: string;
  /** What no container is to see. */
  readonly hidden: readonly string[];
  /** Undefined: this machine can have none. */
  readonly images: ImageVolumes | undefined;
}

export interface SandboxNodes extends Pick<NodeAgent, 'ready' | 'stop'> {
  readonly hosts: ReadonlyMap<string, Host>;
  /** By node. */
  readonly offers: ReadonlyMap<string, { readonly runtime: Runtime; readonly pages: KubeletPages }>;
  readonly stats: ReadonlyMap<string, NodeStats>;
}

/** The nodes of `moor up` on which pods really run: all of them on this machine, with names and zones as hollow ones have. */
export async function startSandboxNodes({ settings, capacity, directory, hidden, images }: SandboxNodesOptions, server: Server): Promise<SandboxNodes> {
  const { world, connect, connectNode } = server;
  const machine = { architecture: '', kernelVersion: '', osImage: '', containerRuntimeVersion: '', kubeletVersion: '' };
  const hosts = new Map<string, Host>();
  const offers = new Map<string, { readonly runtime: Runtime; readonly pages: KubeletPages }>();
  const stats = new Map<string, NodeStats>();
  const agents: NodeAgent[] = [];
  for (const { name, labels } of hollowHosts({ ...settings, drivers: [] }, machine, sha256).values()) {
    const root = await nodeDirectory(path.join(directory, name));
    const own = connectNode(name);
    const alsoTaken = Array.from(hosts.values(), (other) => other.podCidr);
    const podCidr = await podCidrFor({ node: name, root: path.join(root, 'sandbox'), own, alsoTaken });
    const here = await describeMachine({ name, podCidr, root, labels: topologyLabels(labels), capacity });
    const host = images === undefined ? here : images.withDriver(here);
    const runtime = localSandboxRuntime(world, { root: path.join(root, 'sandbox'), podCidr, hidden });
    hosts.set(name, host);
    const agent = await startLocalNodeAgent(
      { host, root, runtime, images },
      { world, readTransport: connect('moor-informers'), eventTransport: connect('hollow-nodes'), nodeTransport: own },
    );
    offers.set(name, { runtime, pages: agent.pages });
    stats.set(name, agent.stats);
    agents.push(agent);
  }
  return {
    hosts,
    offers,
    stats,
    ready: Promise.all(agents.map(({ ready }) => ready)).then(() => undefined),
    stop: async () => void (await Promise.all(agents.map((agent) => agent.stop()))),
  };
}

/** The agent of a node on this machine. */
export function startLocalNodeAgent(
  { host, root, runtime, images }: { readonly host: Host; readonly root: string; readonly runtime: Runtime; readonly images?: ImageVolumes | undefined },
  server: Pick<Parameters<typeof startNodeAgent>[0], 'world' | 'readTransport' | 'eventTransport' | 'nodeTransport'>,
): Promise<NodeAgent> {
  const machine = { mounts: realMounts(), files: realHostFiles };
  const { clock } = server.world;
  const csi = images === undefined ? [] : [images.node({ ...machine, clock })];
  const drivers: Parameters<typeof startNodeAgent>[0]['drivers'] = (around) => nodeDrivers({ ...machine, programs: realPrograms, csi }, server.world, around);
  return startNodeAgent({ ...server, host, root, runtime, machine, disk: realDisk, drivers, sha256 });
}

/** Nobody but root looks into it: there are secrets. */
export async function nodeDirectory(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o711 });
  return realpath(directory);
}

const topologyLabels = (labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(labels).filter(([name]) => name.startsWith('topology.kubernetes.io/')));
