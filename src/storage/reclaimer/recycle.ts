import type { Event, Pod } from '../../api/generated/types.ts';
import type { Claim } from '../volumes/claim.ts';
import { type Decision, type LastEvent, type RecordEvent, recordIfChanged, update } from '../../client/decision.ts';
import { because, type VolumeReason } from '../volumes/decision.ts';
import { newIntent, type VolumeIntent, waitsUntil } from '../../api/volumes/intent.ts';
import { sourceOf } from '../volumes/source.ts';
import type { Volume } from '../volumes/volume.ts';
import { afterRecycleFailed, fail, type ReclaimerAction, makeAvailable, type ScrubIntent } from './actions.ts';
import { recyclableSource, recyclerPod, refutation } from './recycler-pod.ts';

export interface RecycleSnapshot {
  readonly lastEvent: LastEvent;
  /** After so many failed pods the volume is left to the administrator. */
  readonly maxRecycles: number;
  claim(key: string): Claim | undefined;
  /** The pod with the name of the volume's recycler pod, whichever client created it. */
  recyclerPod(volumeName: string): Pod | undefined;
  /** The events about that pod. */
  recyclerPodEvents(volumeName: string): readonly Event[];
  /** Whether the cluster has any Node. */
  hasNodes(): boolean;
  /** 'namespace/name' of the pods that use a claim and have not ended; sorted. */
  podsUsing(claimKey: string): readonly string[];
}

interface RecycleInput {
  readonly volume: Volume;
  readonly intent: ScrubIntent | undefined;
  readonly snapshot: RecycleSnapshot;
  readonly now: number;
}

type RecycleDecision = Decision<ReclaimerAction, VolumeReason>;

/** One recycler pod after the other empties the volume, until one succeeds or there were too many. */
export function decideRecycle({ volume, intent, snapshot, now }: RecycleInput): RecycleDecision {
  const source = recyclableSource(sourceOf(volume.object));
  if (source === undefined) {
    const text = 'No recycler plugin found for the volume!';
    return { actions: fail(volume, 'VolumeFailedRecycle', text), reasons: [because('VolumeFailedRecycle', text, 'administrator')] };
  }
  const pod = snapshot.recyclerPod(volume.name);
  if (intent === undefined) return begin(volume, pod, { snapshot, now });
  if (intent.status.phase === 'Running') return followPod({ volume, intent, pod, snapshot, now });
  if (pod !== undefined) return removePod({ volume, intent, pod });
  if ((intent.status.attempts ?? 0) >= snapshot.maxRecycles) {
    const text = `gave up after ${snapshot.maxRecycles} attempts: ${intent.status.message ?? ''}`;
    return { actions: [], reasons: [because('ScrubGivenUp', text, 'administrator')] };
  }
  const again = waitsUntil(intent, now);
  const reasons = [because('Scrubbing', 'a recycler pod is to be created', 'reclaimer')];
  return again === undefined ? { actions: [{ do: 'startRecyclerPod', intent, pod: recyclerPod(volume, source) }], reasons } : { actions: [], reasons, again };
}

/** A pod that existed before the intent proves nothing, so it is deleted first. */
function begin(volume: Volume, pod: Pod | undefined, { snapshot, now }: Pick<RecycleInput, 'snapshot' | 'now'>): RecycleDecision {
  const inUse = podsUsingVolume(volume, snapshot);
  if (inUse.length > 0) return waitForPods(volume, inUse, { snapshot, now });
  if (pod !== undefined) return replace(volume, pod);
  const object = newIntent(volume.name, { operation: 'Scrub', volume: { name: volume.name, uid: volume.uid } });
  return { actions: [{ do: 'create', object }], reasons: [because('Scrubbing', 'it is to be recycled', 'reclaimer')] };
}

/**
 * A pod of the recycler pod's name, while none is recorded: one that failed already, one whose record was lost in a crash, or one of another client.
 * None of them counts, whatever its spec and status.
 */
function removePod({ volume, intent, pod }: { readonly volume: Volume; readonly intent: ScrubIntent; readonly pod: Pod }): RecycleDecision {
  if (pod.metadata.uid !== intent.status.podUID)
    return { actions: deletePod(pod), reasons: [because('Scrubbing', 'a recycler pod of unknown origin is to be replaced', 'reclaimer')] };
  const message = intent.status.message ?? '';
  return {
    actions: [...fail(volume, 'VolumeFailedRecycle', message), ...deletePod(pod)],
    reasons: [because('VolumeFailedRecycle', message, 'reclaimer')],
  };
}

const deletePod = (pod: Pod): readonly ReclaimerAction[] => (pod.metadata.deletionTimestamp === undefined ? [{ do: 'delete', object: pod }] : []);

