import { realDisk } from '../../host/disk.ts';
import { realHostFiles } from '../../host/files.ts';
import { realMounts } from '../../host/mounts.ts';
import { realPrograms } from '../../host/programs.ts';
import { type NodeAgent, startNodeAgent } from '../../node/agent.ts';
import type { Host } from '../../node/host.ts';
import type { Runtime } from '../../node/runtime.ts';
import type { ImageVolumes } from './image-volumes.ts';
import { sha256 } from '../sha256.ts';
import { nodeDrivers } from './node-drivers.ts';

/** The node agent (kubelet) of a node on this machine. */
export function startLocalNodeAgent(
  { host, root, runtime, images }: { readonly host: Host; readonly root: string; readonly runtime: Runtime; readonly images?: ImageVolumes | undefined },
  server: Pick<Parameters<typeof startNodeAgent>[0], 'world' | 'readTransport' | 'eventTransport' | 'nodeTransport'>,
): Promise<NodeAgent> {
  const machine = { mounts: realMounts(), files: realHostFiles };
  const { clock } = server.world;
  const csi = images === undefined ? [] : [images.node({ ...machine, clock })];
  const drivers: Parameters<typeof startNodeAgent>[0]['drivers'] = (context) => nodeDrivers({ ...machine, programs: realPrograms, csi }, server.world, context);
  return startNodeAgent({ ...server, host, root, runtime, machine, disk: realDisk, drivers, sha256 });
}
