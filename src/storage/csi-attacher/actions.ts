import type { PublishTarget, PublishRequest } from '../../api/volumes/controller-publish.ts';
import type { PersistentVolume, VolumeAttachment } from '../../api/generated/types.ts';
import type { Decision, ObjectWrite } from '../../client/decision.ts';
import type { VolumeReason } from '../volumes/decision.ts';
import type { PublishOutcome, UnpublishOutcome } from '../../api/volumes/driver-capabilities.ts';

/** All that the attacher may do to the world. */
export type CsiAttacherAction =
  | ObjectWrite<VolumeAttachment>
  | ObjectWrite<PersistentVolume>
  | Publish
  | Unpublish
  | DetachDangling
  /** What came of asking the driver; undefined: it is all written, and what a verification found is settled. */
  | { readonly do: 'rememberAttempt'; readonly attachment: VolumeAttachment; readonly attempt: PublishAttempt | undefined };

/** Asks the driver, and remembers the answer as an attempt. The attachment carries the attacher's finalizer by then: it cannot go unnoticed. */
export interface Publish {
  readonly do: 'publish';
  readonly attachment: VolumeAttachment;
  readonly request: PublishRequest;
  /** How many attempts failed so far. */
  readonly failures: number;
}

export interface Unpublish {
  readonly do: 'unpublish';
  readonly attachment: VolumeAttachment;
  readonly target: PublishTarget;
  readonly failures: number;
}

/** Detaches what no attachment speaks of: only if the server knows none either, and the node does not have it mounted. */
export interface DetachDangling {
  readonly do: 'detachDangling';
  readonly name: string;
  readonly dangling: DanglingAttachment;
}

/** A volume that the backend has on a node without an attachment. */
export interface DanglingAttachment {
  readonly driver: string;
  readonly node: string;
  /** The volume as node statuses call it. */
  readonly uniqueName: string;
  readonly target: PublishTarget;
}

/** The last call about an attachment. Forgotten with the process: then the driver is asked once more, which changes nothing. */
export type PublishAttempt =
  | { readonly type: 'published'; readonly outcome: PublishOutcome; readonly failures: number }
  | { readonly type: 'unpublished'; readonly outcome: UnpublishOutcome; readonly failures: number }
  | { readonly type: 'failed'; readonly call: 'publish' | 'unpublish'; readonly failures: number; readonly notBefore: number };

export type CsiAttacherDecision = Decision<CsiAttacherAction, VolumeReason>;
