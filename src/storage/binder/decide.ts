/**
 * Which claim has which volume, and what phases that makes.
 *
 * Two references decide everything: a volume's claimRef (by name or by uid) and a claim's volumeName. When both objects exist:
 *
 *     volume → claim   claim → volume
 *     by uid           none            finish: the claim takes the volume
 *     none             yes             finish: the volume takes the claim, if it satisfies it
 *     by uid           another         undo: the volume is free again, or deleted if it was made for this claim
 *     another          yes             wait (never bound) or Lost (bound before): two claims want one volume
 *     by uid           yes             nothing, but the phases
 *
 * A claim that was bound once never gets another volume.
 */
import type { Pod, StorageClass } from '../../api/generated/types.ts';
import { type Claim, takesAnyVolume } from '../volumes/claim.ts';
import { showDataSource } from '../volumes/data-source.ts';
import { type Decision, type LastEvent, type ObjectEvent, recordIfChanged, recordOnce, update, updateStatus } from '../../client/decision.ts';
import type { VolumeReason } from '../volumes/decision.ts';
import { claimWithoutVolume, sameList, withClass } from '../volumes/edits.ts';
import { matchRequestedVolume, type Rejection } from '../volumes/match.ts';
import { waitsForConsumer } from '../../api/volumes/storage-class.ts';
import { isFree, isVolumeBoundToClaim, type Volume } from '../volumes/volume.ts';
import { bind, type BinderAction, type BindMode, setPhase, unbind } from './actions.ts';

/** What the binder reads, as of one moment. */
export interface BinderSnapshot {
  readonly mode: BindMode;
  readonly lastEvent: LastEvent;
  volume(name: string): Volume | undefined;
  /** By 'namespace/name'. */
  claim(key: string): Claim | undefined;
  /** A claim that was bound to the volume of this name, and keeps it, whatever became of the volume's claimRef. */
  ownerOf(volumeName: string): Claim | undefined;
  class(name: string): StorageClass | undefined;
  defaultClass(): StorageClass | undefined;
  bestFit(claim: Claim, options: { readonly reservedOnly: boolean }): Volume | undefined;
  /** The claim that the new volume is offered to. */
  offeredTo(volumeName: string): Claim | undefined;
  /** The pods that use a claim, have not ended, and have no node yet. */
  podsToSchedule(claimKey: string): readonly PodToSchedule[];
}

export interface PodToSchedule {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly created: number;
}

export const podToSchedule = ({ metadata }: Pod): PodToSchedule => ({ name: metadata.name ?? '', created: Date.parse(metadata.creationTimestamp ?? '') || 0 });

export type BinderSubject =
  | { readonly type: 'claim'; readonly claim: Claim; readonly snapshot: BinderSnapshot }
  | { readonly type: 'volume'; readonly volume: Volume; readonly snapshot: BinderSnapshot };

export interface BinderReason extends VolumeReason {
  readonly volume?: string;
  readonly claim?: string;
  readonly pods?: readonly string[];
  readonly rejection?: Rejection;
}

export type BinderDecision = Decision<BinderAction, BinderReason>;

export function decide(subject: BinderSubject, now: number): BinderDecision {
  return subject.type === 'claim' ? decideClaim(subject.claim, subject.snapshot, now) : decideVolume(subject.volume, subject.snapshot, now);
}

/**
 * Bound to each other, in spec and status: nothing is to be decided about either of them. Most volumes and claims are like this, most of
 * the time, so this check comes before the decision.
 */
export function areSettled(volume: Volume | undefined, claim: Claim | undefined): boolean {
  if (volume?.claim === undefined || claim === undefined || !claim.everBound || claim.volumeName !== volume.name) return false;
  if (volume.claim.uid === '' || volume.claim.uid !== claim.uid || volume.claim.key !== claim.key) return false;
  return volume.phase === 'Bound' && claim.phase === 'Bound' && sameList(claim.object.status.accessModes ?? [], volume.object.spec.accessModes ?? []);
}

export function decideClaim(claim: Claim, snapshot: BinderSnapshot, now: number): BinderDecision {
  if (claim.everBound) return keepBound(claim, snapshot, now);
  return takesAnyVolume(claim) ? bindBestFit(claim, snapshot, now) : bindRequested(claim, snapshot, now);
}

/** Once bound, a claim never gets another volume: it keeps its own or is Lost. */
function keepBound(claim: Claim, snapshot: BinderSnapshot, now: number): BinderDecision {
  if (claim.volumeName === '') {
    return markLost(claim, 'ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!');
  }
  const volume = snapshot.volume(claim.volumeName);
  if (volume === undefined) return markLost(claim, 'ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!');
  if (volume.claim !== undefined && volume.claim.uid !== claim.uid) {
    return markLost(claim, 'ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly');
  }
  return bindTo(volume, claim, snapshot, now);
}

