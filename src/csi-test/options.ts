/** Secrets of each call, under the names of csi-sanity's file. */
export type SecretName =
  | 'CreateVolumeSecret'
  | 'DeleteVolumeSecret'
  | 'ControllerPublishVolumeSecret'
  | 'ControllerUnpublishVolumeSecret'
  | 'ControllerValidateVolumeCapabilitiesSecret'
  | 'ControllerExpandVolumeSecret'
  | 'ControllerModifyVolumeSecret'
  | 'NodeStageVolumeSecret'
  | 'NodePublishVolumeSecret'
  | 'NodeExpandVolumeSecret'
  | 'CreateSnapshotSecret'
  | 'DeleteSnapshotSecret'
  | 'ListSnapshotsSecret'
  | 'GetSnapshotSecret'
  | 'CreateVolumeGroupSnapshotSecret'
  | 'DeleteVolumeGroupSnapshotSecret'
  | 'GetVolumeGroupSnapshotSecret';

export const secretNames: readonly SecretName[] = [
  'CreateVolumeSecret',
  'DeleteVolumeSecret',
  'ControllerPublishVolumeSecret',
  'ControllerUnpublishVolumeSecret',
  'ControllerValidateVolumeCapabilitiesSecret',
  'ControllerExpandVolumeSecret',
  'ControllerModifyVolumeSecret',
  'NodeStageVolumeSecret',
  'NodePublishVolumeSecret',
  'NodeExpandVolumeSecret',
  'CreateSnapshotSecret',
  'DeleteSnapshotSecret',
  'ListSnapshotsSecret',
  'GetSnapshotSecret',
  'CreateVolumeGroupSnapshotSecret',
  'DeleteVolumeGroupSnapshotSecret',
  'GetVolumeGroupSnapshotSecret',
];

/** What the user of the tests chooses. */
export interface TestOptions {
  readonly volumeSize: bigint;
  readonly accessType: 'mount' | 'block';
  /** Of CreateVolume. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Of ControllerModifyVolume. */
  readonly mutableParameters: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Partial<Record<SecretName, Readonly<Record<string, string>>>>>;
  /** Of each call, and of an operation that was interrupted and is repeated until it succeeds. */
  readonly timeoutMs: number;
  readonly seed: number;
  /** Below it are the staging and target paths. */
  readonly workDir: string;
  /** Folders of the driver: files, mounts and loop devices below them belong to the ledger. */
  readonly watched: readonly string[];
  /** Volumes, and pods for each, that are used at the same time. */
  readonly volumes: number;
  readonly pods: number;
  /** Random sequences. */
  readonly sequences: number;
}
