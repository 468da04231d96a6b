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
 *
 * Snapshots come with their first caller. Scrubbing (Recycle) is no CSI call: a pod does it, as in Kubernetes.
 *
 * Every call that changes a volume carries the caller's lease and epoch (fencing). The API server refuses writes of a deposed leader, but
 * its call to a backend may still be in flight. A driver that persists the highest epoch refuses all lower ones.
 */
import type { PersistentVolume, PersistentVolumeSource, Pod, VolumeSource } from '../api/generated/types.ts';
import type { DriverCapabilities } from '../api/volumes/driver-capabilities.ts';
import type { Asset, CreateRequest } from '../api/volumes/intent.ts';
import type { PublishRequest, PublishTarget } from '../api/volumes/controller-publish.ts';
import type { Usage } from '../world/mounts.ts';

export interface VolumeDriver {
  readonly capabilities: DriverCapabilities;
  createVolume(request: CreateVolumeRequest, leader: Leader): Promise<DriverAnswer<Asset>>;
  deleteVolume(handle: string, leader: Leader): Promise<DriverAnswer<undefined>>;
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
}

/** CSI's PUBLISH_UNPUBLISH_VOLUME: the volumes have to be attached to a node before it can mount them. */
export interface Attacher {
  /** Returns the publish context, by which the node finds the device. */
  controllerPublishVolume(request: PublishRequest, leader: Leader): Promise<DriverAnswer<Readonly<Record<string, string>>>>;
  controllerUnpublishVolume(request: PublishTarget, leader: Leader): Promise<DriverAnswer<undefined>>;
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

export interface ControllerExpandVolumeRequest {
  readonly handle: string;
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
  /** Absent: statfs of the volume's path. */
  nodeGetVolumeStats?(path: string): Promise<DriverAnswer<Usage>>;
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
}

export interface NodeExpandVolumeRequest extends NodeStageVolumeRequest {
  /** The minimum size: a quantity. */
  readonly capacity: string;
}

export interface NodePublishVolumeRequest {
  readonly volume: VolumeOnNode;
  readonly pod: Pod;
  /** For this volume of this pod; the parent directory exists. */
  readonly target: string;
  /** Undefined: the driver does not stage volumes. */
  readonly stagingPath: string | undefined;
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
}

export type DriverAnswer<T> = { readonly ok: true; readonly value: T } | DriverFailure;

export interface DriverFailure {
  readonly ok: false;
  readonly code: DriverErrorCode;
  readonly message: string;
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
export const isFinal = (code: DriverErrorCode): boolean => !inconclusive.has(code);

/** A retry would fail again. */
export const isInfeasible = (code: DriverErrorCode): boolean => code === 'InvalidArgument' || code === 'OutOfRange' || code === 'NotFound';