function markLost(claim: Claim, reason: 'ClaimLost' | 'ClaimMisbound', message: string): BinderDecision {
  const why: BinderReason = { code: reason, text: message, next: 'administrator', volume: claim.volumeName };
  if (claim.phase === 'Lost') return { actions: [], reasons: [why] };
  const event: ObjectEvent = { about: claim.object, type: 'Warning', reason, message };
  return { actions: [...updateStatus(claim.object, claimWithoutVolume(claim.object, 'Lost')), recordOnce(event)], reasons: [why] };
}

/** The claim asks for one particular volume; its own selector does not count. */
function bindRequested(claim: Claim, snapshot: BinderSnapshot, now: number): BinderDecision {
  const volume = snapshot.volume(claim.volumeName);
  if (volume === undefined) {
    const why: BinderReason = {
      code: 'VolumeMissing',
      text: `waits for volume "${claim.volumeName}" to be created`,
      next: 'administrator',
      volume: claim.volumeName,
    };
    return { actions: keepPending(claim), reasons: [why] };
  }
  if (isVolumeBoundToClaim(volume, claim)) return bindTo(volume, claim, snapshot, now);
  const holder = volume.claim?.key ?? snapshot.ownerOf(volume.name)?.key;
  if (holder !== undefined) {
    const message = `volume "${volume.name}" already bound to a different claim.`;
    const why: BinderReason = { code: 'VolumeTaken', text: message, next: 'administrator', volume: volume.name, claim: holder };
    return keepPendingWithEvent({ claim, why, snapshot, now, event: warning(claim, 'FailedBinding', message) });
  }
  const match = matchRequestedVolume(claim, volume);
  if (match === 'fits') return bindTo(volume, claim, snapshot, now);
  const message = `Cannot bind to requested volume "${volume.name}": ${match.text}`;
  const why: BinderReason = { code: 'VolumeMismatch', text: message, next: 'user', volume: volume.name, rejection: match };
  return keepPendingWithEvent({ claim, why, snapshot, now, event: warning(claim, 'VolumeMismatch', message) });
}

/** The claim takes the best match. Without one it waits: for a class, for a pod, for a provisioner, or for a volume. */
function bindBestFit(claim: Claim, snapshot: BinderSnapshot, now: number): BinderDecision {
  if (claim.selector.type === 'invalid') {
    const message = `error creating internal label selector for claim: ${claim.key}: ${claim.selector.problem}`;
    const why: BinderReason = { code: 'InvalidSelector', text: message, next: 'user' };
    return keepPendingWithEvent({ claim, why, snapshot, now, event: warning(claim, 'FailedBinding', message) });
  }
  const delayed = waitsForConsumer(snapshot.class(claim.className));
  const volume = snapshot.bestFit(claim, { reservedOnly: delayed });
  if (volume !== undefined) return bindTo(volume, claim, snapshot, now);
  const assigned = claim.class.type === 'unset' ? snapshot.defaultClass()?.metadata.name : undefined;
  if (assigned !== undefined) {
    const why: BinderReason = { code: 'DefaultClass', text: `gets the default class "${assigned}"`, next: 'binder' };
    return { actions: update(claim.object, withClass(claim.object, assigned)), reasons: [why] };
  }
  if (delayed && claim.selectedNode === undefined) return waitForConsumer(claim, snapshot, now);
  if (claim.className !== '') {
    const why: BinderReason = { code: 'Provisioning', text: `no volume fits; one of class "${claim.className}" has to be provisioned`, next: 'provisioner' };
    return { actions: [], reasons: [why] };
  }
  const message = 'no persistent volumes available for this claim and no storage class is set';
  const why: BinderReason = { code: 'NoVolume', text: message, next: 'administrator' };
  return keepPendingWithEvent({ claim, why, snapshot, now, event: normal(claim, 'FailedBinding', message) });
}

