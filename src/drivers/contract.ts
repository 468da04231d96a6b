/**
 * What a storage backend does, with the calls and the semantics of CSI 1.12: every call may be repeated with the same
 * arguments and then changes nothing, and a failure has one of CSI's codes. A call stands here once something makes it.
 *
 *     create      CreateVolume                by name: the same name is the same volume
 *     delete      DeleteVolume                by handle: what is not there is deleted
 *     list        ListVolumes                 for the audit
 *     expand      ControllerExpandVolume      to at least so much; what is larger already stays
 *     publish     ControllerPublishVolume     to one node
 *     unpublish   ControllerUnpublishVolume   from one node; what is not there is unpublished
 *     published   ListVolumes, with LIST_VOLUMES_PUBLISHED_NODES
 *
 * What a backend does on a node is a `NodeDriver`:
 *
 *     stage       NodeStageVolume             once for each node: the file system is mounted, for nobody yet
 *     publish     NodePublishVolume           for one pod
 *     unpublish   NodeUnpublishVolume         what is not there is unpublished
 *     unstage     NodeUnstageVolume           after the last pod's
 *     expand      NodeExpandVolume            what was made larger is so for pods as well; again: nothing happens
 *     stats       NodeGetVolumeStats
 *
 * Still to come, each with its first caller: snapshot (controller); and `scrub`, which CSI does not have: until nodes run
 * pods, a pod does it as in Kubernetes.
 *
 * Every call that changes something says under which leadership it is made. A leader that was deposed cannot write to the API any
 * more, but what it asked of a backend may be on its way: a driver that can remember the highest epoch refuses all lower ones.
 */
import type { PersistentVolume, PersistentVolumeSource, Pod, VolumeSource } from '../api/generated/types.ts';
import type { DriverCapabilities } from '../api/volumes/driver-capabilities.ts';
import type { Asset, CreateRequest } from '../api/volumes/intent.ts';
import type { PublishTarget, PublishRequest } from '../api/volumes/controller-publish.ts';
import type { Usage } from '../world/mounts.ts';

export interface VolumeDriver {
  readonly capabilities: DriverCapabilities;
  createVolume(request: CreateVolumeRequest, leader: Leader): Promise<DriverAnswer<Asset>>;
  deleteVolume(handle: string, leader: Leader): Promise<DriverAnswer<undefined>>;
  /** The handles of all that was made for this cluster. */
  listVolumes(): Promise<DriverAnswer<readonly string[]>>;
  /** The handle that a volume of this name has, or would have; undefined: only `create` tells. */
  handleFor(name: string): string | undefined;
  /** The handle of the volume that a PersistentVolume describes so; undefined: it is none of this driver's. */
  handleOf(source: PersistentVolumeSource): string | undefined;
  /** Unless `facts.expands` is 'never'. */
  controllerExpandVolume?(request: ControllerExpandVolumeRequest, leader: Leader): Promise<DriverAnswer<ControllerExpandVolumeResponse>>;
  /** If `facts.attaches`. */
  readonly attacher?: Attacher;
}

/** Volumes that have to be attached to a node before it can mount them. */
export interface Attacher {
  /** Answers with what the node has to know to find the device. */
  controllerPublishVolume(request: PublishRequest, leader: Leader): Promise<DriverAnswer<Readonly<Record<string, string>>>>;
  controllerUnpublishVolume(request: PublishTarget, leader: Leader): Promise<DriverAnswer<undefined>>;
  /** All that is attached anywhere, in one call. Absent: the backend cannot tell. */
  listPublishedVolumes?(): Promise<DriverAnswer<readonly PublishTarget[]>>;
}

/** Who asks: the holder of a lease ('kube-system/moor-controllers'), since that epoch. Later leaders have higher epochs. */
export interface Leader {
  readonly lease: string;
  readonly epoch: number;
}

export interface CreateVolumeRequest extends CreateRequest {
  /** Chosen by who asks. */
  readonly name: string;
}

export interface ControllerExpandVolumeRequest {
  readonly handle: string;
  /** At least so much: a quantity. */
  readonly capacity: string;
}

export interface ControllerExpandVolumeResponse {
  /** What it has now. */
  readonly capacity: string;
  /** The file system has to grow as well, on a node that mounts it. */
  readonly nodeExpansionRequired: boolean;
}

