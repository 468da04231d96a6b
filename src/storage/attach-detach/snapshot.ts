/** What a decision about one volume on one node is made of, read once from the objects. */
import type { Node, PersistentVolume, Pod, VolumeAttachment } from '../../api/generated/types.ts';
import type { LastEvent } from '../../client/decision.ts';

/** One volume on one node. */
export interface AttachTarget {
  /** The name of its VolumeAttachment. */
  readonly id: string;
  readonly driver: string;
  readonly handle: string;
  readonly node: string;
  /** The volume as node statuses call it. */
  readonly uniqueName: string;
}

export interface AttachDetachSnapshot {
  readonly target: AttachTarget;
  /** The driver wants its volumes attached. */
  readonly attachRequired: boolean;
  /** Pods on the node whose claim is bound to the volume: they want it attached. In order of their names. */
  readonly desiredBy: readonly DesiredAttachment[];
  /** Those, and pods whose claim is no longer in order: they may have it mounted. 'namespace/name' */
  readonly users: readonly string[];
  readonly node: NodeState;
  readonly attachment: AttachmentState;
  /** The volume's attachments to other nodes, if it can have only one. */
  readonly competitors: readonly CompetingAttachment[];
  /** Since when nobody on the node uses it; undefined: somebody does. Milliseconds since 1970. */
  readonly unwantedSince: number | undefined;
  /** By `eventKey`. */
  readonly lastEvent: LastEvent;
}

export interface DesiredAttachment {
  readonly pod: Pod;
  readonly volume: PersistentVolume;
  /** The pod names the disk itself: there is no PersistentVolume, and `volume` is what it would say. */
  readonly isInline?: boolean;
}

/** The key of the last event about a volume on a pod. */
export const eventKey = ({ metadata }: Pod, { uniqueName }: AttachTarget): string => `${metadata.uid ?? ''} ${uniqueName}`;

export interface CompetingAttachment {
  readonly node: string;
  readonly attachment: AttachmentState;
  readonly pods: readonly { readonly namespace: string; readonly name: string }[];
  /** The node says that it has the volume mounted. */
  readonly inUse: boolean;
}

export type AttachmentState =
  | { readonly state: 'none' }
  /** It was asked for, and nobody has answered. */
  | { readonly state: 'attaching'; readonly object: VolumeAttachment; readonly since: number }
  | { readonly state: 'failed'; readonly object: VolumeAttachment; readonly message: string; readonly at: string }
  | { readonly state: 'attached'; readonly object: VolumeAttachment }
  /** It goes as soon as whoever attached it has detached it. */
  | { readonly state: 'detaching'; readonly object: VolumeAttachment; readonly wasAttached: boolean; readonly problem: string | undefined };

export function readAttachment(object: VolumeAttachment | undefined): AttachmentState {
  if (object === undefined) return { state: 'none' };
  const { attached, attachError, detachError } = object.status;
  if (object.metadata.deletionTimestamp !== undefined) return { state: 'detaching', object, wasAttached: attached, problem: detachError?.message };
  if (attached) return { state: 'attached', object };
  if (attachError !== undefined) return { state: 'failed', object, message: attachError.message ?? '', at: attachError.time ?? '' };
  const since = Date.parse(object.metadata.creationTimestamp ?? '');
  return { state: 'attaching', object, since: Number.isNaN(since) ? 0 : since };
}

export type NodeState =
  /** `wasInUse`: the last that it said was that the volume is mounted. */
  | { readonly state: 'gone'; readonly wasInUse: boolean }
  | {
      readonly state: 'known';
      /** The control plane attaches its volumes, not the node itself. */
      readonly managed: boolean;
      readonly ready: boolean;
      /** An administrator has said that it is off and stays off. */
      readonly outOfService: boolean;
      /** It is told that the volume is attached: it may mount it. */
      readonly listed: boolean;
      /** It says that it has the volume mounted, or will. */
      readonly inUse: boolean;
      /** Something of it changed after the attachment did. */
      readonly heardSince: boolean;
    };

export function readNode(node: Node, uniqueName: string, heardSince: boolean): NodeState {
  const { metadata, spec, status } = node;
  return {
    state: 'known',
    managed: Object.hasOwn(metadata.annotations ?? {}, managedAnnotation),
    ready: isReady(node),
    outOfService: isOutOfService(spec.taints),
    listed: status.volumesAttached?.some(({ name }) => name === uniqueName) ?? false,
    inUse: status.volumesInUse?.includes(uniqueName) ?? false,
    heardSince,
  };
}

/** Only whether it is there matters. */
export const managedAnnotation = 'volumes.kubernetes.io/controller-managed-attach-detach';

export const isReady = ({ status }: Node): boolean => status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

export const isOutOfService = (taints: Node['spec']['taints']): boolean => taints?.some(({ key }) => key === 'node.kubernetes.io/out-of-service') ?? false;
