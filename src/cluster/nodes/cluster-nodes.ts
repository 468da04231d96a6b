/** The nodes in the API server's process: hollow ones, or this machine. */
import type { NodeStats } from '../../node/kubelet-api/node-stats.ts';
import type { Host } from '../../node/host.ts';
import type { HollowSettings } from '../../node/runtimes/hollow/hosts.ts';
import type { VolumeDriver } from '../../drivers/contract.ts';
import type { PodStreams } from '../../streams/contract.ts';
import type { RunningApi } from '../../apiserver/create-api.ts';
import type { Auditor } from '../../apiserver/audit/auditor.ts';
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';
import type { World } from '../../world/world.ts';
import type { ClusterCloud } from '../cloud/cluster-cloud.ts';
import { abandonedNodes, hollowMachine, type HollowNodesInProcess, runHosts, startHollowNodes } from './hollow-nodes.ts';
import { connectInProcess, connectNodesInProcess, inSharedTurns, systemClient } from '../access/identities.ts';
import { nodesDirectory } from './network-table.ts';
import type { ImageVolumes } from './image-volumes.ts';
import type { ImageSettings } from '../image-content.ts';
import type { SecuritySettings } from './machine-security.ts';
import type { PluginSockets } from './plugin-sockets.ts';
import type { SandboxNodes } from './sandbox-nodes.ts';
import type { CleanupStack } from '../cleanup-stack.ts';

export type NodeRuntime = 'hollow' | 'sandbox';

/** How components in this process reach the API server. */
export interface ApiAccess {
  readonly api: RunningApi;
  readonly world: World;
  readonly authorizer: Authorizer;
  readonly auditor: Auditor | undefined;
}

export interface ClusterNodes {
  readonly runtime: NodeRuntime;
  /** Why pods cannot run, where they were to run if possible. */
  readonly why: string | undefined;
  /** In order. */
  readonly running: readonly { readonly name: string; readonly zone: string | undefined }[];
  /** Names of nodes of an earlier start that do not run now: they become NotReady. */
  readonly abandoned: readonly string[];
  /** Why Services do not work on the nodes of this process; undefined: they do, or nothing runs. */
  readonly networkProblem?: string | undefined;
}

/** Starts the nodes in the API server's process and waits until they are ready. */
export async function runNodes(options: ClusterNodesOptions, { api, world, authorizer, auditor }: ApiAccess, cleanup: CleanupStack): Promise<ClusterNodes> {
  const { runtime, why, settings } = options;
  const abandonedAt = (hosts: ReadonlyMap<string, Host>) => abandonedNodes(systemClient(api, 'apiserver'), hosts);
  if (settings.count === 0 && options.cloud === undefined) return { runtime, why, running: [], abandoned: await abandonedAt(new Map()) };
  const connectNode = inSharedTurns(world, connectNodesInProcess(api, authorizer, auditor));
  const server = { connect: connectInProcess(api, authorizer, auditor), connectNode, world };
  const sandboxes = runtime === 'sandbox' ? await runSandboxes(options, server) : undefined;
  const nodes = sandboxes ?? (await runHollow(options, server, cleanup));
  cleanup.defer(() => nodes.stop());
  await Promise.race([nodes.ready, readyTimeout(world)]);
  const running = Array.from(nodes.hosts.values(), ({ name, labels }) => ({ name, zone: labels['topology.kubernetes.io/zone'] }));
  return { runtime, why, running, abandoned: await abandonedAt(nodes.hosts), networkProblem: sandboxes?.network.problem };
}

/** Nodes as the settings describe them, or the instances of a cloud. */
async function runHollow(
  { settings, cloud }: ClusterNodesOptions,
  server: Parameters<typeof startHollowNodes>[1],
  cleanup: CleanupStack,
): Promise<HollowNodesInProcess> {
  if (cloud === undefined) return startHollowNodes(settings, server);
  const { InstanceNodes } = await import('../cloud/instance-nodes.ts');
  const instances = new InstanceNodes({
    world: server.world,
    cloud: cloud.cloud,
    machine: hollowMachine,
    ...(cloud.bootMs === undefined ? {} : { bootMs: cloud.bootMs }),
  });
  const nodes = runHosts(instances.hosts, server);
  instances.follow(nodes);
  cleanup.defer(async () => instances.stop());
  return nodes;
}

