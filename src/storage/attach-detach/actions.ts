import type { VolumeAttachment } from '../../api/generated/types.ts';
import type { Decision, RecordEvent } from '../../client/decision.ts';
import type { VolumeReason } from '../volumes/decision.ts';

/** All that the attach/detach controller may do about one volume on one node. */
export type AttachDetachAction =
  | { readonly do: 'create-attachment' | 'delete-attachment'; readonly object: VolumeAttachment }
  /** The node's status lists the volume as attached: it may mount it. */
  | { readonly do: 'report-attached' }
  /** The node's status lists the volume no more. Fails if the node has it mounted, unless `evenIfInUse`. */
  | { readonly do: 'report-detached'; readonly evenIfInUse: boolean }
  /**
   * Both ask the server, not the caches, which may be behind if the answers to own writes got lost. If the attachment is being
   * deleted, or the node has the volume mounted, the rest of the list is not performed.
   */
  | { readonly do: 'confirm-attached' | 'confirm-unused' }
  | RecordEvent;

export type AttachDetachDecision = Decision<AttachDetachAction, AttachDetachReason>;

export interface AttachDetachReason extends VolumeReason {
  /** When something else will happen if nothing changes; milliseconds since 1970. */
  readonly by?: number;
}
