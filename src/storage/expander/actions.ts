import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeSource } from '../../api/generated/types.ts';
import type { Decision, ObjectWrite, RecordEvent } from '../../client/decision.ts';
import type { VolumeReason } from '../volumes/decision.ts';
import type { ExpandOutcome } from '../../api/volumes/driver-capabilities.ts';

/** All that the expander may do to the world. */
export type ExpanderAction =
  /** Of claims it writes statuses alone; annotations go along with them. */
  | ObjectWrite<PersistentVolumeClaim>
  | ObjectWrite<PersistentVolume>
  | ExpandVolume
  | RecordEvent
  /** What the claim asked for when it was last looked at. */
  | { readonly do: 'remember'; readonly claim: PersistentVolumeClaim; readonly asked: RequestedSize }
  /** What came of asking the driver; undefined: it is all said and written. */
  | { readonly do: 'rememberAttempt'; readonly claim: PersistentVolumeClaim; readonly attempt: ExpandAttempt | undefined };

/**
 * Asks the driver, and remembers the answer as an attempt. That it is asked is in the claim's status before (ControllerResizeInProgress and
 * allocatedResources, as in Kubernetes), so the process after a crash asks again: a volume that has the size already keeps it.
 */
export interface ExpandVolume {
  readonly do: 'expandVolume';
  readonly claim: PersistentVolumeClaim;
  readonly driver: string;
  readonly source: PersistentVolumeSource;
  readonly size: string;
  /** How many attempts at this size failed so far. */
  readonly failures: number;
}

export interface RequestedSize {
  readonly request: string;
  readonly capacity: string;
}

/** The last attempt to make a volume larger. Forgotten with the process: then the driver is asked once more. */
export type ExpandAttempt =
  /** Nothing has been made of the answer yet. */
  | { readonly type: 'answered'; readonly size: string; readonly outcome: ExpandOutcome; readonly failures: number }
  | { readonly type: 'failed'; readonly size: string; readonly final: boolean; readonly failures: number; readonly notBefore: number };

export type ExpanderDecision = Decision<ExpanderAction, ExpanderReason>;

export interface ExpanderReason extends VolumeReason {
  readonly driver?: string;
  readonly by?: number;
}
