/** How much a node's pods have of what there is, as whoever measures it tells the node's endpoint: /stats/summary and /metrics are made of it. */
export interface NodeStats {
  /** Of every volume that is mounted for a pod and can be measured. What was measured a minute ago is good enough: kubelets do no more. */
  volumes(): Promise<readonly VolumeUsage[]>;
}

export interface VolumeUsage {
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** Its name in the pod. */
  readonly volume: string;
  /** Undefined: it is not a claim's. In the pod's namespace. */
  readonly claim: string | undefined;
  /** When it was measured; milliseconds since 1970. */
  readonly time: number;
  /** Undefined: nobody can tell (a block device has no files). */
  readonly capacityBytes: number | undefined;
  readonly availableBytes: number | undefined;
  readonly usedBytes: number | undefined;
  readonly inodes: number | undefined;
  readonly inodesFree: number | undefined;
  readonly inodesUsed: number | undefined;
}
