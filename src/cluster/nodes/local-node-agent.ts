import { realDisk } from '../../host/disk.ts';
import { realHostFiles } from '../../host/files.ts';
import { realManifests } from '../../host/manifests.ts';
import { realMounts } from '../../host/mounts.ts';
import { realPrograms } from '../../host/programs.ts';
import { realSockets } from '../../host/sockets.ts';
import { Http2Channel } from '../../grpc/http2-channel.ts';
import { type NodeAgent, startNodeAgent } from '../../node/agent.ts';
import type { Host } from '../../node/host.ts';
import type { ImageManager } from '../../node/images/image-manager.ts';
import { hasEnded } from '../../storage/volumes/pods.ts';
import type { Runtime } from '../../node/runtime.ts';
import type { ImageVolumes } from './image-volumes.ts';
import { sha256 } from '../sha256.ts';
import type { RunningPodNetwork } from './pod-network.ts';
import type { PluginSockets } from './plugin-sockets.ts';
import { nodeDrivers } from './node-drivers.ts';

export interface LocalNode {
  readonly host: Host;
  readonly root: string;
  readonly runtime: Runtime;
  readonly images?: ImageVolumes | undefined;
  readonly containerImages: ImageManager;
  readonly network: Pick<RunningPodNetwork, 'problem' | 'nameServerOf' | 'awaitNetworkPolicies'>;
  /** Told of the CSI drivers that register. */
  readonly plugins?: PluginSockets | undefined;
}

/** The node agent (kubelet) of a node on this machine. */
export function startLocalNodeAgent(
  { host, root, runtime, images, containerImages, network, plugins: known }: LocalNode,
  server: Pick<Parameters<typeof startNodeAgent>[0], 'world' | 'readTransport' | 'eventTransport' | 'nodeTransport'>,
): Promise<NodeAgent> {
  const machine = { mounts: realMounts(), files: realHostFiles };
  const { clock } = server.world;
  const csi = images === undefined ? [] : [images.node({ ...machine, clock })];
  const drivers: Parameters<typeof startNodeAgent>[0]['drivers'] = (context) =>
    nodeDrivers({ ...machine, root, programs: realPrograms, csi }, server.world, context);
  const { timers } = server.world;
  const plugins = {
    sockets: realSockets(timers),
    connect: (address: string) => new Http2Channel({ address, timers }),
    onEndpoint: (driver: string, address: string) => known?.register({ driver, node: host.name, address }),
  };
  const { problem, awaitNetworkPolicies } = network;
  const networkOptions = { nameServer: network.nameServerOf(host.name), awaitNetworkPolicies, fromHostLoopback: problem === undefined };
  const manifests = realManifests(timers);
  return startNodeAgent({
    ...server,
    ...networkOptions,
    host,
    root,
    runtime,
    images: containerImages,
    machine,
    disk: realDisk,
    drivers,
    plugins,
    manifests,
    sha256,
  });
}

/** Their containers go on without the agent. */
export const hasRunningPods = (agent: Pick<NodeAgent, 'pods'>): boolean => agent.pods().some((pod) => !hasEnded(pod));
