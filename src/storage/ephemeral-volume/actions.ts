import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import type { ObjectEvent, RecordEvent } from '../../client/decision.ts';
import type { Draft } from '../../client/client.ts';
import type { Decision } from '../../client/decision.ts';

export type EphemeralVolumeAction = CreateClaim | RecordEvent;

export interface CreateClaim {
  readonly do: 'create-claim';
  readonly pod: Stored<Pod>;
  /** The volume's name in the pod. */
  readonly volume: string;
  readonly claim: Draft<PersistentVolumeClaim>;
}

export type EphemeralVolumeDecision = Decision<EphemeralVolumeAction>;

/** The event of a pod whose volume cannot have its claim. */
export const failedBinding = (pod: Pod, volume: string, why: string): ObjectEvent => ({
  about: pod,
  type: 'Warning',
  reason: 'FailedBinding',
  message: `ephemeral volume ${volume}: ${why}`,
});
