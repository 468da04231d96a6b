import type { Placement, PublishRequest } from '../../domain/volumes/placement.ts';
import type { PersistentVolume, VolumeAttachment } from '../../api/generated/types.ts';
import type { Write } from '../../domain/volumes/decision.ts';
import type { PublishOutcome, UnpublishOutcome } from '../../domain/volumes/driver-facts.ts';

/** All that the attacher may do to the world. */
export type Action =
  | Write<VolumeAttachment>
  | Write<PersistentVolume>
  | Publish
  | Unpublish
  | Withdraw
  /** What came of asking the driver; undefined: it is all written, and what a verification found is settled. */
  | { readonly do: 'rememberAttempt'; readonly attachment: VolumeAttachment; readonly attempt: Attempt | undefined };

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
  readonly placement: Placement;
  readonly failures: number;
}

/** Detaches what no attachment speaks of: only if the server knows none either, and the node does not have it mounted. */
export interface Withdraw {
  readonly do: 'withdraw';
  readonly name: string;
  readonly stray: Stray;
}

/** A volume that the backend has on a node without an attachment. */
export interface Stray {
  readonly driver: string;
  readonly node: string;
  /** The volume as node statuses call it. */
  readonly uniqueName: string;
  readonly placement: Placement;
}

/** The last call about an attachment. Forgotten with the process: then the driver is asked once more, which changes nothing. */
export type Attempt =
  | { readonly type: 'published'; readonly outcome: PublishOutcome; readonly failures: number }
  | { readonly type: 'unpublished'; readonly outcome: UnpublishOutcome; readonly failures: number }
  | { readonly type: 'failed'; readonly call: 'publish' | 'unpublish'; readonly failures: number; readonly notBefore: number };

export interface Decision {
  /** Any prefix may be all that happens. */
  readonly actions: readonly Action[];
  readonly reasons: readonly Reason[];
  /** When to decide again although nothing changed; milliseconds since 1970. */
  readonly again?: number;
}

export interface Reason {
  readonly code: string;
  readonly text: string;
  readonly next: 'driver' | 'attach-detach' | 'node' | 'administrator' | 'nobody';
}
