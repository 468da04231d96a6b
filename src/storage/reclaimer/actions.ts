import type { PersistentVolume, Pod } from '../../api/generated/types.ts';
import { type ObjectWrite, type RecordEvent, recordOnce, update, updateStatus } from '../../client/decision.ts';
import type { ConfirmClaimGone } from '../volumes/decision.ts';
import { unlinkVolume, volumeInPhase } from '../volumes/edits.ts';
import { afterFailure, type DeleteIntentSpec, type IntentOf, type ScrubIntentSpec, type VolumeIntent } from '../../api/volumes/intent.ts';
import type { Volume } from '../volumes/volume.ts';

/** All actions of the reclaimer. */
export type ReclaimerAction = ObjectWrite<PersistentVolume> | ObjectWrite<VolumeIntent> | ObjectWrite<Pod> | DeleteAsset | ConfirmClaimGone | RecordEvent;

export type DeleteIntent = IntentOf<DeleteIntentSpec>;
export type ScrubIntent = IntentOf<ScrubIntentSpec>;

/** Asks the driver, and writes the answer into the intent: `afterDeleted`, or `afterFailure`. */
export interface DeleteAsset {
  readonly do: 'deleteAsset';
  readonly intent: DeleteIntent;
}

export const afterDeleted = (intent: DeleteIntent): VolumeIntent => ({ ...intent, status: { phase: 'Deleted' } });

/** From now on only the pod of this uid counts. */
export const afterStarted = (intent: ScrubIntent, podUID: string): VolumeIntent => ({
  ...intent,
  status: { ...intent.status, phase: 'Running', podUID },
});

/** The failure of the pod is counted. */
export const afterRecycleFailed = (intent: ScrubIntent, message: string, now: number): VolumeIntent => {
  const failed = afterFailure(intent, { message, final: true }, now);
  return intent.status.podUID === undefined ? failed : { ...failed, status: { ...failed.status, podUID: intent.status.podUID } };
};

/** The volume becomes Failed, with the message, and gets one event. */
export function fail({ object }: Volume, reason: string, message: string): readonly ReclaimerAction[] {
  const failed = volumeInPhase(object, 'Failed', message);
  return failed === object ? [] : [...updateStatus(object, failed), recordOnce({ about: object, type: 'Warning', reason, message })];
}

/** The volume is recycled: free again, or reserved by name as before. */
export function makeAvailable(volume: Volume): readonly ReclaimerAction[] {
  const unlinked = unlinkVolume(volume);
  return [
    ...update(volume.object, unlinked),
    recordOnce({ about: volume.object, type: 'Normal', reason: 'VolumeRecycled', message: 'Volume recycled' }),
    ...updateStatus(unlinked, volumeInPhase(unlinked, 'Available')),
  ];
}
