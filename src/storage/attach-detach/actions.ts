import type { Pod, VolumeAttachment } from '../../api/generated/types.ts';

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
  | RecordAttachEvent;

export interface RecordAttachEvent {
  readonly do: 'tell';
  readonly pod: Pod;
  readonly event: { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string };
  readonly remember: { readonly volume: string; readonly what: string; readonly at: number };
}

export interface AttachDetachDecision {
  /** Any prefix may be all that happens. */
  readonly actions: readonly AttachDetachAction[];
  readonly reasons: readonly AttachDetachReason[];
  /** When to decide again although nothing changed; milliseconds since 1970. */
  readonly again?: number;
}

export interface AttachDetachReason {
  readonly code: string;
  readonly text: string;
  /** Whose move it is, and by when something else will happen if nothing is done. */
  readonly next: 'attach-detach' | 'external attacher' | 'node' | 'user' | 'nobody';
  readonly by?: number;
}