interface ClusterNodesOptions extends RuntimeChoice {
  /** Its instances are the nodes, in the place of those of `settings`. */
  readonly cloud?: ClusterCloud | undefined;
  readonly settings: HollowSettings;
  readonly capacity: Readonly<Record<string, string>>;
  readonly dataDir: string;
  /** By node: filled for nodes whose pods really run. */
  readonly podStreams: Map<string, PodStreams>;
  /** By node, likewise. */
  readonly nodeStats: Map<string, NodeStats>;
  /** Undefined: this machine cannot have image volumes. */
  readonly images: ImageVolumes | undefined;
  readonly security: SecuritySettings | undefined;
  readonly imageSettings: ImageSettings | undefined;
  /** Told of the CSI drivers that register. */
  readonly plugins: PluginSockets;
  /** As in `SandboxNodesOptions`. */
  readonly rootDir: string | undefined;
  /** The same. */
  readonly onBridges: (gateways: ReadonlyMap<string, string>) => Promise<string | undefined>;
}

interface RuntimeChoice {
  readonly runtime: NodeRuntime;
  /** As in `ClusterNodes`. */
  readonly why: string | undefined;
}

/** Pods cannot run on this machine, and hollow nodes were not permitted. */
export class NoSandboxError extends Error {}

/** `where-possible`: where pods cannot run, nodes are hollow. @throws NoSandboxError */
export async function chooseRuntime(requested: NodeRuntime | 'where-possible'): Promise<RuntimeChoice> {
  if (requested === 'hollow') return { runtime: requested, why: undefined };
  const { canSandbox } = await import('../../node/runtimes/sandbox/detect.ts');
  const ability = canSandbox();
  if (ability.can) return { runtime: 'sandbox', why: undefined };
  if (requested === 'sandbox') throw new NoSandboxError(`pods cannot run here: ${ability.why}`);
  return { runtime: 'hollow', why: ability.why };
}

/** Image volumes, where this machine can have them. */
export async function openImageVolumes(dataDir: string, nodes: number): Promise<ImageVolumes | undefined> {
  const { imageDirectory, imageVolumes } = await import('./image-volumes.ts');
  return imageVolumes(imageDirectory(dataDir), nodes);
}

/** The driver of these images and of those of nodes that joined, which are asked by their streams. */
export async function imageDriverFor(images: ImageVolumes, nodes: number, streams: (node: string) => PodStreams): Promise<VolumeDriver> {
  const [{ askByStreams }, { clusterImageDriver }, { isNodeOfMoorUp }] = await Promise.all([
    import('./joined-node-images.ts'),
    import('../../drivers/image/remote.ts'),
    import('./image-volumes.ts'),
  ]);
  return clusterImageDriver(images.driver, isNodeOfMoorUp(nodes), askByStreams(streams));
}

/** Loaded only for this runtime. */
async function runSandboxes(
  { settings, capacity, dataDir, rootDir, podStreams, nodeStats, images, security, imageSettings, plugins, onBridges }: ClusterNodesOptions,
  server: Parameters<typeof startHollowNodes>[1],
): Promise<SandboxNodes> {
  const { startSandboxNodes } = await import('./sandbox-nodes.ts');
  const { RuntimeStreams } = await import('../../node/streams/pod-streams.ts');
  const nodes = await startSandboxNodes(
    { settings, capacity, directory: nodesDirectory(dataDir), rootDir, images, security, imageSettings, plugins, onBridges },
    server,
  );
  for (const [name, { runtime, pages }] of nodes.endpoints) podStreams.set(name, new RuntimeStreams(runtime, pages));
  for (const [name, stats] of nodes.stats) nodeStats.set(name, stats);
  return nodes;
}

/** Prometheus metrics of the nodes in this process. */
export async function nodeMetrics(nodes: ReadonlyMap<string, NodeStats>): Promise<string> {
  if (nodes.size === 0) return '';
  const { volumeMetrics } = await import('../../node/kubelet-api/volume-metrics.ts');
  return volumeMetrics((await Promise.all(Array.from(nodes.values(), (node) => node.volumes()))).flat());
}

/** A node that cannot be registered is retried, with log lines; the rest of the cluster works without it. */
const readyTimeout = (world: World): Promise<void> => new Promise((resolve) => void world.timers.after(60_000, resolve));
