/** What users and administrators do with CSI drivers behind sockets, in the namespace `default`. */
export type CsiAction =
  | { readonly do: 'create-csi-driver'; readonly driver: string; readonly attaches: boolean }
  | {
      readonly do: 'create-csi-class';
      readonly name: string;
      readonly driver: string;
      readonly reclaim: 'Delete' | 'Retain';
      readonly waits: boolean;
    }
  | { readonly do: 'create-snapshot-class'; readonly name: string; readonly driver: string; readonly policy: 'Delete' | 'Retain'; readonly ofGroups: boolean }
  | {
      readonly do: 'create-csi-claim';
      readonly name: string;
      readonly storageClass: string;
      readonly sizeGi: number;
      /** Of group snapshots. */
      readonly group?: string;
      readonly from?: CsiDataSource;
    }
  | { readonly do: 'create-snapshot'; readonly name: string; readonly claim: string; readonly snapshotClass: string }
  | { readonly do: 'create-group-snapshot'; readonly name: string; readonly group: string; readonly snapshotClass: string }
  | { readonly do: 'delete-snapshot' | 'delete-group-snapshot'; readonly name: string }
  /** Every pod that runs writes to its volumes. */
  | { readonly do: 'write' };

export interface CsiDataSource {
  readonly kind: 'PersistentVolumeClaim' | 'VolumeSnapshot';
  readonly name: string;
}
