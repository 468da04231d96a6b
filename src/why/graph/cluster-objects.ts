import type { Stored } from '../../api/stored.ts';
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  Deployment,
  Job,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ReplicaSet,
  ResourceQuota,
  StatefulSet,
  StorageClass,
  VolumeAttachment,
} from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import type { NodePool } from '../../api/kinds/karpenter/node-pool.ts';
import type { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from '../../api/kinds/snapshot/volume-snapshot.ts';
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
  readonly sets?: readonly Stored<StatefulSet>[];
  readonly deployments?: readonly Stored<Deployment>[];
  readonly replicaSets?: readonly Stored<ReplicaSet>[];
  readonly jobs?: readonly Stored<Job>[];
  readonly quotas?: readonly Stored<ResourceQuota>[];
  readonly snapshots?: readonly Stored<VolumeSnapshot>[];
  readonly snapshotContents?: readonly Stored<VolumeSnapshotContent>[];
  readonly snapshotClasses?: readonly Stored<VolumeSnapshotClass>[];
  /** Of an autoscaler, if there is one. */
  readonly nodePools?: readonly Stored<NodePool>[];
  readonly nodeClaims?: readonly Stored<NodeClaim>[];
  /** Only Mooring has VolumeIntents. */
  readonly intents?: readonly Stored<VolumeIntent>[];
  /** The last lines of containers that crash. */
  readonly logs?: readonly ContainerLog[];
  readonly unseen: readonly UnreadResource[];
  /** Other namespaces that have an object with the name of the target. */
  readonly elsewhere?: readonly string[];
}

/** The last lines of a container's last run that ended. */
export interface ContainerLog {
  readonly podUid: string;
  readonly container: string;
  readonly lines: readonly string[];
}

export type ObjectList = Exclude<keyof ClusterObjects, 'unseen' | 'elsewhere' | 'logs'>;
