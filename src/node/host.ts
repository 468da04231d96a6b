import type { CSINodeDriver, NodeSystemInfo, Taint } from '../api/generated/types.ts';
import type { HostSecurity } from './security/host-security.ts';

/** A machine, as its agent registers it. */
export interface Host {
  readonly name: string;
  /** Labels that the agent sets whenever it starts. */
  readonly labels: Readonly<Record<string, string>>;
  readonly ip: string;
  /** The port of the kubelet API; absent: there is none. */
  readonly endpointPort?: number;
  /** '10.128.4.0/22' */
  readonly podCidr: string;
  /** By resource; all of it is allocatable. */
  readonly capacity: Readonly<Record<string, string>>;
  readonly system: NodeSystemInfo;
  /** The cloud's name of the machine: 'aws:///eu-west-2a/i-0123456789abcdef0'. Absent: it is in no cloud. */
  readonly providerID?: string;
  /** Taints that the Node has when it is registered (--register-with-taints). */
  readonly taints?: readonly Taint[];
  readonly drivers: readonly CSINodeDriver[];
  /** Absent: no process runs on it. */
  readonly security?: HostSecurity;
}
