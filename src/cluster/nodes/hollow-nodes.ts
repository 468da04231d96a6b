import { arch, release } from 'node:os';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { hollowDriver } from '../../drivers/hollow/driver.ts';
import type { VolumeDriver } from '../../drivers/contract.ts';
import type { Client } from '../../client/client.ts';
import { hollowHosts, type HollowSettings } from '../../node/runtimes/hollow/hosts.ts';
import { type HollowNodes, runHollowNodes } from '../../node/hollow-nodes.ts';
import type { Host } from '../../node/host.ts';
import type { World } from '../../world/world.ts';
import type { Connect, ConnectNode } from '../access/identities.ts';
import { sha256 } from '../sha256.ts';
import { kubernetesVersion, version } from '../version.ts';

/** Marks the nodes of this program. */
const runtime = 'hollow://';

export interface HollowNodesInProcess extends HollowNodes {
  readonly hosts: ReadonlyMap<string, Host>;
}

interface Server {
  readonly connect: Connect;
  readonly connectNode: ConnectNode;
  readonly world: World;
}

export const hollowMachine = {
  kernelVersion: release(),
  osImage: 'Mooring',
  containerRuntimeVersion: `${runtime}${version}`,
  kubeletVersion: `v${kubernetesVersion}`,
} as const;

/** The hollow nodes of `moor up`, in the API server's process. */
export function startHollowNodes(settings: HollowSettings, server: Server): HollowNodesInProcess {
  const architecture = arch() === 'x64' ? 'amd64' : arch();
  return runHosts(hollowHosts(settings, { ...hollowMachine, architecture }, sha256), server);
}

/** Hollow nodes of these machines. */
export function runHosts(hosts: ReadonlyMap<string, Host>, server: Server): HollowNodesInProcess {
  const { world, connect, connectNode } = server;
  const nodes = runHollowNodes({
    world,
    hosts,
    sha256,
    readTransport: connect('moor-informers'),
    eventTransport: connect('hollow-nodes'),
    transportOf: connectNode,
  });
  return { ...nodes, hosts };
}

/** The CSI drivers of hollow nodes, without a backend. */
export function hollowDrivers({ drivers, zones, count }: HollowSettings): readonly VolumeDriver[] {
  const zoneOf = (node: string) => {
    const number = Number(/^node-(\d+)$/.exec(node)?.[1]);
    return number >= 1 && number <= count ? zones[(number - 1) % zones.length] : undefined;
  };
  return drivers.map((name) => hollowDriver({ name, zones, zoneOf }));
}

/** Hollow nodes of an earlier start that do not run now. */
export async function abandonedNodes(client: Client, hosts: ReadonlyMap<string, Host>): Promise<readonly string[]> {
  const all = await client.list(nodeKind);
  if (!all.ok) return [];
  const ours = all.value.items.filter(({ status }) => status.nodeInfo.containerRuntimeVersion.startsWith(runtime));
  return ours.flatMap(({ metadata: { name } }) => (hosts.has(name) ? [] : [name]));
}
