/**
 * The driver contract, with the calls and semantics of CSI 1.12: every call is idempotent, and a failure has one of CSI's codes.
 *
 * `VolumeDriver`, the controller service:
 *
 *     createVolume                by name: the same name is the same volume
 *     deleteVolume                by handle; a missing volume is no error
 *     listVolumes                 for the audit
 *     controllerExpandVolume      to at least the given size; a larger volume stays
 *     controllerPublishVolume     to one node
 *     controllerUnpublishVolume   from one node; a volume that is not published is no error
 *     listPublishedVolumes        ListVolumes with LIST_VOLUMES_PUBLISHED_NODES
 *
 * `NodeDriver`, the node service:
 *
 *     nodeStageVolume             once for each node: mounts the file system at the staging path
 *     nodePublishVolume           for one pod
 *     nodeUnpublishVolume         a volume that is not published is no error
 *     nodeUnstageVolume           after the last pod
 *     nodeExpandVolume            grows the file system after the volume
 *     nodeGetVolumeStats
 *     nodeGetVolumeHealth         cheap for drivers that do not tell: they are asked for it once a minute for each volume
 *
 * `Snapshotter`: createSnapshot (by name), deleteSnapshot, getSnapshot, listSnapshots; `GroupSnapshotter`: the same of several volumes at one moment.
 *
 * Scrubbing (Recycle) is no CSI call: a pod does it, as in Kubernetes.
 *
 * Every call that changes a volume carries the caller's lease and epoch (fencing). The API server refuses writes of a deposed leader, but
 * its call to a backend may still be in flight. A driver that persists the highest epoch refuses all lower ones.
 */
import type { PersistentVolume, PersistentVolumeSource, PersistentVolumeSpec, Pod, VolumeSource } from '../api/generated/types.ts';
import type { DriverCapabilities } from '../api/volumes/driver-capabilities.ts';
import type { Asset, CreateRequest, SecretName, TopologySegments } from '../api/volumes/intent.ts';
import type { PublishRequest, PublishTarget, UnpublishRequest } from '../api/volumes/controller-publish.ts';
import type { CsiSource } from '../api/volumes/csi-translation.ts';
import type { Channel } from '../grpc/channel.ts';
import type { Usage } from '../world/mounts.ts';

export interface VolumeDriver {
  readonly capabilities: DriverCapabilities;
  createVolume(request: CreateVolumeRequest, leader: Leader): Promise<DriverAnswer<CreatedVolume>>;
  /** `secret`: whose data the call carries. */
  deleteVolume(handle: string, leader: Leader, secret?: SecretName): Promise<DriverAnswer<undefined>>;
  /** The handles of all volumes of this cluster. */
  listVolumes(): Promise<DriverAnswer<readonly string[]>>;
  /** The handle of the volume with this name, if it can be computed; undefined: only the response of createVolume has it. */
  handleFor(name: string): string | undefined;
  /** The handle in a PV's source; undefined: the PV belongs to another driver. */
  handleOf(source: PersistentVolumeSource): string | undefined;
  /** Unless `capabilities.expands` is 'never'. */
  controllerExpandVolume?(request: ControllerExpandVolumeRequest, leader: Leader): Promise<DriverAnswer<ControllerExpandVolumeResponse>>;
  /** If `capabilities.attaches`. */
  readonly attacher?: Attacher;
  /** CSI's MODIFY_VOLUME. */
  controllerModifyVolume?(request: ControllerModifyVolumeRequest, leader: Leader): Promise<DriverAnswer<undefined>>;
  /** CSI's GET_CAPACITY. */
  getCapacity?(request: GetCapacityRequest): Promise<DriverAnswer<DriverCapacity>>;
  /** CSI's CREATE_DELETE_SNAPSHOT. */
  readonly snapshotter?: Snapshotter;
  /** CSI's CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT. */
  readonly groupSnapshotter?: GroupSnapshotter;
}

