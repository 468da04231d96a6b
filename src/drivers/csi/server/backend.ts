import type { VolumeCapability } from '../../../grpc/generated/csi.ts';
import type { Usage } from '../../../world/mounts.ts';
import type { VolumeRecord } from './records.ts';

/** Where the volumes of a driver are. Every call may be repeated after a crash in the middle of the last one. Errors are rejections. */
export interface VolumeBackend {
  readonly driverName: string;
  readonly block: boolean;
  /** A volume is no more than its record: creating and removing it has no effect that a record would have to announce. */
  readonly isRecordOnly: boolean;
  /** ControllerPublishVolume. */
  readonly attaches: boolean;
  /** NodeStageVolume. */
  readonly stages: boolean;
  /** NodeExpandVolume after ControllerExpandVolume. */
  readonly expandsOnNode: boolean;
  /** A volume that is in use can be made larger. */
  readonly expandsOnline: boolean;
  /** Sizes are multiples of it. */
  readonly granularity: number;
  readonly mostBytes: number;
  /** Why the volume cannot be used so; undefined: it can. */
  refusal(capability: VolumeCapability): string | undefined;
  /** An existing volume stays as it is. `copyOf`: the path of a volume or a snapshot. */
  create(volume: VolumeRecord, copyOf: string | undefined): Promise<void>;
  remove(volumeId: string): Promise<void>;
  grow(volumeId: string, bytes: number): Promise<void>;
  volumePath(volumeId: string): string;
  snapshotPath(snapshotId: string): string;
  /** Copies a volume; an existing snapshot stays. `mountedAt`: its file system is written to the volume first. */
  snapshot(volumeId: string, snapshotId: string, mountedAt: string | undefined): Promise<void>;
  removeSnapshot(snapshotId: string): Promise<void>;
  availableBytes(): Promise<number>;
  readonly node: NodeBackend;
}

export interface NodeBackend {
  stage(volume: VolumeRecord, path: string, mountFlags: readonly string[]): Promise<void>;
  unstage(volume: VolumeRecord, path: string): Promise<void>;
  publish(volume: VolumeRecord, request: BackendPublish): Promise<void>;
  unpublish(volume: VolumeRecord, target: string): Promise<void>;
  expand(volume: VolumeRecord): Promise<void>;
  usage(volume: VolumeRecord, path: string): Promise<Usage>;
}

export interface BackendPublish {
  readonly stagingPath: string;
  readonly target: string;
  readonly readOnly: boolean;
  readonly mountFlags: readonly string[];
}

/** Copies files and directory trees; extents are shared where the file system can (reflinks), holes stay holes. */
export interface Copies {
  /** Atomically: `to` appears complete, or not. An existing one stays. `mountedAt`: what this mount still holds in memory is written first. */
  copy(from: string, to: string, mountedAt?: string): Promise<void>;
}
