import type { PublishRequest, PublishTarget, UnpublishRequest } from '../../api/volumes/controller-publish.ts';
import type { PersistentVolume, VolumeAttachment } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import type { Decision, ObjectWrite } from '../../client/decision.ts';
import type { VolumeReason } from '../volumes/decision.ts';
import type { PublishOutcome, UnpublishOutcome } from '../../api/volumes/driver-capabilities.ts';

/** All actions of the CSI attacher. */
export type CsiAttacherAction =
  | ObjectWrite<VolumeAttachment>
  | ObjectWrite<PersistentVolume>
  | Publish
  | Unpublish
  | DetachDangling
  /** The driver's last answer; undefined: it is written to the status, and the finding of a verification is settled. */
  | { readonly do: 'rememberAttempt'; readonly attachment: Stored<VolumeAttachment>; readonly attempt: PublishAttempt | undefined };

/** Asks the driver, and remembers the answer as an attempt. The attachment has the attacher's finalizer by then: it cannot be removed unnoticed. */
export interface Publish {
  readonly do: 'publish';
  readonly attachment: Stored<VolumeAttachment>;
  readonly request: PublishRequest;
  /** How many attempts failed so far. */
  readonly failures: number;
}

export interface Unpublish {
  readonly do: 'unpublish';
  readonly attachment: Stored<VolumeAttachment>;
  readonly target: UnpublishRequest;
  readonly failures: number;
}

/** Detaches a volume without a VolumeAttachment: only if the server has none either, and the node does not have the volume mounted. */
export interface DetachDangling {
  readonly do: 'detachDangling';
  readonly name: string;
  readonly dangling: DanglingAttachment;
}

/** A volume that the backend has attached to a node without a VolumeAttachment. */
export interface DanglingAttachment {
  readonly driver: string;
  readonly node: string;
  /** The volume's name in a node's volumesAttached and volumesInUse. */
  readonly uniqueName: string;
  readonly target: PublishTarget;
}

/** The last call about an attachment. Forgotten with the process: then the driver is asked once more, which changes nothing. */
export type PublishAttempt =
  | { readonly type: 'published'; readonly outcome: PublishOutcome; readonly failures: number }
  | { readonly type: 'unpublished'; readonly outcome: UnpublishOutcome; readonly failures: number }
  | { readonly type: 'failed'; readonly call: 'publish' | 'unpublish'; readonly failures: number; readonly at: number; readonly notBefore: number };

export type CsiAttacherDecision = Decision<CsiAttacherAction, VolumeReason>;
