import type { NodeSystemInfo } from '../../../api/generated/types.ts';
import type { Host } from '../../host.ts';
import { addressAt } from '../../network/addresses.ts';

export interface HollowSettings {
  readonly count: number;
  /** Assigned to the nodes in turn. */
  readonly zones: readonly string[];
  readonly region: string;
  /** Of each node, by resource. */
  readonly capacity: Readonly<Record<string, string>>;
  /** How many volumes of each driver a node can have; undefined: any number. */
  readonly volumeLimit: number | undefined;
  /** CSI drivers that every node registers. */
  readonly drivers: readonly string[];
}

/** The nodes' system info. */
export type Machine = Pick<NodeSystemInfo, 'kernelVersion' | 'osImage' | 'containerRuntimeVersion' | 'kubeletVersion' | 'architecture'>;

/** As many pod CIDRs of 1024 addresses as there are. */
export const maxNodes = 8192;
export const maxPods = 1000;

const podBlocks = { base: 10 * 2 ** 24 + 128 * 2 ** 16, size: 1024, prefix: 22 };
const hostAddresses = 172 * 2 ** 24 + 18 * 2 ** 16;

/** 'node-1', 'node-2' …; the same settings give the same zones, addresses and identities. */
export function hollowHosts(settings: HollowSettings, machine: Machine, sha256: (text: string) => string): ReadonlyMap<string, Host> {
  return new Map(
    Array.from({ length: settings.count }, (_, i) => {
      const host = hollowHost(settings, { number: i + 1, machine, id: sha256(`node-${i + 1}`) });
      return [host.name, host];
    }),
  );
}

function hollowHost(settings: HollowSettings, { number, machine, id }: { readonly number: number; readonly machine: Machine; readonly id: string }): Host {
  const name = `node-${number}`;
  const zone = settings.zones[(number - 1) % settings.zones.length];
  return {
    name,
    labels: labelsOf(name, { architecture: machine.architecture, region: settings.region, zone }),
    ip: addressAt(hostAddresses + 1 + number),
    podCidr: `${addressAt(podBlocks.base + (number - 1) * podBlocks.size)}/${podBlocks.prefix}`,
    capacity: settings.capacity,
    system: {
      ...machine,
      operatingSystem: 'linux',
      kubeProxyVersion: '',
      machineID: id.slice(0, 32),
      systemUUID: uuidOf(id.slice(0, 32)),
      bootID: uuidOf(id.slice(32)),
    },
    drivers: settings.drivers.map((driver) => ({
      name: driver,
      nodeID: name,
      topologyKeys: zone === undefined ? null : [zoneLabel],
      ...(settings.volumeLimit === undefined ? {} : { allocatable: { count: settings.volumeLimit } }),
    })),
  };
}

const zoneLabel = 'topology.kubernetes.io/zone';

function labelsOf(name: string, { architecture, region, zone }: { readonly architecture: string; readonly region: string; readonly zone: string | undefined }) {
  return {
    'beta.kubernetes.io/arch': architecture,
    'beta.kubernetes.io/os': 'linux',
    'kubernetes.io/arch': architecture,
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    ...(zone === undefined ? {} : { 'topology.kubernetes.io/region': region, [zoneLabel]: zone }),
  };
}

const uuidOf = (digits: string): string => [0, 8, 12, 16, 20].map((from, i) => digits.slice(from, [8, 12, 16, 20, 32][i])).join('-');