/** An existing claim of that name is another claim, with pods of its own. */
function podsUsingVolume({ claim }: Volume, snapshot: RecycleSnapshot): readonly string[] {
  return claim === undefined || snapshot.claim(claim.key) !== undefined ? [] : snapshot.podsUsing(claim.key);
}

function waitForPods(volume: Volume, pods: readonly string[], { snapshot, now }: Pick<RecycleInput, 'snapshot' | 'now'>): RecycleDecision {
  const message = `Volume is used by pods: ${pods.join(',')}`;
  const recorded = recordIfChanged({ about: volume.object, type: 'Normal', reason: 'VolumeFailedRecycle', message }, snapshot.lastEvent(volume.uid), now);
  return { actions: recorded.actions, reasons: [because('InUse', message, 'user')], again: recorded.again };
}

interface RunningRecycle extends Pick<RecycleInput, 'volume' | 'snapshot' | 'now'> {
  readonly intent: ScrubIntent;
  readonly pod: Pod | undefined;
}

/** The recycler pod runs, or did. */
function followPod({ volume, intent, pod, snapshot, now }: RunningRecycle): RecycleDecision {
  const copied = pod === undefined ? [] : copyPodEvents(volume, snapshot);
  const ours = pod?.metadata.uid === intent.status.podUID ? pod : undefined;
  switch (ours?.status.phase) {
    case 'Succeeded': {
      const why = refutation(ours, { specCreated: intent.status.podSpec, hasNodes: snapshot.hasNodes() });
      if (why !== undefined) return failed({ volume, intent, pod: ours, snapshot, now }, why, copied);
      const { hostPath } = sourceOf(volume.object);
      const confirm: ReclaimerAction = { do: 'confirmScrubbed', intent, pod: ours, ...(hostPath === undefined ? {} : { directory: hostPath.path }) };
      return {
        actions: [...copied, confirm, ...makeAvailable(volume), ...endRecycle(intent, ours)],
        reasons: [because('VolumeRecycled', 'it is recycled, and free again', 'none')],
      };
    }
    case 'Failed':
      return failed({ volume, intent, pod: ours, snapshot, now }, ours.status.message ?? 'pod failed, pod.Status.Message unknown', copied);
    case undefined:
      if (ours === undefined) return failed({ volume, intent, pod, snapshot, now }, 'recycler pod was deleted', copied);
      break;
    default:
      break;
  }
  return { actions: copied, reasons: [because('Scrubbing', 'its recycler pod is running', 'none')] };
}

/** The attempt is counted before its pod is deleted: otherwise a crash in between would lose it. */
function failed({ volume, intent, pod, now }: RunningRecycle, why: string, copied: readonly RecordEvent[]): RecycleDecision {
  const message = `Recycle failed: failed to recycle volume: ${why}`;
  const counted = afterRecycleFailed(intent, message, now);
  const goes = pod === undefined || pod.metadata.uid !== intent.status.podUID ? [] : deletePod(pod);
  return {
    actions: [...copied, ...fail(volume, 'VolumeFailedRecycle', message), ...update<VolumeIntent>(intent, counted), ...goes],
    reasons: [because('VolumeFailedRecycle', message, 'reclaimer')],
  };
}

/** A pod of that name without an intent: it proves nothing, whatever its status. */
function replace(volume: Volume, pod: Pod): RecycleDecision {
  const message = 'Recycle failed: old recycler pod found, will retry later';
  const reasons = [because('VolumeFailedRecycle', message, 'reclaimer')];
  return { actions: [...fail(volume, 'VolumeFailedRecycle', message), ...deletePod(pod)], reasons };
}

/** Events about the recycler pod become events about the volume: its owner cannot see pods in another namespace. */
function copyPodEvents(volume: Volume, snapshot: RecycleSnapshot): readonly RecordEvent[] {
  return snapshot.recyclerPodEvents(volume.name).flatMap(({ metadata, type, message = '' }) => {
    const rememberAs = `event ${metadata.uid ?? ''}`;
    if (snapshot.lastEvent(rememberAs) !== undefined) return [];
    const event = {
      about: volume.object,
      type: type === 'Warning' ? ('Warning' as const) : ('Normal' as const),
      reason: 'RecyclerPod',
      message: `Recycler pod: ${message}`,
    };
    return [{ do: 'recordEvent' as const, event, rememberAs }];
  });
}

/** The recycling is over, or no longer wanted. */
export function endRecycle(intent: ScrubIntent, pod: Pod | undefined): readonly ReclaimerAction[] {
  const isOurs = pod !== undefined && pod.metadata.uid === intent.status.podUID;
  return [...(isOurs ? deletePod(pod) : []), { do: 'delete', object: intent }];
}
