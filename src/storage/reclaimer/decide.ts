/**
 * The reclaim policy of a volume whose claim is gone: Retain, Delete with its asset, or Recycle.
 * The binder has set the phase Released before.
 */
import type { Pod } from '../../api/generated/types.ts';
import type { Claim } from '../volumes/claim.ts';
import { type Decision, type LastEvent, recordIfChanged, update } from '../../client/decision.ts';
import { because, type VolumeReason } from '../volumes/decision.ts';
import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import { deletionSecretOf, isFor, newIntent, type VolumeIntent, waitsUntil } from '../../api/volumes/intent.ts';
import type { Volume } from '../volumes/volume.ts';
import { type DeleteIntent, fail, type ReclaimerAction } from './actions.ts';
import { deleterOf, isAbandoned, withoutOwnFinalizers, withMigrationAndFinalizers } from './deleter.ts';
import { endRecycle, decideRecycle, type RecycleSnapshot } from './recycle.ts';

export interface ReclaimerSnapshot extends RecycleSnapshot {
  readonly lastEvent: LastEvent;
  claim(key: string): Claim | undefined;
  /** The intent for the volume of this name. */
  intent(volumeName: string): VolumeIntent | undefined;
  /** Names of the nodes that a volume is attached to, or being attached to or detached from; sorted. */
  attachedTo(volumeName: string): readonly string[];
  /** The drivers in this process, by name. */
  readonly driver: (name: string) => DriverCapabilities | undefined;
}

export interface ReclaimerSubject {
  readonly name: string;
  readonly volume: Volume | undefined;
  readonly snapshot: ReclaimerSnapshot;
}

export type ReclaimerDecision = Decision<ReclaimerAction, VolumeReason>;

export function decide({ name, volume, snapshot }: ReclaimerSubject, now: number): ReclaimerDecision {
  const intent = snapshot.intent(name);
  if (volume === undefined) return tidyUp(intent, snapshot.recyclerPod(name));
  if (intent !== undefined && isFor(intent, 'Delete') && intent.status.phase === 'Deleted') return remove(volume);
  const kept = withMigrationAndFinalizers(volume, snapshot.driver);
  if (kept !== volume.object)
    return { actions: update(volume.object, kept), reasons: [because('Upkeep', 'its finalizers or annotations change', 'reclaimer')] };
  const released = releaseOf(volume, snapshot);
  if (released === 'no') return keep(intent, snapshot.recyclerPod(name));
  return reclaim({ volume, intent, snapshot, now, isClaimGone: released === 'claim gone' });
}

/** Nothing is to be decided: the volume is not released, and has no intent. Most volumes are like this, most of the time. */
export function isSettled({ name, volume, snapshot }: ReclaimerSubject): boolean {
  if (snapshot.intent(name) !== undefined) return false;
  if (volume === undefined) return true;
  return volume.phase !== 'Released' && volume.phase !== 'Failed' && withMigrationAndFinalizers(volume, snapshot.driver) === volume.object;
}

const prependActions = (first: readonly ReclaimerAction[], { actions, ...rest }: ReclaimerDecision): ReclaimerDecision => ({
  ...rest,
  actions: [...first, ...actions],
});

/** The volume is gone: its intent and its recycler pod are removed. */
function tidyUp(intent: VolumeIntent | undefined, pod: Pod | undefined): ReclaimerDecision {
  if (intent === undefined || isFor(intent, 'Create')) return { actions: [], reasons: [] };
  const reasons = [because('VolumeGone', 'the volume is gone', 'none')];
  return { actions: isFor(intent, 'Scrub') ? endRecycle(intent, pod) : [{ do: 'delete', object: intent }], reasons };
}

/** Nothing is to be reclaimed: an intent is cancelled. */
function keep(intent: VolumeIntent | undefined, pod: Pod | undefined): ReclaimerDecision {
  const reasons = [because('NotReleased', 'nothing is to be reclaimed', 'none')];
  if (intent === undefined || isFor(intent, 'Create')) return { actions: [], reasons };
  return { actions: isFor(intent, 'Scrub') ? endRecycle(intent, pod) : [{ do: 'delete', object: intent }], reasons };
}

/** Whether the volume has no claim any more: by its phase, and by the present claims. */
function releaseOf(volume: Volume, snapshot: ReclaimerSnapshot): 'no' | 'claim gone' | 'claim elsewhere' {
  if (volume.phase !== 'Released' && volume.phase !== 'Failed') return 'no';
  if (volume.claim === undefined || volume.claim.uid === '') return 'no';
  const claim = snapshot.claim(volume.claim.key);
  if (claim?.uid !== volume.claim.uid) return 'claim gone';
  const isSpare = volume.provisionedBy !== undefined && volume.reclaimPolicy === 'Delete';
  return isSpare && claim.volumeName !== '' && claim.volumeName !== volume.name ? 'claim elsewhere' : 'no';
}

interface Reclaim {
  readonly volume: Volume;
  readonly intent: VolumeIntent | undefined;
  readonly snapshot: ReclaimerSnapshot;
  readonly now: number;
  readonly isClaimGone: boolean;
}

