import type { PersistentVolumeClaim } from '../../api/generated/types.ts';
import type { VolumeGroupSnapshot, VolumeGroupSnapshotContent } from '../../api/kinds/snapshot/volume-group-snapshot.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../api/kinds/snapshot/volume-snapshot.ts';
import type { ObjectWrite, RecordEvent } from '../../client/decision.ts';
import type { CreateSnapshotRequest, CreateVolumeGroupSnapshotRequest, GroupSnapshotReference, SnapshotReference } from '../../drivers/contract.ts';

/** All actions of the snapshotter. */
export type SnapshotterAction =
  | ObjectWrite<VolumeSnapshot>
  | ObjectWrite<VolumeSnapshotContent>
  | ObjectWrite<PersistentVolumeClaim>
  | RecordEvent
  | TakeSnapshot
  | CheckSnapshot
  | DeleteSnapshot
  | ObjectWrite<VolumeGroupSnapshot>
  | ObjectWrite<VolumeGroupSnapshotContent>
  | TakeGroupSnapshot
  | CheckGroupSnapshot
  | DeleteGroupSnapshot;

/** Calls that failed, or were answered with "not ready", one after the other. */
export interface SnapshotAttempt {
  readonly count: number;
  /** When the next call may be made; milliseconds since 1970. */
  readonly notBefore: number;
  /** The last call certainly left nothing behind, nor did any before it: the being-created annotation has done its work. */
  readonly settled: boolean;
}

/** Asks the driver for the snapshot, and writes the answer into the content. The content has the being-created annotation, or a handle. */
export interface TakeSnapshot {
  readonly do: 'takeSnapshot';
  /** The same decision wrote the annotation. Otherwise an earlier call, of this process or of another, may have taken the snapshot. */
  readonly isFirst: boolean;
  readonly content: VolumeSnapshotContent;
  readonly request: CreateSnapshotRequest;
}

/** Asks the driver about a snapshot that exists already. */
export interface CheckSnapshot {
  readonly do: 'checkSnapshot';
  readonly content: VolumeSnapshotContent;
  readonly request: SnapshotReference;
}

/** Deletes the snapshot in the storage system, then its traces in the content's status. */
export interface DeleteSnapshot {
  readonly do: 'deleteSnapshot';
  readonly content: VolumeSnapshotContent;
  readonly request: SnapshotReference;
}

export interface TakeGroupSnapshot {
  readonly do: 'takeGroupSnapshot';
  readonly isFirst: boolean;
  readonly content: VolumeGroupSnapshotContent;
  readonly request: CreateVolumeGroupSnapshotRequest;
}

export interface CheckGroupSnapshot {
  readonly do: 'checkGroupSnapshot';
  readonly content: VolumeGroupSnapshotContent;
  readonly request: GroupSnapshotReference;
}

export interface DeleteGroupSnapshot {
  readonly do: 'deleteGroupSnapshot';
  readonly content: VolumeGroupSnapshotContent;
  readonly request: GroupSnapshotReference;
}
