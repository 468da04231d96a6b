import type { Stored } from '../../api/stored.ts';
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
  readonly claims?: readonly Stored<PersistentVolumeClaim>[];
  readonly volumes?: readonly Stored<PersistentVolume>[];
  readonly classes?: readonly Stored<StorageClass>[];
  readonly pods?: readonly Stored<Pod>[];
  readonly nodes?: readonly Stored<Node>[];
  readonly attachments?: readonly Stored<VolumeAttachment>[];
  readonly drivers?: readonly Stored<CSIDriver>[];
  readonly csiNodes?: readonly Stored<CSINode>[];
  /** The pods of all namespaces that have a node. */
  readonly placed?: readonly Stored<Pod>[];
  readonly namespaces?: readonly Stored<Namespace>[];
  readonly capacities?: readonly Stored<CSIStorageCapacity>[];
  /** Only Mooring has VolumeIntents. */
  readonly intents?: readonly Stored<VolumeIntent>[];
  readonly unseen: readonly UnreadResource[];
  /** Other namespaces that have an object with the name of the target. */
  readonly elsewhere?: readonly string[];
}

export type ObjectList = Exclude<keyof ClusterObjects, 'unseen' | 'elsewhere'>;
