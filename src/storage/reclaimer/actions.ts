import type { PersistentVolume, Pod } from '../../api/generated/types.ts';
import { type ObjectWrite, type RecordEvent, recordOnce, update, updateStatus } from '../../client/decision.ts';
import type { ConfirmClaimGone } from '../volumes/decision.ts';
import { unlinkVolume, volumeInPhase } from '../volumes/edits.ts';
import { afterFailure, type DeleteIntentSpec, type IntentOf, type ScrubIntentSpec, type VolumeIntent } from '../../api/volumes/intent.ts';
import type { Volume } from '../volumes/volume.ts';
import { specAsCreated } from './recycler-pod.ts';

/** All actions of the reclaimer. */
export type ReclaimerAction =
  | ObjectWrite<PersistentVolume>
  | ObjectWrite<VolumeIntent>
  | ObjectWrite<Pod>
  | DeleteAsset
  | StartRecyclerPod
  | ConfirmScrubbed
  | ConfirmClaimGone
  | RecordEvent;

export type DeleteIntent = IntentOf<DeleteIntentSpec>;
export type ScrubIntent = IntentOf<ScrubIntentSpec>;

/** Asks the driver, and writes the answer into the intent: `afterDeleted`, or `afterFailure`. */
export interface DeleteAsset {
  readonly do: 'deleteAsset';
  readonly intent: DeleteIntent;
}

/**
 * Creates the recycler pod, and writes its uid and its spec, as the server answered them, into the intent: `afterStarted`. After a crash or a lost
 * answer in between, the pod is one of unknown origin, and is replaced.
 */
export interface StartRecyclerPod {
  readonly do: 'startRecyclerPod';
  readonly intent: ScrubIntent;
  readonly pod: Pod;
}

/**
 * The server confirms that the pod is still the one that was decided from. Where this process sees the files of the pod's node, the directory has to
 * be empty; otherwise the attempt is counted as failed: `afterRecycleFailed`.
 */
export interface ConfirmScrubbed {
  readonly do: 'confirmScrubbed';
  readonly intent: ScrubIntent;
  readonly pod: Pod;
  /** Of a hostPath volume. */
  readonly directory?: string;
}

export const afterDeleted = (intent: DeleteIntent): VolumeIntent => ({ ...intent, status: { phase: 'Deleted' } });

/** From now on only this pod counts, and only as it is. */
export const afterStarted = (intent: ScrubIntent, pod: Pod): VolumeIntent => ({
  ...intent,
  status: { ...intent.status, phase: 'Running', podUID: pod.metadata.uid ?? '', podSpec: specAsCreated(pod) },
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
