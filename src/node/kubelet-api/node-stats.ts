import type { VolumeHealth } from '../../drivers/contract.ts';

/** Usage of a node's volumes, for /stats/summary and /metrics. */
export interface NodeStats {
  /** Of every mounted volume that can be measured. Figures may be a minute old, as the kubelet's. */
  volumes(): Promise<readonly VolumeUsage[]>;
}

export interface VolumeUsage {
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** The volume's name in the pod. */
  readonly volume: string;
  /** In the pod's namespace; undefined: there is no claim behind it. */
  readonly claim: string | undefined;
  /** When it was measured; milliseconds since 1970. */
  readonly time: number;
  /** Undefined: unknown (a block device has no files). */
  readonly capacityBytes: number | undefined;
  readonly availableBytes: number | undefined;
  readonly usedBytes: number | undefined;
  readonly inodes: number | undefined;
  readonly inodesFree: number | undefined;
  readonly inodesUsed: number | undefined;
  /** Undefined: its driver does not tell. */
  readonly health?: VolumeHealth | undefined;
}