function waitForConsumer(claim: Claim, snapshot: BinderSnapshot, now: number): BinderDecision {
  const pods = snapshot.podsToSchedule(claim.key);
  if (pods.length === 0) {
    const message = 'waiting for first consumer to be created before binding';
    const why: BinderReason = { code: 'WaitForFirstConsumer', text: message, next: 'user' };
    return keepPendingWithEvent({ claim, why, snapshot, now, event: normal(claim, 'WaitForFirstConsumer', message) });
  }
  const names = pods.map(({ name }) => name).sort();
  const message = names.length === 1 ? `waiting for pod ${names[0] ?? ''} to be scheduled` : `waiting for pods ${names.join(',')} to be scheduled`;
  const why: BinderReason = { code: 'WaitForPodScheduled', text: message, next: 'scheduler', pods: names };
  // Most pods get their node at once: then no event is needed.
  const patience =
    snapshot.lastEvent(claim.uid)?.reason === 'WaitForFirstConsumer' ? Math.min(...pods.map(({ created }) => created)) + unscheduledPodGraceMs - now : 0;
  // A longer wait means that the clocks disagree.
  if (patience > 0 && patience <= unscheduledPodGraceMs) return { actions: keepPending(claim), reasons: [why], again: now + patience };
  return keepPendingWithEvent({ claim, why, snapshot, now, event: normal(claim, 'WaitForPodScheduled', message) });
}

/** Kubernetes records this event at its next resync of the claim, within fifteen seconds. */
const unscheduledPodGraceMs = 2000;

/** The claim gets the volume: the writes that are still missing. */
function bindTo(volume: Volume, claim: Claim, snapshot: BinderSnapshot, now: number): BinderDecision {
  if (volume.capacity === undefined && claim.phase !== 'Bound') {
    const message = `PersistentVolume "${volume.name}" is without a storage capacity`;
    const why: BinderReason = { code: 'VolumeWithoutCapacity', text: message, next: 'administrator', volume: volume.name };
    const recorded = recordIfChanged(warning(claim, 'VolumeMismatch', message), snapshot.lastEvent(claim.uid), now);
    return { actions: recorded.actions, reasons: [why], again: recorded.again };
  }
  const actions = bind(volume, claim, snapshot.mode);
  const why: BinderReason =
    actions.length === 0
      ? { code: 'Bound', text: `bound to volume "${volume.name}"`, next: 'none', volume: volume.name }
      : { code: 'Binding', text: `takes volume "${volume.name}"`, next: 'binder', volume: volume.name };
  const ignored = actions.length > 0 && ignoresDataSource(volume, claim) ? [recordOnce(warning(claim, 'DataSourceIgnored', ignoredSource(volume, claim)))] : [];
  return { actions: [...actions, ...ignored], reasons: [why] };
}

/**
 * As in Kubernetes (v1.36.4, `FindMatchingVolume`), a claim with a data source takes an existing volume that fits. That volume has its own content, which
 * the claim's owner may not expect. A volume that a user chose, or that a populator filled, is the expected one.
 */
const ignoresDataSource = (volume: Volume, claim: Claim): boolean =>
  claim.dataSource !== undefined && claim.volumeName === '' && volume.provisionedBy === undefined && (volume.claim === undefined || volume.boundByController);

const ignoredSource = (volume: Volume, { dataSource }: Claim): string =>
  `${dataSource === undefined ? '' : showDataSource(dataSource)}, and the claim gets the existing volume "${volume.name}" with the content that it has; ` +
  'create the claim again with a storageClassName of which no volume is free, to have one provisioned from the source';

const keepPending = (claim: Claim): readonly BinderAction[] => updateStatus(claim.object, claimWithoutVolume(claim.object, 'Pending'));

interface PendingClaim {
  readonly claim: Claim;
  readonly why: BinderReason;
  readonly event: ObjectEvent;
  readonly snapshot: BinderSnapshot;
  readonly now: number;
}

function keepPendingWithEvent({ claim, why, event, snapshot, now }: PendingClaim): BinderDecision {
  const recorded = recordIfChanged(event, snapshot.lastEvent(claim.uid), now);
  return { actions: [...recorded.actions, ...keepPending(claim)], reasons: [why], again: recorded.again };
}

const warning = ({ object }: Claim | Volume, reason: string, message: string): ObjectEvent => ({ about: object, type: 'Warning', reason, message });
const normal = ({ object }: Claim | Volume, reason: string, message: string): ObjectEvent => ({ about: object, type: 'Normal', reason, message });

