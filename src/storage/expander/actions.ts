import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeSource, PersistentVolumeSpec } from '../../api/generated/types.ts';
import type { Decision, ObjectWrite, RecordEvent } from '../../client/decision.ts';
import type { VolumeReason } from '../volumes/decision.ts';
import type { ExpandOutcome } from '../../api/volumes/driver-capabilities.ts';

/** All actions of the expander. */
export type ExpanderAction =
  /** Of claims it writes the status alone, and annotations with it. */
  | ObjectWrite<PersistentVolumeClaim>
  | ObjectWrite<PersistentVolume>
  | ExpandVolume
  | RecordEvent
  /** Remembers the claim's request and capacity for the next event. */
  | { readonly do: 'remember'; readonly claim: PersistentVolumeClaim; readonly asked: RequestedSize }
  /** Remembers the driver's answer; undefined: it is written to the objects. */
  | { readonly do: 'rememberAttempt'; readonly claim: PersistentVolumeClaim; readonly attempt: ExpandAttempt | undefined };

/**
 * Asks the driver, and remembers the answer as an attempt. The claim's status has ControllerResizeInProgress and allocatedResources
 * before, as in Kubernetes, so after a crash the driver is asked again: a volume that has the size already keeps it.
 */
export interface ExpandVolume {
  readonly do: 'expandVolume';
  readonly claim: PersistentVolumeClaim;
  readonly driver: string;
  /** The volume's source; of a CSI driver: its spec. */
  readonly volume: PersistentVolumeSource & Partial<PersistentVolumeSpec>;
  readonly size: string;
  /** How many attempts at this size failed so far. */
  readonly failures: number;
}

export interface RequestedSize {
  readonly request: string;
  readonly capacity: string;
}

/** The last attempt to expand a volume. Lost with the process: then the driver is asked once more. */
export type ExpandAttempt =
  /** The answer is not written to the objects yet. */
  | { readonly type: 'answered'; readonly size: string; readonly outcome: ExpandOutcome; readonly failures: number }
  | { readonly type: 'failed'; readonly size: string; readonly final: boolean; readonly failures: number; readonly at: number; readonly notBefore: number };

export type ExpanderDecision = Decision<ExpanderAction, ExpanderReason>;

export interface ExpanderReason extends VolumeReason {
  readonly driver?: string;
  readonly by?: number;
}
