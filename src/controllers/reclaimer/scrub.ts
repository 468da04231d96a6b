import type { Event, Pod } from '../../api/generated/types.ts';
import type { Claim } from '../../domain/volumes/claim.ts';
import { type Decision, type Reason, tellStanding, type Tell, type ToldMemory, update } from '../../domain/volumes/decision.ts';
import { newIntent, type VolumeIntent, waitsUntil } from '../../domain/volumes/intent.ts';
import { sourceOf } from '../../domain/volumes/source.ts';
import type { Volume } from '../../domain/volumes/volume.ts';
import { afterScrubFailed, afterStarted, fail, type ReclaimerAction, recycle, type ScrubIntent } from './actions.ts';
import { isScrubberFor, type Scrubbable, scrubbable, scrubberPod } from './scrubber.ts';

export interface ScrubSurroundings {
  readonly told: ToldMemory;
  /** After so many failed attempts it is left to people. */
  readonly maxScrubs: number;
  claim(key: string): Claim | undefined;
  /** The pod that has the name of the volume's scrubber, whoever created it. */
  scrubber(volumeName: string): Pod | undefined;
  /** What was said about that pod. */
  scrubberEvents(volumeName: string): readonly Event[];
  /** 'namespace/name' of the pods that use a claim and have not ended; sorted. */
  podsUsing(claimKey: string): readonly string[];
}

interface Scrub {
  readonly volume: Volume;
  readonly intent: ScrubIntent | undefined;
  readonly seen: ScrubSurroundings;
  readonly now: number;
}

type ScrubDecision = Decision<ReclaimerAction>;

const because = (code: string, text: string, next: Reason['next']): Reason => ({ code, text, next });

/** One pod after the other empties the volume, until one succeeds or there were too many. */
export function scrub({ volume, intent, seen, now }: Scrub): ScrubDecision {
  const how = scrubbable(sourceOf(volume.object));
  if (how === undefined) {
    const text = 'No recycler plugin found for the volume!';
    return { actions: fail(volume, 'VolumeFailedRecycle', text), reasons: [because('VolumeFailedRecycle', text, 'administrator')] };
  }
  const pod = seen.scrubber(volume.name);
  if (intent === undefined) return begin(volume, pod, { seen, now });
  if (intent.status.phase === 'Running') return follow({ volume, intent, pod, seen, now });
  if (pod !== undefined) return meet({ volume, intent, pod, how });
  if ((intent.status.attempts ?? 0) >= seen.maxScrubs) {
    const text = `gave up after ${seen.maxScrubs} attempts: ${intent.status.message ?? ''}`;
    return { actions: [], reasons: [because('ScrubGivenUp', text, 'administrator')] };
  }
  const again = waitsUntil(intent, now);
  const reasons = [because('Scrubbing', 'a pod is to scrub it', 'reclaimer')];
  return again === undefined ? { actions: [{ do: 'create', object: scrubberPod(volume, how) }], reasons } : { actions: [], reasons, again };
}

/** A pod that was there before the scrub was decided proves nothing, so it has to go first. */
function begin(volume: Volume, pod: Pod | undefined, { seen, now }: Pick<Scrub, 'seen' | 'now'>): ScrubDecision {
  const inUse = whoUses(volume, seen);
  if (inUse.length > 0) return waitForPods(volume, inUse, { seen, now });
  if (pod !== undefined) return replace(volume, pod);
  const object = newIntent(volume.name, { operation: 'Scrub', volume: { name: volume.name, uid: volume.uid } });
  return { actions: [{ do: 'create', object }], reasons: [because('Scrubbing', 'it is to be scrubbed', 'reclaimer')] };
}

interface Meeting {
  readonly volume: Volume;
  readonly intent: ScrubIntent;
  readonly pod: Pod;
  readonly how: Scrubbable;
}

/** A pod of the scrubber's name: the one just started, perhaps before a crash; one that failed already; or anybody's. */
function meet({ volume, intent, pod, how }: Meeting): ScrubDecision {
  const reasons = [because('Scrubbing', 'its scrubber was started', 'reclaimer')];
  if (pod.metadata.uid === intent.status.podUID) return { actions: drop(pod), reasons };
  if (!isScrubberFor(volume, how, { pod, since: intent.metadata.creationTimestamp ?? '' })) return replace(volume, pod);
  return { actions: update<VolumeIntent>(intent, afterStarted(intent, pod.metadata.uid ?? '')), reasons };
}

