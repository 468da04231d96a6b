import type { CSINodeDriver, NodeSystemInfo } from '../api/generated/types.ts';

/** A machine, as the agent that speaks for it describes it. */
export interface Host {
  readonly name: string;
  /** Those that the agent sets whenever it starts, whatever they were before. */
  readonly labels: Readonly<Record<string, string>>;
  readonly ip: string;
  /** Where its endpoint listens; absent: it has none. */
  readonly endpointPort?: number;
  /** The block that its pods have their addresses from: '10.128.4.0/22'. */
  readonly podCidr: string;
  /** By resource; all of it can be given to pods. */
  readonly capacity: Readonly<Record<string, string>>;
  readonly system: NodeSystemInfo;
  /** The CSI drivers that it has. */
  readonly drivers: readonly CSINodeDriver[];
}