/** What a backend does on a node, for the pods that run there. */
export interface NodeDriver {
  readonly capabilities: NodeDriverCapabilities;
  /** If `facts.stages`: makes the volume available at `stagingPath`. */
  nodeStageVolume?(request: NodeStageVolumeRequest): Promise<DriverAnswer<undefined>>;
  nodeUnstageVolume?(request: NodeUnstageVolumeRequest): Promise<DriverAnswer<undefined>>;
  /** A volume that is published already stays as it is, unless it is not what was asked for. */
  nodePublishVolume(request: NodePublishVolumeRequest): Promise<DriverAnswer<NodePublishVolumeResponse>>;
  /** Afterwards there is nothing at `target`. Data of volumes that outlive pods is never touched. */
  nodeUnpublishVolume(request: NodeUnpublishVolumeRequest): Promise<DriverAnswer<undefined>>;
  /**
   * Of a volume that is staged, after whoever made it larger. Absent: nothing has to be done on the node. `FailedPrecondition`: not as long as
   * anybody has it mounted; staging it the next time does it.
   */
  nodeExpandVolume?(request: NodeExpandVolumeRequest): Promise<DriverAnswer<undefined>>;
  /** Absent: the file system at the volume's path tells. */
  nodeGetVolumeStats?(path: string): Promise<DriverAnswer<Usage>>;
}

export interface NodeDriverCapabilities {
  /** As Kubernetes calls the plugin: 'kubernetes.io/empty-dir'. */
  readonly name: string;
  /** Mounted once for the whole node, and from there for each pod. */
  readonly stages: boolean;
  readonly mountOptions: boolean;
  readonly block: boolean;
  /** What is in it follows objects of the API: published again when one of them changes. */
  readonly requiresRemount: boolean;
}

/** As a pod or as a PersistentVolume describes a volume: some have other fields in one than in the other. */
export type SourceOnNode = { readonly [Field in keyof (VolumeSource & PersistentVolumeSource)]?: Described<Field> | undefined };

type Described<Field> =
  | (Field extends keyof VolumeSource ? VolumeSource[Field] : never)
  | (Field extends keyof PersistentVolumeSource ? PersistentVolumeSource[Field] : never);

/** The volume, in whichever words it was described. */
export interface VolumeOnNode {
  /** The volume's name in the pod; of a PersistentVolume: its own. */
  readonly name: string;
  readonly source: SourceOnNode;
  /** Undefined: the pod describes it itself. */
  readonly persistentVolume: PersistentVolume | undefined;
  readonly readOnly: boolean;
  readonly mountOptions: readonly string[];
  readonly mode: 'Filesystem' | 'Block';
  /** What attaching it told: where the device is. */
  readonly publishContext: Readonly<Record<string, string>>;
}

export interface NodeStageVolumeRequest {
  readonly volume: VolumeOnNode;
  readonly stagingPath: string;
  /** The first that wants it: secrets may be of its namespace. */
  readonly pod?: Pod;
}

export interface NodeUnstageVolumeRequest {
  readonly handle: string;
  readonly stagingPath: string;
}

export interface NodeExpandVolumeRequest extends NodeStageVolumeRequest {
  /** At least so much: a quantity. */
  readonly capacity: string;
}

export interface NodePublishVolumeRequest {
  readonly volume: VolumeOnNode;
  readonly pod: Pod;
  /** A place for this volume of this pod alone; the directory that holds it exists. */
  readonly target: string;
  /** Undefined: the driver does not stage. */
  readonly stagingPath: string | undefined;
  /** Called with what people who wait should know: (reason, message) of an event. */
  readonly recordEvent: (reason: string, message: string) => void;
}

export interface NodePublishVolumeResponse {
  /** Where it is: `target`, or what already was on the machine. */
  readonly path: string;
  /** When it has to be published again; milliseconds since 1970. */
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

/** The codes of gRPC that CSI gives a meaning. */
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

/** What a driver answers a leader that was deposed. Nothing was done. */
export const deposed = ({ lease, epoch }: Leader, highest: number): DriverFailure =>
  failed('PermissionDenied', `epoch ${epoch} of ${lease} is over: ${highest} has been here`);

/** After these nobody knows whether it happened: it may even be happening still. */
const inconclusive: ReadonlySet<DriverErrorCode> = new Set(['Canceled', 'Unknown', 'DeadlineExceeded', 'ResourceExhausted', 'Aborted', 'Unavailable']);

/** Whether the call that failed so certainly left nothing behind. */
export const isFinal = (code: DriverErrorCode): boolean => !inconclusive.has(code);

/** However often it is asked, the answer will be the same. */
export const isInfeasible = (code: DriverErrorCode): boolean => code === 'InvalidArgument' || code === 'OutOfRange' || code === 'NotFound';