const drop = (pod: Pod): readonly ReclaimerAction[] => (pod.metadata.deletionTimestamp === undefined ? [{ do: 'delete', object: pod }] : []);

/** A claim of that name that exists is another claim, with pods of its own. */
function whoUses({ claim }: Volume, seen: ScrubSurroundings): readonly string[] {
  return claim === undefined || seen.claim(claim.key) !== undefined ? [] : seen.podsUsing(claim.key);
}

function waitForPods(volume: Volume, pods: readonly string[], { seen, now }: Pick<Scrub, 'seen' | 'now'>): ScrubDecision {
  const message = `Volume is used by pods: ${pods.join(',')}`;
  const said = tellStanding({ about: volume.object, type: 'Normal', reason: 'VolumeFailedRecycle', message }, seen.told(volume.uid), now);
  return { actions: said.actions, reasons: [because('InUse', message, 'user')], again: said.again };
}

interface Running extends Pick<Scrub, 'volume' | 'seen' | 'now'> {
  readonly intent: ScrubIntent;
  readonly pod: Pod | undefined;
}

/** The scrubber runs, or did. */
function follow({ volume, intent, pod, seen, now }: Running): ScrubDecision {
  const echoes = pod === undefined ? [] : echo(volume, seen);
  const ours = pod?.metadata.uid === intent.status.podUID ? pod : undefined;
  switch (ours?.status.phase) {
    case 'Succeeded':
      return {
        actions: [...echoes, ...recycle(volume), ...dropScrub(intent, ours)],
        reasons: [because('VolumeRecycled', 'it is clean, and free again', 'nobody')],
      };
    case 'Failed':
      return failed({ volume, intent, pod: ours, seen, now }, ours.status.message ?? 'pod failed, pod.Status.Message unknown', echoes);
    case undefined:
      if (ours === undefined) return failed({ volume, intent, pod, seen, now }, 'recycler pod was deleted', echoes);
      break;
    default:
      break;
  }
  return { actions: echoes, reasons: [because('Scrubbing', 'its scrubber is at work', 'nobody')] };
}

/** The attempt is counted before its pod goes: otherwise a crash in between would count for nothing. */
function failed({ volume, intent, pod, now }: Running, why: string, echoes: readonly Tell[]): ScrubDecision {
  const message = `Recycle failed: failed to recycle volume: ${why}`;
  const counted = afterScrubFailed(intent, message, now);
  const goes = pod === undefined || pod.metadata.uid !== intent.status.podUID ? [] : drop(pod);
  return {
    actions: [...echoes, ...fail(volume, 'VolumeFailedRecycle', message), ...update<VolumeIntent>(intent, counted), ...goes],
    reasons: [because('VolumeFailedRecycle', message, 'reclaimer')],
  };
}

/** A pod of that name which nobody here remembers to have started: it proves nothing, whatever it says of itself. */
function replace(volume: Volume, pod: Pod): ScrubDecision {
  const message = 'Recycle failed: old recycler pod found, will retry later';
  const reasons = [because('VolumeFailedRecycle', message, 'reclaimer')];
  return { actions: [...fail(volume, 'VolumeFailedRecycle', message), ...drop(pod)], reasons };
}

/** What is said about the scrubber is said about the volume: its owner cannot see pods in another namespace. */
function echo(volume: Volume, seen: ScrubSurroundings): readonly Tell[] {
  return seen.scrubberEvents(volume.name).flatMap(({ metadata, type, message = '' }) => {
    const rememberAs = `event ${metadata.uid ?? ''}`;
    if (seen.told(rememberAs) !== undefined) return [];
    const event = {
      about: volume.object,
      type: type === 'Warning' ? ('Warning' as const) : ('Normal' as const),
      reason: 'RecyclerPod',
      message: `Recycler pod: ${message}`,
    };
    return [{ do: 'tell' as const, event, rememberAs }];
  });
}

/** The scrub is over, or no longer wanted. */
export function dropScrub(intent: ScrubIntent, pod: Pod | undefined): readonly ReclaimerAction[] {
  const isOurs = pod !== undefined && pod.metadata.uid === intent.status.podUID;
  return [...(isOurs ? drop(pod) : []), { do: 'delete', object: intent }];
}
