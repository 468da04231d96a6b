/** What a decision about one volume on one node reads, parsed once from the objects. */
import type { Node, PersistentVolume, Pod, VolumeAttachment } from '../../api/generated/types.ts';
import type { LastEvent } from '../../client/decision.ts';

/** One volume on one node. */
export interface AttachTarget {
  /** The name of its VolumeAttachment. */
  readonly id: string;
  readonly driver: string;
  readonly handle: string;
  readonly node: string;
  /** The volume's name in a node's volumesAttached and volumesInUse. */
  readonly uniqueName: string;
}

export interface AttachDetachSnapshot {
  readonly target: AttachTarget;
  /** The CSIDriver's attachRequired. */
  readonly attachRequired: boolean;
  /** Pods on the node whose claim is bound to the volume, in order of their names: the desired state. */
  readonly desiredBy: readonly DesiredAttachment[];
  /** 'namespace/name' of those, and of pods whose claim is no longer bound: they may have it mounted. */
  readonly users: readonly string[];
  readonly node: NodeState;
  readonly attachment: AttachmentState;
  /** The volume's attachments to other nodes, if it can have only one. */
  readonly competitors: readonly CompetingAttachment[];
  /** Since when no pod on the node uses the volume; undefined: a pod does. Milliseconds since 1970. */
  readonly unwantedSince: number | undefined;
  /** By `eventKey`. */
  readonly lastEvent: LastEvent;
}

export interface DesiredAttachment {
  readonly pod: Pod;
  readonly volume: PersistentVolume;
  /** An inline volume of the pod: there is no PersistentVolume, and `volume` is what it would be. */
  readonly isInline?: boolean;
}

/** The key of the last event about a volume of a pod. */
export const eventKey = ({ metadata }: Pod, { uniqueName }: AttachTarget): string => `${metadata.uid ?? ''} ${uniqueName}`;

export interface CompetingAttachment {
  readonly node: string;
  readonly attachment: AttachmentState;
  readonly pods: readonly { readonly namespace: string; readonly name: string }[];
  /** The node's volumesInUse has the volume. */
  readonly inUse: boolean;
}

export type AttachmentState =
  | { readonly state: 'none' }
  /** The attachment was created, and the CSI attacher has not answered. */
  | { readonly state: 'attaching'; readonly object: VolumeAttachment; readonly since: number }
  | { readonly state: 'failed'; readonly object: VolumeAttachment; readonly message: string; readonly at: string }
  | { readonly state: 'attached'; readonly object: VolumeAttachment }
  /** The attachment goes as soon as the CSI attacher has detached the volume. */
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
  /** `wasInUse`: its last volumesInUse had the volume. */
  | { readonly state: 'gone'; readonly wasInUse: boolean }
  | {
      readonly state: 'known';
      /** The control plane attaches its volumes, not the node itself. */
      readonly managed: boolean;
      readonly ready: boolean;
      /** It has the out-of-service taint: it is off and stays off. */
      readonly outOfService: boolean;
      /** Its volumesAttached has the volume: it may mount it. */
      readonly listed: boolean;
      /** Its volumesInUse has the volume: it has it mounted, or will. */
      readonly inUse: boolean;
      /** The node changed after the attachment did. */
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
