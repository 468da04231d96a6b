import { statfs } from 'node:fs/promises';
import { arch, availableParallelism, networkInterfaces, release, totalmem } from 'node:os';
import type { Host } from '../../node/host.ts';
import { sha256 } from '../sha256.ts';
import { kubernetesVersion, version } from '../version.ts';
import { machineSecurity, type SecuritySettings, usualSecurity } from './machine-security.ts';

export interface MachineOptions {
  readonly name: string;
  /** The CIDR of its pods' IP addresses. */
  readonly podCidr: string;
  /** The directory of volumes and containers. */
  readonly root: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly capacity?: Readonly<Record<string, string>>;
  readonly security?: SecuritySettings | undefined;
  /** Of the kubelet API; absent: the node serves none. */
  readonly endpoint?: { readonly ip: string | undefined; readonly port: number } | undefined;
}

/** This machine as a node. */
export async function describeMachine(options: MachineOptions): Promise<Host> {
  const { name, podCidr, root, labels = {}, capacity = {}, security = usualSecurity, endpoint } = options;
  const architecture = arch() === 'x64' ? 'amd64' : arch();
  const { bsize, blocks } = await statfs(root);
  const id = sha256(`machine ${name}`);
  return {
    name,
    labels: {
      'beta.kubernetes.io/arch': architecture,
      'beta.kubernetes.io/os': 'linux',
      'kubernetes.io/arch': architecture,
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      ...labels,
    },
    ip: endpoint?.ip ?? ownAddress(),
    ...(endpoint === undefined ? {} : { endpointPort: endpoint.port }),
    podCidr,
    capacity: {
      cpu: String(availableParallelism()),
      memory: `${Math.floor(totalmem() / 1024)}Ki`,
      'ephemeral-storage': `${Math.floor((blocks * bsize) / 1024)}Ki`,
      pods: '110',
      ...capacity,
    },
    system: {
      machineID: id.slice(0, 32),
      systemUUID: uuidOf(id),
      bootID: uuidOf(sha256(`boot ${name}`)),
      kernelVersion: release(),
      osImage: 'Mooring',
      containerRuntimeVersion: `sandbox://${version}`,
      kubeletVersion: `v${kubernetesVersion}`,
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture,
    },
    drivers: [],
    security: machineSecurity(security),
  };
}

const uuidOf = (digits: string): string =>
  `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20, 32)}`;

/** An address of an interface other than the pods' bridges. */
function ownAddress(): string {
  const all = Object.entries(networkInterfaces()).flatMap(([name, addresses]) => (name.startsWith('moor-') ? [] : (addresses ?? [])));
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
