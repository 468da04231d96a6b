import type { VolumeAttachment } from '../../api/generated/types.ts';
import type { Decision, RecordEvent } from '../../client/decision.ts';
import type { VolumeReason } from '../volumes/decision.ts';

/** What can be done about one volume on one node. */
export type AttachDetachAction =
  | { readonly do: 'create-attachment' | 'delete-attachment'; readonly object: VolumeAttachment }
  /** The node's status lists the volume as attached: it may mount it. */
  | { readonly do: 'report-attached' }
  /** The node's status lists it no more. Unless told otherwise, fails if the node has it mounted. */
  | { readonly do: 'report-detached'; readonly evenIfInUse: boolean }
  /**
   * Both ask the server, not the caches, which may be behind what became of our own writes if their answers got lost. If the
   * attachment is going, or the node has the volume mounted, nothing that follows happens.
   */
  | { readonly do: 'confirm-attached' | 'confirm-unused' }
  | RecordEvent;

export type AttachDetachDecision = Decision<AttachDetachAction, AttachDetachReason>;

export interface AttachDetachReason extends VolumeReason {
  /** When something else will happen if nothing changes; milliseconds since 1970. */
  readonly by?: number;
}
