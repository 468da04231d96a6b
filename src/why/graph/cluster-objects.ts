import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
  VolumeAttachment,
} from '../../api/generated/types.ts';
import type { VolumeIntent } from '../../api/volumes/intent.ts';
import type { UnreadResource } from '../explanation/explanation.ts';

/**
 * The objects that an explanation is made of, read at one moment. A list that is absent was not read, so the explanation concludes
 * nothing from it; an empty list was read. A list may leave out objects that do not matter for the target. There are no Events: Events may be
 * lost or late.
 */
export interface ClusterObjects {
  readonly claims?: readonly PersistentVolumeClaim[];
  readonly volumes?: readonly PersistentVolume[];
  readonly classes?: readonly StorageClass[];
  readonly pods?: readonly Pod[];
  readonly nodes?: readonly Node[];
  readonly attachments?: readonly VolumeAttachment[];
  readonly drivers?: readonly CSIDriver[];
  readonly csiNodes?: readonly CSINode[];
  /** The pods of all namespaces that have a node. */
  readonly placed?: readonly Pod[];
  readonly namespaces?: readonly Namespace[];
  readonly capacities?: readonly CSIStorageCapacity[];
  /** Only Mooring has VolumeIntents. */
  readonly intents?: readonly VolumeIntent[];
  readonly unseen: readonly UnreadResource[];
  /** Other namespaces that have an object with the name of the target. */
  readonly elsewhere?: readonly string[];
}

export type ObjectList = Exclude<keyof ClusterObjects, 'unseen' | 'elsewhere'>;
