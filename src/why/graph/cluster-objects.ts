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
 * All that an explanation is made of, as of one moment. A list that is absent was not looked at, so nothing is concluded
 * from it; an empty one was, and there is nothing. A list may be part of what exists, if the rest has no bearing on the
 * question. Events are not among them: they may be lost, late, or somebody else's.
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
  /** Of all namespaces: the pods that have a node. */
  readonly placed?: readonly Pod[];
  readonly namespaces?: readonly Namespace[];
  readonly capacities?: readonly CSIStorageCapacity[];
  /** Only Mooring has them. */
  readonly intents?: readonly VolumeIntent[];
  readonly unseen: readonly UnreadResource[];
  /** Other namespaces that have an object of the name that is asked about. */
  readonly elsewhere?: readonly string[];
}

export type ObjectList = Exclude<keyof ClusterObjects, 'unseen' | 'elsewhere'>;
