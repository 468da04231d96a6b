import type { CSINodeDriver, NodeSystemInfo } from '../api/generated/types.ts';
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
  readonly drivers: readonly CSINodeDriver[];
  /** Absent: no process runs on it. */
  readonly security?: HostSecurity;
}
