/** What the cloud keeps. Records are immutable: a change replaces one. Times are milliseconds since 1970. */

/** A transition that time brings: the record becomes `to` at `at`. */
export interface Due<State extends string> {
  readonly at: number;
  readonly to: State;
}

export type Tags = Readonly<Record<string, string>>;

export type VolumeType = 'gp2' | 'gp3' | 'io1' | 'io2' | 'sc1' | 'st1' | 'standard';
export type VolumeState = 'creating' | 'available' | 'in-use' | 'deleting' | 'error';

export interface Volume {
  readonly id: string;
  readonly zone: string;
  readonly sizeGiB: number;
  readonly type: VolumeType;
  readonly iops?: number | undefined;
  readonly throughput?: number | undefined;
  readonly encrypted: boolean;
  readonly kmsKeyId?: string | undefined;
  readonly multiAttach: boolean;
  readonly snapshotId?: string | undefined;
  readonly sourceVolumeId?: string | undefined;
  readonly createTime: number;
  readonly state: VolumeState;
  readonly attachments: readonly Attachment[];
  readonly tags: Tags;
  readonly modification?: Modification | undefined;
  /** gone: the record is removed. */
  readonly due?: Due<VolumeState | 'gone'> | undefined;
}

export type AttachmentState = 'attaching' | 'attached' | 'busy' | 'detaching';

export interface Attachment {
  readonly instanceId: string;
  readonly device: string;
  readonly state: AttachmentState;
  readonly attachTime: number;
  readonly deleteOnTermination: boolean;
  readonly due?: Due<AttachmentState | 'detached'> | undefined;
}

export type ModificationState = 'modifying' | 'optimizing' | 'completed';

export interface VolumeShape {
  readonly sizeGiB: number;
  readonly type: VolumeType;
  readonly iops?: number | undefined;
  readonly throughput?: number | undefined;
  readonly multiAttach: boolean;
}

export interface Modification {
  readonly state: ModificationState;
  readonly original: VolumeShape;
  readonly target: VolumeShape;
  readonly startTime: number;
  readonly endTime?: number | undefined;
  readonly due?: Due<ModificationState> | undefined;
}

export type InstanceState = 'pending' | 'running' | 'shutting-down' | 'terminated' | 'stopping' | 'stopped';
export type CapacityType = 'on-demand' | 'spot';

export interface Instance {
  readonly id: string;
  readonly type: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
  readonly state: InstanceState;
  readonly launchTime: number;
  readonly imageId: string;
  readonly subnetId: string;
  readonly securityGroupIds: readonly string[];
  readonly privateAddress: string;
  readonly rootVolumeId: string;
  readonly networkInterfaces: number;
  readonly tags: Tags;
  readonly reservationId: string;
  readonly clientToken?: string | undefined;
  readonly userData?: string | undefined;
  readonly fleetId?: string | undefined;
  /** Why it ended: 'Client.UserInitiatedShutdown'. */
  readonly stateReason?: Reason | undefined;
  readonly due?: Due<InstanceState | 'gone'> | undefined;
}

export interface Reason {
  readonly code: string;
  readonly message: string;
}

export interface Snapshot {
  readonly id: string;
  readonly volumeId: string;
  readonly sizeGiB: number;
  readonly encrypted: boolean;
  readonly kmsKeyId?: string | undefined;
  readonly description: string;
  readonly state: 'pending' | 'completed' | 'error';
  readonly startTime: number;
  readonly tags: Tags;
  readonly due?: Due<'completed' | 'error'> | undefined;
}

/** What a request with a ClientToken made. */
export interface TokenUse {
  /** 'CreateVolume 3fa…' */
  readonly id: string;
  readonly at: number;
  /** Of all parameters. */
  readonly parameters: string;
  readonly resources: readonly string[];
}

export interface LaunchTemplate {
  readonly id: string;
  readonly name: string;
  readonly createTime: number;
  readonly tags: Tags;
  readonly data: LaunchTemplateData;
}

export interface LaunchTemplateData {
  readonly imageId?: string | undefined;
  readonly userData?: string | undefined;
  readonly securityGroupIds: readonly string[];
  readonly instanceTags: Tags;
}

export interface Records {
  readonly volumes: Volume;
  readonly instances: Instance;
  readonly snapshots: Snapshot;
  readonly launchTemplates: LaunchTemplate;
  readonly tokens: TokenUse;
}

export type Collection = keyof Records;

/** Undefined record: it is removed. */
export type Change = { readonly [Name in Collection]: { readonly in: Name; readonly id: string; readonly record: Records[Name] | undefined } }[Collection];
