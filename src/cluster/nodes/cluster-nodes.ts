/** The nodes that run in the server's process: hollow ones, or this machine. */
import path from 'node:path';
import type { NodeStats } from '../../node/kubelet-api/node-stats.ts';
import type { Host } from '../../node/host.ts';
import type { HollowSettings } from '../../node/runtimes/hollow/hosts.ts';
import type { PodStreams } from '../../streams/contract.ts';
import type { RunningApi } from '../../apiserver/create-api.ts';
import type { Auditor } from '../../apiserver/audit/auditor.ts';
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';
import type { World } from '../../world/world.ts';
import { abandonedNodes, startHollowNodes } from './hollow-nodes.ts';
import { connectInProcess, connectNodesInProcess, systemClient } from '../access/identities.ts';
import type { ImageVolumes } from './image-volumes.ts';
import type { SandboxNodes } from './sandbox-nodes.ts';
import type { CleanupStack } from '../cleanup-stack.ts';

export type NodeRuntime = 'hollow' | 'sandbox';

/** How whatever runs in this process reaches the API. */
export interface ApiAccess {
  readonly api: RunningApi;
  readonly world: World;
  readonly authorizer: Authorizer;
  readonly auditor: Auditor | undefined;
}

export interface ClusterNodes {
  readonly runtime: NodeRuntime;
  /** Why it is not the one that was asked for; undefined: it is. */
  readonly why: string | undefined;
  /** In order; ready when the cluster is. */
  readonly running: readonly { readonly name: string; readonly zone: string | undefined }[];
  /** Names of nodes of an earlier start that nobody runs now: they become NotReady. */
  readonly abandoned: readonly string[];
}

/** The nodes in the server's process. A cluster without them is ready at once; one with them, when they are. */
export async function runNodes(wanted: ClusterNodesOptions, { api, world, authorizer, auditor }: ApiAccess, undo: CleanupStack): Promise<ClusterNodes> {
  const { runtime, why, settings } = wanted;
  const abandonedAt = (hosts: ReadonlyMap<string, Host>) => abandonedNodes(systemClient(api, 'apiserver'), hosts);
  if (settings.count === 0) return { runtime, why, running: [], abandoned: await abandonedAt(new Map()) };
  const server = { connect: connectInProcess(api, authorizer, auditor), connectNode: connectNodesInProcess(api, authorizer, auditor), world };
  const nodes = runtime === 'sandbox' ? await runSandboxes(wanted, server) : startHollowNodes(settings, server);
  undo.defer(() => nodes.stop());
  await Promise.race([nodes.ready, readyTimeout(world)]);
  const running = Array.from(nodes.hosts.values(), ({ name, labels }) => ({ name, zone: labels['topology.kubernetes.io/zone'] }));
  return { runtime, why, running, abandoned: await abandonedAt(nodes.hosts) };
}

interface ClusterNodesOptions extends RuntimeChoice {
  readonly settings: HollowSettings;
  readonly capacity: Readonly<Record<string, string>>;
  readonly dataDir: string;
  /** By node: where those whose pods run put what they offer. */
  readonly podStreams: Map<string, PodStreams>;
  /** By node: where those tell of their volumes. */
  readonly nodeStats: Map<string, NodeStats>;
  /** Undefined: there can be none. */
  readonly images: ImageVolumes | undefined;
}

interface RuntimeChoice {
  readonly runtime: NodeRuntime;
  /** Why it is not the one that was asked for. */
  readonly why: string | undefined;
}

/** Pods that cannot run here are hollow: everything else about them is as real. */
export async function chooseRuntime(asked: NodeRuntime): Promise<RuntimeChoice> {
  if (asked === 'hollow') return { runtime: asked, why: undefined };
  const { canSandbox } = await import('../../node/runtimes/sandbox/detect.ts');
  const ability = canSandbox();
  return ability.can ? { runtime: asked, why: undefined } : { runtime: 'hollow', why: ability.why };
}

/** Volumes with a size, where this machine can have them. */
export async function openImageVolumes(dataDir: string, nodes: number): Promise<ImageVolumes | undefined> {
  const { imageDirectory, imageVolumes } = await import('./image-volumes.ts');
  return imageVolumes(imageDirectory(dataDir), nodes);
}

/** Loaded only if somebody wants it. */
async function runSandboxes(
  { settings, capacity, dataDir, podStreams, nodeStats, images }: ClusterNodesOptions,
  server: Parameters<typeof startHollowNodes>[1],
): Promise<SandboxNodes> {
  const { startSandboxNodes } = await import('./sandbox-nodes.ts');
  const { RuntimeStreams } = await import('../../node/streams/pod-streams.ts');
  const nodes = await startSandboxNodes({ settings, capacity, directory: path.join(dataDir, 'nodes'), hidden: [dataDir], images }, server);
  for (const [name, { runtime, pages }] of nodes.offers) podStreams.set(name, new RuntimeStreams(runtime, pages));
  for (const [name, stats] of nodes.stats) nodeStats.set(name, stats);
  return nodes;
}

/** For Prometheus, of the nodes in this process. */
export async function nodeMetrics(nodes: ReadonlyMap<string, NodeStats>): Promise<string> {
  if (nodes.size === 0) return '';
  const { volumeMetrics } = await import('../../node/kubelet-api/volume-metrics.ts');
  return volumeMetrics((await Promise.all(Array.from(nodes.values(), (node) => node.volumes()))).flat());
}

/** Nodes that cannot be registered are tried again and again, which the log tells; the rest of the cluster is of use all the same. */
const readyTimeout = (world: World): Promise<void> => new Promise((resolve) => void world.timers.after(60_000, resolve));