export interface Snapshotter {
  /** The same name is the same snapshot. Until `readyToUse` the caller repeats the call. */
  createSnapshot(request: CreateSnapshotRequest, leader: Leader): Promise<DriverAnswer<DriverSnapshot>>;
  /** A missing snapshot is no error. */
  deleteSnapshot(request: SnapshotReference, leader: Leader): Promise<DriverAnswer<undefined>>;
  /** ListSnapshots with the snapshot's id; NotFound. Absent: the driver cannot list them. */
  getSnapshot?(request: SnapshotReference): Promise<DriverAnswer<DriverSnapshot>>;
  listSnapshots?(): Promise<DriverAnswer<readonly DriverSnapshot[]>>;
}

export interface GroupSnapshotter {
  createVolumeGroupSnapshot(request: CreateVolumeGroupSnapshotRequest, leader: Leader): Promise<DriverAnswer<DriverGroupSnapshot>>;
  deleteVolumeGroupSnapshot(request: GroupSnapshotReference, leader: Leader): Promise<DriverAnswer<undefined>>;
  getVolumeGroupSnapshot(request: GroupSnapshotReference): Promise<DriverAnswer<DriverGroupSnapshot>>;
}

/** The Secret whose data a call carries. */
export type SecretReference = SecretName;

export interface CreateSnapshotRequest {
  /** Chosen by the caller. */
  readonly name: string;
  readonly sourceHandle: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly secret?: SecretReference;
}

export interface SnapshotReference {
  readonly handle: string;
  readonly secret?: SecretReference;
}

export interface DriverSnapshot {
  readonly handle: string;
  readonly sourceHandle: string;
  /** Milliseconds since 1970. */
  readonly creationTime: number;
  readonly readyToUse: boolean;
  /** Of a volume that is restored from it: at least this many bytes. 0: unknown. */
  readonly sizeBytes: number;
  readonly groupHandle?: string;
}

export interface CreateVolumeGroupSnapshotRequest {
  readonly name: string;
  readonly sourceHandles: readonly string[];
  readonly parameters: Readonly<Record<string, string>>;
  readonly secret?: SecretReference;
}

export interface GroupSnapshotReference extends SnapshotReference {
  readonly snapshotHandles: readonly string[];
}

export interface DriverGroupSnapshot {
  readonly handle: string;
  readonly snapshots: readonly DriverSnapshot[];
  readonly creationTime: number;
  readonly readyToUse: boolean;
}

/** CSI's PUBLISH_UNPUBLISH_VOLUME: the volumes have to be attached to a node before it can mount them. */
export interface Attacher {
  /** Returns the publish context, by which the node finds the device. */
  controllerPublishVolume(request: PublishRequest, leader: Leader): Promise<DriverAnswer<Readonly<Record<string, string>>>>;
  controllerUnpublishVolume(request: UnpublishRequest, leader: Leader): Promise<DriverAnswer<undefined>>;
  /** All attached volumes, in one call. Absent: the backend cannot list them. */
  listPublishedVolumes?(): Promise<DriverAnswer<readonly PublishTarget[]>>;
}

/** The fencing token of a call: the lease ('kube-system/moor-controllers') and its epoch, which increases with each leader. */
export interface Leader {
  readonly lease: string;
  readonly epoch: number;
}

export interface CreateVolumeRequest extends CreateRequest {
  /** Chosen by the caller. */
  readonly name: string;
}

/** `mismatch`: why the volume is not what was asked for, and has to be deleted again. */
export interface CreatedVolume extends Asset {
  readonly mismatch?: string;
}

export interface ControllerModifyVolumeRequest {
  readonly handle: string;
  readonly mutableParameters: Readonly<Record<string, string>>;
  readonly secret?: SecretName;
}

export interface GetCapacityRequest {
  /** Of the class, without those of the provisioner itself. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Undefined: everywhere. */
  readonly topology?: TopologySegments;
}

/** In bytes. */
export interface DriverCapacity {
  readonly available: bigint;
  /** Of one volume; undefined: unknown. */
  readonly maximumVolumeSize?: bigint;
}