function reclaim(what: Reclaim): ReclaimerDecision {
  const { volume, intent, snapshot } = what;
  if (intent !== undefined && isFor(intent, 'Create')) return { actions: [], reasons: [because('Busy', 'it is still being provisioned', 'provisioner')] };
  if (volume.migratedTo !== undefined && volume.migratedTo !== '') {
    return { actions: [], reasons: [because('Migrated', `${volume.migratedTo} looks after it`, 'external provisioner')] };
  }
  const stop = keep(intent, snapshot.recyclerPod(volume.name));
  const [deletion, recycling] = [
    intent !== undefined && isFor(intent, 'Delete') ? intent : undefined,
    intent !== undefined && isFor(intent, 'Scrub') ? intent : undefined,
  ];
  switch (volume.reclaimPolicy) {
    case 'Retain':
      return { ...stop, reasons: [because('Retained', 'kept, with its data, until an administrator clears its claimRef or deletes it', 'administrator')] };
    case 'Delete':
      return recycling === undefined ? deleteVolume(what, deletion) : stop;
    case 'Recycle':
      return deletion === undefined ? confirmed(what, decideRecycle({ ...what, intent: recycling })) : stop;
    default: {
      const text = 'Volume has unrecognized PersistentVolumeReclaimPolicy';
      return { actions: fail(volume, 'VolumeUnknownReclaimPolicy', text), reasons: [because('VolumeUnknownReclaimPolicy', text, 'administrator')] };
    }
  }
}

/** Before data is touched, the server confirms that the claim is gone. */
function confirmed({ volume, isClaimGone }: Reclaim, decision: ReclaimerDecision): ReclaimerDecision {
  const touchesData = decision.actions.some((action) => action.do === 'create' || action.do === 'startRecyclerPod' || action.do === 'deleteAsset');
  if (!touchesData || !isClaimGone || volume.claim === undefined) return decision;
  return prependActions([{ do: 'confirmClaimGone', claim: volume.claim }], decision);
}

function deleteVolume(what: Reclaim, intent: DeleteIntent | undefined): ReclaimerDecision {
  const { volume, snapshot } = what;
  const deleter = deleterOf(volume, snapshot.driver);
  switch (deleter.type) {
    case 'external':
      return { actions: [], reasons: [because('ExternalDeletion', 'its own provisioner deletes it', 'external provisioner')] };
    case 'none':
      return { actions: fail(volume, 'VolumeFailedDelete', deleter.message), reasons: [because('VolumeFailedDelete', deleter.message, 'administrator')] };
    case 'driver':
      break;
  }
  if (intent === undefined && isAbandoned(volume))
    return { actions: [], reasons: [because('GivenUp', 'its deletion was asked for while its data was to be kept', 'none')] };
  // As external-provisioner does: a backend refuses to delete an attached volume, or worse, does not.
  const nodes = snapshot.attachedTo(volume.name);
  if (nodes.length > 0) {
    const text = `persistentvolume ${volume.name} is still attached to node ${nodes.join(', ')}`;
    return { actions: [], reasons: [because('StillAttached', text, 'attach-detach')] };
  }
  if (intent !== undefined) return confirmed(what, attempt(what, intent));
  const secret = deletionSecretOf(volume.object.metadata.annotations);
  const object = newIntent(volume.name, {
    operation: 'Delete',
    driver: deleter.driver.name,
    volume: { name: volume.name, uid: volume.uid },
    source: deleter.source,
    ...(secret === undefined ? {} : { secret }),
  });
  return confirmed(what, { actions: [{ do: 'create', object }], reasons: [because('Deleting', 'its asset is to be deleted', 'driver')] });
}

function attempt({ volume, snapshot, now }: Reclaim, intent: DeleteIntent): ReclaimerDecision {
  const { phase, message = '', inUse = false } = intent.status;
  const wait = waitsUntil(intent, now, snapshot.driver(intent.spec.driver)?.csi?.answersSince);
  const call: readonly ReclaimerAction[] = wait === undefined ? [{ do: 'deleteAsset', intent }] : [];
  const again = wait === undefined ? {} : { again: wait };
  if (phase !== 'Failing') return { actions: call, reasons: [because('Deleting', 'its asset is being deleted', 'driver')] };
  if (inUse) {
    const recorded = recordIfChanged({ about: volume.object, type: 'Normal', reason: 'VolumeDelete', message }, snapshot.lastEvent(volume.uid), now);
    return { actions: [...recorded.actions, ...call], reasons: [because('VolumeDelete', message, 'driver')], ...again };
  }
  return { actions: [...fail(volume, 'VolumeFailedDelete', message), ...call], reasons: [because('VolumeFailedDelete', message, 'driver')], ...again };
}

/** The asset is deleted: the volume is deleted as well. */
function remove(volume: Volume): ReclaimerDecision {
  const freed = withoutOwnFinalizers(volume);
  const goes: readonly ReclaimerAction[] = volume.deleting ? [] : [{ do: 'delete', object: freed }];
  return { actions: [...update(volume.object, freed), ...goes], reasons: [because('Deleted', 'its asset is deleted', 'none')] };
}
