import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeSource } from '../../api/generated/types.ts';
import type { ModifyOutcome } from '../../api/volumes/driver-capabilities.ts';
import type { SecretName } from '../../api/volumes/intent.ts';
import type { Decision, ObjectWrite, RecordEvent } from '../../client/decision.ts';
import type { VolumeReason } from '../volumes/decision.ts';

/** All actions of the modifier. */
export type ModifierAction =
  /** Of claims it writes the status alone. */
  | ObjectWrite<PersistentVolumeClaim>
  | ObjectWrite<PersistentVolume>
  | ModifyVolume
  | RecordEvent
  /** Remembers the driver's answer; undefined: it is written to the objects. */
  | { readonly do: 'rememberAttempt'; readonly claim: PersistentVolumeClaim; readonly attempt: ModifyAttempt | undefined };

/**
 * Asks the driver, and remembers the answer as an attempt. The claim's status has InProgress and the target before, as in Kubernetes, so after a
 * crash the driver is asked again for the same target.
 */
export interface ModifyVolume {
  readonly do: 'modifyVolume';
  readonly claim: PersistentVolumeClaim;
  readonly driver: string;
  readonly volume: PersistentVolumeSource;
  /** The name of the VolumeAttributesClass. */
  readonly target: string;
  readonly mutableParameters: Readonly<Record<string, string>>;
  readonly secret?: SecretName;
  /** How many attempts at this target failed so far. */
  readonly failures: number;
}

/** The last attempt to modify a volume. Lost with the process: then the driver is asked once more. */
export type ModifyAttempt =
  /** The answer is not written to the objects yet. */
  | { readonly type: 'answered'; readonly target: string; readonly outcome: ModifyOutcome; readonly failures: number }
  | {
      readonly type: 'failed';
      readonly target: string;
      readonly final: boolean;
      readonly message: string;
      readonly failures: number;
      readonly at: number;
      readonly notBefore: number;
    };

export type ModifierDecision = Decision<ModifierAction, ModifierReason>;

export interface ModifierReason extends VolumeReason {
  readonly driver?: string;
  readonly by?: number;
}