export function decideVolume(volume: Volume, snapshot: BinderSnapshot, now: number): BinderDecision {
  if (volume.claim === undefined) return offer(volume, snapshot, now);
  const { key, uid } = volume.claim;
  if (uid === '') {
    return { actions: setPhase(volume, 'Available'), reasons: [{ code: 'Reserved', text: `reserved for claim ${key}`, next: 'user', claim: key }] };
  }
  const claim = snapshot.claim(key);
  if (claim?.uid !== uid) return release(volume, `its claim ${key} is gone`, true);
  if (claim.volumeName === '') return waitForClaim(volume, claim, snapshot, now);
  if (claim.volumeName === volume.name) {
    return { actions: setPhase(volume, 'Bound'), reasons: [{ code: 'Bound', text: `bound to claim ${key}`, next: 'none', claim: key }] };
  }
  if (volume.provisionedBy !== undefined && volume.reclaimPolicy === 'Delete') {
    return release(volume, `it was made for claim ${key}, which has volume "${claim.volumeName}"`, false);
  }
  const why: BinderReason = { code: 'Unbinding', text: `its claim ${key} has volume "${claim.volumeName}"`, next: 'binder', claim: key };
  return { actions: unbind(volume), reasons: [why] };
}

function offer(volume: Volume, snapshot: BinderSnapshot, now: number): BinderDecision {
  const owner = snapshot.ownerOf(volume.name);
  // A user cleared its claimRef: it goes back to its claim, and is not offered to another meanwhile.
  if (owner !== undefined)
    return { actions: [], reasons: [{ code: 'WaitForClaim', text: `goes back to claim ${owner.key}`, next: 'binder', claim: owner.key }] };
  const claim = claimToBind(volume, snapshot);
  if (claim !== undefined) return bindTo(volume, claim, snapshot, now);
  const actions = setPhase(volume, 'Available');
  if (volume.claimSelector.type === 'valid') {
    const text = isFree(volume) ? 'free for a claim that it fits' : volume.deleting ? 'being deleted' : 'becomes available';
    return { actions, reasons: [{ code: 'Available', text, next: 'user' }] };
  }
  const message = `Cannot be bound to any claim: its claim selector cannot be read: ${volume.claimSelector.problem}`;
  const recorded = recordIfChanged(warning(volume, 'InvalidClaimSelector', message), snapshot.lastEvent(volume.uid), now);
  return {
    actions: [...recorded.actions, ...actions],
    reasons: [{ code: 'InvalidClaimSelector', text: message, next: 'administrator' }],
    again: recorded.again,
  };
}

/**
 * A new volume that a claim has been waiting for is bound to it at once, without becoming Available first: one write less. Not in plain
 * mode, where every step is as in Kubernetes.
 */
function claimToBind(volume: Volume, snapshot: BinderSnapshot): Claim | undefined {
  if (snapshot.mode === 'plain' || volume.phase !== 'Pending' || volume.deleting) return undefined;
  const claim = snapshot.offeredTo(volume.name);
  if (claim === undefined || !takesAnyVolume(claim)) return undefined;
  return snapshot.bestFit(claim, { reservedOnly: false }) === undefined ? claim : undefined;
}

/**
 * The volume's claim is gone; the reclaimer takes over. The cache may not have the claim yet (a volume may arrive before its claim), so
 * the server is asked first: data may be deleted because of this.
 */
function release(volume: Volume, text: string, isClaimGone: boolean): BinderDecision {
  const why: BinderReason = { code: 'Released', text, next: 'reclaimer', ...(volume.claim === undefined ? {} : { claim: volume.claim.key }) };
  // A volume that failed to be reclaimed stays Failed.
  if (volume.phase === 'Released' || volume.phase === 'Failed' || volume.claim === undefined) return { actions: [], reasons: [why] };
  const confirm: readonly BinderAction[] = isClaimGone ? [{ do: 'confirmClaimGone', claim: volume.claim }] : [];
  return { actions: [...confirm, ...setPhase(volume, 'Released')], reasons: [why] };
}

/** The claim's own pass finishes the binding, unless the two do not match. */
function waitForClaim(volume: Volume, claim: Claim, snapshot: BinderSnapshot, now: number): BinderDecision {
  if (claim.volumeMode === volume.volumeMode) {
    return { actions: [], reasons: [{ code: 'WaitForClaim', text: `waits for claim ${claim.key} to take it`, next: 'binder', claim: claim.key }] };
  }
  const ofVolume = `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${claim.name}" due to incompatible volumeMode.`;
  const ofClaim = `Cannot bind PersistentVolume "${volume.name}" to requested PersistentVolumeClaim due to incompatible volumeMode.`;
  const first = recordIfChanged(warning(volume, 'VolumeMismatch', ofVolume), snapshot.lastEvent(volume.uid), now);
  // Remembered under the volume's own key: the claim's pass records other events about the claim.
  const second = first.actions.length === 0 ? [] : [recordOnce(warning(claim, 'VolumeMismatch', ofClaim))];
  const why: BinderReason = { code: 'VolumeMismatch', text: ofVolume, next: 'user', claim: claim.key };
  return { actions: [...first.actions, ...second], reasons: [why], again: first.again };
}