export interface ControllerExpandVolumeRequest {
  readonly handle: string;
  /** Of the PersistentVolume: CSI drivers get its capability and its Secret. */
  readonly volume?: PersistentVolumeSource & Partial<PersistentVolumeSpec>;
  /** The minimum size: a quantity. */
  readonly capacity: string;
}

export interface ControllerExpandVolumeResponse {
  /** The new size. */
  readonly capacity: string;
  /** The file system has to grow too, by nodeExpandVolume. */
  readonly nodeExpansionRequired: boolean;
}

/** The node service of a driver. */
export interface NodeDriver {
  readonly capabilities: NodeDriverCapabilities;
  /** If `capabilities.stages`. */
  nodeStageVolume?(request: NodeStageVolumeRequest): Promise<DriverAnswer<undefined>>;
  nodeUnstageVolume?(request: NodeUnstageVolumeRequest): Promise<DriverAnswer<undefined>>;
  /** A volume that is published already is changed only where it differs from the request. */
  nodePublishVolume(request: NodePublishVolumeRequest): Promise<DriverAnswer<NodePublishVolumeResponse>>;
  /** Removes `target`. The data of a volume that outlives its pods is never touched. */
  nodeUnpublishVolume(request: NodeUnpublishVolumeRequest): Promise<DriverAnswer<undefined>>;
  /**
   * Of a staged volume, after controllerExpandVolume. Absent: the node has nothing to do. `FailedPrecondition`: not while it is mounted; the
   * next nodeStageVolume expands it.
   */
  nodeExpandVolume?(request: NodeExpandVolumeRequest): Promise<DriverAnswer<undefined>>;
  /** Whether the volume is expanded only once it is published, as the kubelet does it. Absent: as soon as it is staged. */
  expandsPublished?(volume: VolumeOnNode): boolean;
  /** Absent: statfs of the volume's path. */
  nodeGetVolumeStats?(path: string): Promise<DriverAnswer<VolumeStats>>;
  /** Undefined: the driver does not tell. Absent: none does. */
  nodeGetVolumeHealth?(csi: CsiSource, path: string): Promise<DriverAnswer<VolumeHealth | undefined>>;
}

/** `health`: of drivers that tell. */
export interface VolumeStats extends Usage {
  readonly health?: VolumeHealth;
}

/** Whether a volume can be used as it should, and in words why not. */
export interface VolumeHealth {
  readonly abnormal: boolean;
  readonly message: string;
}

/** A CSI driver that is registered on the node by its socket. */
export interface CsiSocket {
  readonly channel: Channel;
  /** A path of the node as the driver sees it: a driver in a container sees the node's directory as /var/lib/kubelet. */
  readonly pathInDriver: (path: string) => string;
}

export interface NodeDriverCapabilities {
  /** Kubernetes' plugin name: 'kubernetes.io/empty-dir'. */
  readonly name: string;
  /** CSI's STAGE_UNSTAGE_VOLUME. */
  readonly stages: boolean;
  readonly mountOptions: boolean;
  readonly block: boolean;
  /** The content depends on API objects: published again when one of them changes. */
  readonly requiresRemount: boolean;
}

/** The source in a pod's or in a PV's spec: the fields of some types differ. */
export type SourceOnNode = { readonly [Field in keyof (VolumeSource & PersistentVolumeSource)]?: Described<Field> | undefined };

type Described<Field> =
  | (Field extends keyof VolumeSource ? VolumeSource[Field] : never)
  | (Field extends keyof PersistentVolumeSource ? PersistentVolumeSource[Field] : never);

export interface VolumeOnNode {
  /** The volume's name in the pod's spec; of a PV: its name. */
  readonly name: string;
  readonly source: SourceOnNode;
  /** Undefined: an inline volume. */
  readonly persistentVolume: PersistentVolume | undefined;
  readonly readOnly: boolean;
  readonly mountOptions: readonly string[];
  readonly mode: 'Filesystem' | 'Block';
  /** CSI's publish_context, from controllerPublishVolume. */
  readonly publishContext: Readonly<Record<string, string>>;
}

