import type { Event, Pod } from '../../api/generated/types.ts';
import type { Claim } from '../volumes/claim.ts';
import { type Decision, type LastEvent, type RecordEvent, recordIfChanged, update } from '../../client/decision.ts';
import { because, type VolumeReason } from '../volumes/decision.ts';
import { newIntent, type VolumeIntent, waitsUntil } from '../../api/volumes/intent.ts';
import { sourceOf } from '../volumes/source.ts';
import type { Volume } from '../volumes/volume.ts';
import { afterRecycleFailed, afterStarted, fail, type ReclaimerAction, makeAvailable, type ScrubIntent } from './actions.ts';
import { isRecyclerPodFor, type RecyclableSource, recyclableSource, recyclerPod } from './recycler-pod.ts';

export interface RecycleSnapshot {
  readonly lastEvent: LastEvent;
  /** After so many failed attempts it is left to people. */
  readonly maxRecycles: number;
  claim(key: string): Claim | undefined;
  /** The pod that has the name of the volume's scrubber, whoever created it. */
  recyclerPod(volumeName: string): Pod | undefined;
  /** What was said about that pod. */
  recyclerPodEvents(volumeName: string): readonly Event[];
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

/** One pod after the other empties the volume, until one succeeds or there were too many. */
export function decideRecycle({ volume, intent, snapshot, now }: RecycleInput): RecycleDecision {
  const how = recyclableSource(sourceOf(volume.object));
  if (how === undefined) {
    const text = 'No recycler plugin found for the volume!';
    return { actions: fail(volume, 'VolumeFailedRecycle', text), reasons: [because('VolumeFailedRecycle', text, 'administrator')] };
  }
  const pod = snapshot.recyclerPod(volume.name);
  if (intent === undefined) return begin(volume, pod, { snapshot, now });
  if (intent.status.phase === 'Running') return followPod({ volume, intent, pod, snapshot, now });
  if (pod !== undefined) return adoptOrReplace({ volume, intent, pod, how });
  if ((intent.status.attempts ?? 0) >= snapshot.maxRecycles) {
    const text = `gave up after ${snapshot.maxRecycles} attempts: ${intent.status.message ?? ''}`;
    return { actions: [], reasons: [because('ScrubGivenUp', text, 'administrator')] };
  }
  const again = waitsUntil(intent, now);
  const reasons = [because('Scrubbing', 'a pod is to scrub it', 'reclaimer')];
  return again === undefined ? { actions: [{ do: 'create', object: recyclerPod(volume, how) }], reasons } : { actions: [], reasons, again };
}

/** A pod that was there before the scrub was decided proves nothing, so it has to go first. */
function begin(volume: Volume, pod: Pod | undefined, { snapshot, now }: Pick<RecycleInput, 'snapshot' | 'now'>): RecycleDecision {
  const inUse = podsUsingVolume(volume, snapshot);
  if (inUse.length > 0) return waitForPods(volume, inUse, { snapshot, now });
  if (pod !== undefined) return replace(volume, pod);
  const object = newIntent(volume.name, { operation: 'Scrub', volume: { name: volume.name, uid: volume.uid } });
  return { actions: [{ do: 'create', object }], reasons: [because('Scrubbing', 'it is to be scrubbed', 'reclaimer')] };
}

interface ExistingPod {
  readonly volume: Volume;
  readonly intent: ScrubIntent;
  readonly pod: Pod;
  readonly how: RecyclableSource;
}

/** A pod of the scrubber's name: the one just started, perhaps before a crash; one that failed already; or anybody's. */
function adoptOrReplace({ volume, intent, pod, how }: ExistingPod): RecycleDecision {
  const reasons = [because('Scrubbing', 'its scrubber was started', 'reclaimer')];
  if (pod.metadata.uid === intent.status.podUID) return { actions: deletePod(pod), reasons };
  if (!isRecyclerPodFor(volume, how, { pod, since: intent.metadata.creationTimestamp ?? '' })) return replace(volume, pod);
  return { actions: update<VolumeIntent>(intent, afterStarted(intent, pod.metadata.uid ?? '')), reasons };
}

const deletePod = (pod: Pod): readonly ReclaimerAction[] => (pod.metadata.deletionTimestamp === undefined ? [{ do: 'delete', object: pod }] : []);

/** A claim of that name that exists is another claim, with pods of its own. */
function podsUsingVolume({ claim }: Volume, snapshot: RecycleSnapshot): readonly string[] {
  return claim === undefined || snapshot.claim(claim.key) !== undefined ? [] : snapshot.podsUsing(claim.key);
}

function waitForPods(volume: Volume, pods: readonly string[], { snapshot, now }: Pick<RecycleInput, 'snapshot' | 'now'>): RecycleDecision {
  const message = `Volume is used by pods: ${pods.join(',')}`;
  const said = recordIfChanged({ about: volume.object, type: 'Normal', reason: 'VolumeFailedRecycle', message }, snapshot.lastEvent(volume.uid), now);
  return { actions: said.actions, reasons: [because('InUse', message, 'user')], again: said.again };
}

interface RunningRecycle extends Pick<RecycleInput, 'volume' | 'snapshot' | 'now'> {
  readonly intent: ScrubIntent;
  readonly pod: Pod | undefined;
}

/** The scrubber runs, or did. */
function followPod({ volume, intent, pod, snapshot, now }: RunningRecycle): RecycleDecision {
  const echoes = pod === undefined ? [] : copyPodEvents(volume, snapshot);
  const ours = pod?.metadata.uid === intent.status.podUID ? pod : undefined;
  switch (ours?.status.phase) {
    case 'Succeeded':
      return {
        actions: [...echoes, ...makeAvailable(volume), ...endRecycle(intent, ours)],
        reasons: [because('VolumeRecycled', 'it is clean, and free again', 'none')],
      };
    case 'Failed':
      return failed({ volume, intent, pod: ours, snapshot, now }, ours.status.message ?? 'pod failed, pod.Status.Message unknown', echoes);
    case undefined:
      if (ours === undefined) return failed({ volume, intent, pod, snapshot, now }, 'recycler pod was deleted', echoes);
      break;
    default:
      break;
  }
  return { actions: echoes, reasons: [because('Scrubbing', 'its scrubber is at work', 'none')] };
}

/** The attempt is counted before its pod goes: otherwise a crash in between would count for nothing. */
function failed({ volume, intent, pod, now }: RunningRecycle, why: string, echoes: readonly RecordEvent[]): RecycleDecision {
  const message = `Recycle failed: failed to recycle volume: ${why}`;
  const counted = afterRecycleFailed(intent, message, now);
  const goes = pod === undefined || pod.metadata.uid !== intent.status.podUID ? [] : deletePod(pod);
  return {
    actions: [...echoes, ...fail(volume, 'VolumeFailedRecycle', message), ...update<VolumeIntent>(intent, counted), ...goes],
    reasons: [because('VolumeFailedRecycle', message, 'reclaimer')],
  };
}

/** A pod of that name which nobody here remembers to have started: it proves nothing, whatever it says of itself. */
function replace(volume: Volume, pod: Pod): RecycleDecision {
  const message = 'Recycle failed: old recycler pod found, will retry later';
  const reasons = [because('VolumeFailedRecycle', message, 'reclaimer')];
  return { actions: [...fail(volume, 'VolumeFailedRecycle', message), ...deletePod(pod)], reasons };
}

/** What is said about the scrubber is said about the volume: its owner cannot see pods in another namespace. */
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

/** The scrub is over, or no longer wanted. */
export function endRecycle(intent: ScrubIntent, pod: Pod | undefined): readonly ReclaimerAction[] {
  const isOurs = pod !== undefined && pod.metadata.uid === intent.status.podUID;
  return [...(isOurs ? deletePod(pod) : []), { do: 'delete', object: intent }];
}
