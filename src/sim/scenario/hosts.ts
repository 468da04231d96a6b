import { createHash } from 'node:crypto';
import { nodeSettings } from '../../cluster/nodes/node-settings.ts';
import { kubernetesVersion } from '../../cluster/version.ts';
import { hollowHosts } from '../../node/runtimes/hollow/hosts.ts';
import type { Host } from '../../node/host.ts';
import type { ClusterPlan, DriverPlan, NodePlan } from './language/scenario.ts';

export const machine = {
  architecture: 'amd64',
  kernelVersion: '',
  osImage: 'Mooring',
  containerRuntimeVersion: 'hollow://simulation',
  kubeletVersion: `v${kubernetesVersion}`,
};
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The hosts of a plan; the first has number `from`, which determines its addresses. */
export function hostsOf({ region, drivers }: Pick<ClusterPlan, 'region' | 'drivers'>, nodes: readonly NodePlan[], from = 1): readonly Host[] {
  const csiDrivers = drivers.flatMap(({ name, attaches }) => (attaches ? [name] : []));
  return nodes.map((node, i) => {
    const number = from + i;
    const zones = node.zone === '' ? [] : [node.zone];
    const limit = node.attachLimit === undefined ? {} : { volumeLimit: node.attachLimit };
    const settings = nodeSettings({ count: number, zones, region, capacity: node.capacity, csiDrivers, ...limit });
    const host = hollowHosts(settings, machine, sha256).get(`node-${number}`);
    if (host === undefined) throw new Error(`no machine for ${node.name}`);
    return {
      ...host,
      name: node.name,
      labels: { ...host.labels, 'kubernetes.io/hostname': node.name, ...node.labels },
      drivers: host.drivers.map((driver) => ({ ...driver, nodeID: node.name })),
    };
  });
}

const zoneLabel = 'topology.kubernetes.io/zone';
const regionLabel = 'topology.kubernetes.io/region';

interface NewHost {
  readonly name: string;
  /** '': that of the other host. */
  readonly zone: string;
  readonly number: number;
  readonly drivers: readonly DriverPlan[];
}

/** A further host, like another one. */
export function hostLike(like: Host | undefined, { name, zone, number, drivers }: NewHost): Host {
  const node = {
    name,
    zone: zone === '' ? (like?.labels[zoneLabel] ?? '') : zone,
    labels: {},
    taints: [],
    capacity: like?.capacity ?? {},
    attachLimit: like?.drivers.find(({ allocatable }) => allocatable?.count !== undefined)?.allocatable?.count,
  };
  const [host] = hostsOf({ region: like?.labels[regionLabel] ?? '', drivers }, [node], number);
  if (host === undefined) throw new Error(`no machine for ${name}`);
  return host;
}