export interface NodeStageVolumeRequest {
  readonly volume: VolumeOnNode;
  readonly stagingPath: string;
  /** The first pod that uses it: secrets may be in its namespace. */
  readonly pod?: Pod;
}

export interface NodeUnstageVolumeRequest {
  readonly handle: string;
  readonly stagingPath: string;
  /** Of a CSI volume. */
  readonly csi?: CsiSource | undefined;
}

export interface NodeExpandVolumeRequest extends NodeStageVolumeRequest {
  /** The minimum size: a quantity. */
  readonly capacity: string;
  /** Where it is published; absent: it is not. */
  readonly target?: string;
}

export interface NodePublishVolumeRequest {
  readonly volume: VolumeOnNode;
  readonly pod: Pod;
  /** For this volume of this pod; the parent directory exists. */
  readonly target: string;
  /** Undefined: the driver does not stage volumes. */
  readonly stagingPath: string | undefined;
  /** A container may see it already: it was published by this process, or perhaps by an earlier one. */
  readonly isRepublish?: boolean;
  /** Records an Event on the pod. */
  readonly recordEvent: (reason: string, message: string) => void;
}

export interface NodePublishVolumeResponse {
  /** `target`, or an existing path of the machine. */
  readonly path: string;
  /** When to publish it again (a token expires); milliseconds since 1970. */
  readonly republishAt?: number;
}

export interface NodeUnpublishVolumeRequest {
  readonly target: string;
  /** The volume's name, as in `VolumeOnNode`. */
  readonly name: string;
  readonly podUid: string;
  /** Of a CSI volume. */
  readonly csi?: CsiSource | undefined;
}

export type DriverAnswer<T> = { readonly ok: true; readonly value: T } | DriverFailure;

export interface DriverFailure {
  readonly ok: false;
  readonly code: DriverErrorCode;
  readonly message: string;
  /** Whether the call certainly left nothing behind; absent: by the code. */
  readonly final?: boolean;
  /** Of createVolume for a selected node: whether another node may do. */
  readonly reschedule?: boolean;
}

/** The gRPC codes that CSI uses. */
export type DriverErrorCode =
  | 'Canceled'
  | 'Unknown'
  | 'InvalidArgument'
  | 'DeadlineExceeded'
  | 'NotFound'
  | 'AlreadyExists'
  | 'PermissionDenied'
  | 'ResourceExhausted'
  | 'FailedPrecondition'
  | 'Aborted'
  | 'OutOfRange'
  | 'Unimplemented'
  | 'Internal'
  | 'Unavailable'
  | 'Unauthenticated';

export const failed = (code: DriverErrorCode, message: string): DriverFailure => ({ ok: false, code, message });
export const succeeded = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });
export const done = succeeded(undefined);

/** A rejection becomes a failure with the error's message. `codes`: by the `code` of the system call; Internal by default. */
export async function attempt<T>(task: () => Promise<DriverAnswer<T>>, codes: Readonly<Record<string, DriverErrorCode>> = {}): Promise<DriverAnswer<T>> {
  try {
    return await task();
  } catch (error) {
    const { code = '', message = String(error) } = (error ?? {}) as { readonly code?: string; readonly message?: string };
    return failed(codes[code] ?? 'Internal', message);
  }
}

/** The response to a deposed leader. Nothing was done. */
export const deposed = ({ lease, epoch }: Leader, highest: number): DriverFailure =>
  failed('PermissionDenied', `epoch ${epoch} of lease ${lease} is outdated: the latest is ${highest}`);

/** After these the call may have taken effect, or may still be running. */
const inconclusive: ReadonlySet<DriverErrorCode> = new Set(['Canceled', 'Unknown', 'DeadlineExceeded', 'ResourceExhausted', 'Aborted', 'Unavailable']);

/** Whether the failed call certainly left nothing behind. */
export const isFinal = ({ code, final }: Pick<DriverFailure, 'code' | 'final'>): boolean => final ?? !inconclusive.has(code);

/** A retry would fail again. */
export const isInfeasible = (code: DriverErrorCode): boolean => code === 'InvalidArgument' || code === 'OutOfRange' || code === 'NotFound';
