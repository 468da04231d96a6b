/** VolumeSnapshots: what snapshot-controller does (pkg/common-controller/snapshot_controller.go). */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import type { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from '../../api/kinds/snapshot/volume-snapshot.ts';
import { snapshotAnnotations, snapshotFinalizers } from '../../api/volumes/snapshot-annotations.ts';
import { type Decision, type RecordEvent, recordIfChanged, recordOnce, update, updateStatus } from '../../client/decision.ts';
import { type Actor, because, stay, type VolumeReason } from '../volumes/decision.ts';
import { referenceTo, withAnnotations } from '../volumes/edits.ts';
import type { SnapshotterAction } from './actions.ts';
import { type Resolved, secretOf, secretUses, snapshotTokens } from './class-parameters.ts';
import { addFinalizers, hasFinalizer, isDeleting, isReady, removeFinalizers, snapshotStatusFrom, withError } from './edits.ts';
import { messages } from './messages.ts';
import { driverOf, dynamicContentName, groupOwnerOf, pointsBack, snapshotKey, type SnapshotsSnapshot } from './snapshot-view.ts';

export type SnapshotterDecision = Decision<SnapshotterAction, VolumeReason>;

export function decideSnapshot(snapshot: VolumeSnapshot, from: SnapshotsSnapshot, now: number): SnapshotterDecision {
  const driver = driverOf(snapshot, from);
  if (driver === undefined ? !from.hasDrivers : !from.isOurs(driver)) {
    return stay(because('OtherSnapshotter', `a snapshot-controller and the csi-snapshotter of ${driver ?? 'its driver'} take it`, 'external snapshotter'));
  }
  if (isDeleting(snapshot)) return decideDeletion(snapshot, from, now);
  const released = withoutProvisioning(snapshot, from);
  if (released !== snapshot) return { actions: update(snapshot, released), reasons: [] };
  const found = contentOf(snapshot, from);
  if (!found.ok) return fail(snapshot, { ...found, now });
  const content = found.content;
  const wanted = [snapshotFinalizers.asSource, ...(content?.spec.deletionPolicy === 'Delete' ? [snapshotFinalizers.bound] : [])];
  const held = addFinalizers(snapshot, wanted);
  // Written by itself: the content is created only for a snapshot that cannot vanish without it.
  if (held !== snapshot) return { actions: update(snapshot, held), reasons: [] };
  if (isReady(snapshot) && snapshot.status?.boundVolumeSnapshotContentName !== undefined) return decideReady(snapshot, from, now);
  if (content !== undefined) return bind(snapshot, content, from);
  if (snapshot.spec.source.volumeSnapshotContentName !== undefined)
    return fail(snapshot, { reason: 'SnapshotContentMissing', message: messages.contentMissing, now, next: 'administrator' });
  if (groupOwnerOf(snapshot) !== undefined) return stay(because('WaitingForGroup', 'its VolumeGroupSnapshot creates its content', 'none'));
  return begin(snapshot, from, now);
}

interface Failure {
  readonly reason: string;
  readonly message: string;
  readonly now: number;
  readonly keepReady?: boolean;
  readonly next?: Actor;
}

/** The status tells the error, and an event tells it once. */
function fail(snapshot: VolumeSnapshot, { reason, message, now, keepReady = false, next = 'user' }: Failure): SnapshotterDecision {
  const failed = withError(snapshot, message, { now, keepReady });
  const actions = failed === snapshot ? [] : [...updateStatus(snapshot, failed), recordOnce({ about: snapshot, type: 'Warning', reason, message })];
  return { actions, reasons: [because(reason, message, next)] };
}

type FoundContent =
  | { readonly ok: true; readonly content: VolumeSnapshotContent | undefined }
  | { readonly ok: false; readonly reason: string; readonly message: string };

/** The content that the snapshot is bound to or may be bound to. */
function contentOf(snapshot: VolumeSnapshot, from: SnapshotsSnapshot): FoundContent {
  const named = snapshot.spec.source.volumeSnapshotContentName;
  const member = groupOwnerOf(snapshot) === undefined ? undefined : snapshot.status?.boundVolumeSnapshotContentName;
  const name = named ?? member ?? dynamicContentName(snapshot);
  const content = from.content(name);
  if (content === undefined) return { ok: true, content };
  const { source, volumeSnapshotRef: ref } = content.spec;
  if (named !== undefined && source.snapshotHandle === undefined)
    return { ok: false, reason: 'SnapshotContentMismatch', message: messages.expectedPreProvisioned };
  if (named === undefined && source.volumeHandle === undefined && member === undefined)
    return { ok: false, reason: 'SnapshotContentMismatch', message: messages.expectedDynamic(name) };
  const mayBind = named !== undefined && (ref.uid ?? '') === '' && ref.name === snapshot.metadata.name && ref.namespace === snapshot.metadata.namespace;
  return mayBind || pointsBack(content, snapshot)
    ? { ok: true, content }
    : { ok: false, reason: 'SnapshotContentMisbound', message: messages.boundToOther(name) };
}

function decideReady(snapshot: VolumeSnapshot, from: SnapshotsSnapshot, now: number): SnapshotterDecision {
  const content = from.content(snapshot.status?.boundVolumeSnapshotContentName ?? '');
  if (content === undefined) return fail(snapshot, { reason: 'SnapshotContentMissing', message: messages.contentMissing, now, next: 'administrator' });
  if (!pointsBack(content, snapshot)) return fail(snapshot, { reason: 'SnapshotMisbound', message: messages.misbound, now, next: 'administrator' });
  const group = from.group(snapshot.metadata.namespace ?? '', snapshot.status?.volumeGroupSnapshotName ?? '');
  if (group !== undefined && groupOwnerOf(snapshot) === undefined) {
    const owner = { apiVersion: group.apiVersion, kind: group.kind, name: group.metadata.name ?? '', uid: group.metadata.uid ?? '' };
    const { ownerReferences = [] } = snapshot.metadata;
    const owned = { ...snapshot, metadata: { ...snapshot.metadata, ownerReferences: [...ownerReferences, owner] } };
    return { actions: update(snapshot, owned), reasons: [] };
  }
  return stay(because('SnapshotReady', messages.ready(snapshotKey(snapshot)), 'none'));
}

/** The content gets the snapshot's uid first, then the snapshot the content's name: whichever write is the last, both point at each other or neither is used. */
function bind(snapshot: VolumeSnapshot, content: VolumeSnapshotContent, from: SnapshotsSnapshot): SnapshotterDecision {
  const bound = boundContent(content, snapshot);
  if (bound !== content) return { actions: update(content, bound), reasons: [] };
  const group = groupNameOf(content, from);
  if (!group.known) return stay(because('WaitingForGroup', 'the content of its group is not known yet', 'driver'));
  const status = snapshotStatusFrom(snapshot, content, group.name);
  const why = content.status?.error?.message ?? messages.waiting(snapshotKey(snapshot));
  const reasons = [because(content.status?.error === undefined ? 'CreatingSnapshot' : 'SnapshotCreationFailed', why, 'driver')];
  if (status === snapshot.status) return { actions: [], reasons };
  const next = { ...snapshot, status };
  const isCreated = snapshot.status?.creationTime === undefined && status.creationTime !== undefined;
  const becameReady = !isReady(snapshot) && isReady(next);
  const tell = (reason: string, message: string): RecordEvent => recordOnce({ about: snapshot, type: 'Normal', reason, message });
  return {
    actions: [
      ...updateStatus(snapshot, next),
      ...(isCreated ? [tell('SnapshotCreated', messages.created(snapshotKey(snapshot)))] : []),
      ...(becameReady ? [tell('SnapshotReady', messages.ready(snapshotKey(snapshot)))] : []),
    ],
    reasons,
  };
}

function boundContent(content: VolumeSnapshotContent, snapshot: VolumeSnapshot): VolumeSnapshotContent {
  const { volumeSnapshotRef, volumeSnapshotClassName } = content.spec;
  const wantedClass = volumeSnapshotClassName ?? snapshot.spec.volumeSnapshotClassName;
  const uid = snapshot.metadata.uid ?? '';
  if (volumeSnapshotRef.uid === uid && volumeSnapshotClassName === wantedClass) return content;
  return {
    ...content,
    spec: {
      ...content.spec,
      volumeSnapshotRef: { ...volumeSnapshotRef, uid },
      ...(wantedClass === undefined ? {} : { volumeSnapshotClassName: wantedClass }),
    },
  };
}

/** The name of the group that the content is a member of; known without a name: it is in none. */
function groupNameOf({ status }: VolumeSnapshotContent, from: SnapshotsSnapshot): { readonly known: boolean; readonly name?: string } {
  const handle = status?.volumeGroupSnapshotHandle;
  if (handle === undefined) return { known: true };
  const name = from.groupContentOf(handle)?.spec.volumeGroupSnapshotRef.name;
  return name === undefined ? { known: false } : { known: true, name };
}

/** A dynamic snapshot without a content. */
function begin(snapshot: VolumeSnapshot, from: SnapshotsSnapshot, now: number): SnapshotterDecision {
  const chosen = classFor(snapshot, from);
  if (!chosen.ok) return fail(snapshot, { ...chosen, keepReady: true, now, next: 'administrator' });
  const { snapshotClass } = chosen;
  if (snapshot.spec.volumeSnapshotClassName === undefined) {
    const named = { ...snapshot, spec: { ...snapshot.spec, volumeSnapshotClassName: snapshotClass.metadata.name ?? '' } };
    return { actions: update(snapshot, named), reasons: [] };
  }
  const refuse = (message: string) => fail(snapshot, { reason: 'SnapshotContentCreationFailed', message: messages.contentCreationFailed(message), now });
  const claim = claimOf(snapshot, from);
  const { name = '' } = snapshot.metadata;
  if (claim === undefined) return refuse(messages.noClaim(name));
  const isHeld = hasFinalizer(claim, snapshotFinalizers.claimAsSource);
  if (!isHeld && isDeleting(claim)) return refuse(messages.claimDeleting(claim.metadata.name ?? ''));
  const made = contentFor(snapshot, snapshotClass, sourceVolume(snapshot, from));
  if (!made.ok) return refuse(messages.input(name, made.message));
  return {
    actions: [
      ...update(claim, addFinalizers(claim, [snapshotFinalizers.claimAsSource])),
      { do: 'create', object: made.value },
      recordOnce({ about: snapshot, type: 'Normal', reason: 'CreatingSnapshot', message: messages.waiting(snapshotKey(snapshot)) }),
    ],
    reasons: [because('CreatingSnapshot', messages.waiting(snapshotKey(snapshot)), 'driver')],
  };
}

type ChosenClass =
  | { readonly ok: true; readonly snapshotClass: VolumeSnapshotClass }
  | { readonly ok: false; readonly reason: string; readonly message: string };

function classFor(snapshot: VolumeSnapshot, from: SnapshotsSnapshot): ChosenClass {
  const name = snapshot.spec.volumeSnapshotClassName;
  if (name !== undefined) {
    const snapshotClass = from.class(name);
    if (snapshotClass !== undefined) return { ok: true, snapshotClass };
    return { ok: false, reason: 'GetSnapshotClassFailed', message: messages.classFailed(messages.classNotFound(name)) };
  }
  const none = (why: string): ChosenClass => ({ ok: false, reason: 'SetDefaultSnapshotClassFailed', message: messages.defaultClassFailed(why) });
  const volume = sourceVolume(snapshot, from);
  if (!volume.ok) return none(volume.message);
  const driver = volume.value.spec.csi?.driver;
  if (driver === undefined) return none(messages.notCsi(snapshotKey(snapshot)));
  const defaults = [...from.classes()].filter((one) => one.driver === driver && one.metadata.annotations?.[snapshotAnnotations.defaultClass] === 'true');
  const [only] = defaults;
  if (only === undefined) return none(messages.noDefaultClass);
  return defaults.length === 1 ? { ok: true, snapshotClass: only } : none(messages.severalDefaultClasses(defaults.length));
}

const claimOf = (snapshot: VolumeSnapshot, from: SnapshotsSnapshot): PersistentVolumeClaim | undefined =>
  from.claim(snapshot.metadata.namespace ?? '', snapshot.spec.source.persistentVolumeClaimName ?? '');

/** The volume that a snapshot is taken of. */
export function sourceVolume(snapshot: VolumeSnapshot, from: SnapshotsSnapshot): Resolved<PersistentVolume> {
  const claim = claimOf(snapshot, from);
  if (claim === undefined) return { ok: false, message: messages.claimNotFound(snapshot.spec.source.persistentVolumeClaimName ?? '') };
  return boundVolume(claim, from);
}

export function boundVolume(claim: PersistentVolumeClaim, from: Pick<SnapshotsSnapshot, 'volume'>): Resolved<PersistentVolume> {
  if (claim.status.phase !== 'Bound') return { ok: false, message: messages.claimNotBound(claim.metadata.name ?? '') };
  const volumeName = claim.spec.volumeName ?? '';
  const volume = from.volume(volumeName);
  if (volume === undefined) return { ok: false, message: messages.volumeNotFound(volumeName) };
  const { claimRef } = volume.spec;
  const isBound =
    claimRef?.name === claim.metadata.name && claimRef?.namespace === claim.metadata.namespace && (claimRef?.uid ?? claim.metadata.uid) === claim.metadata.uid;
  return isBound ? { ok: true, value: volume } : { ok: false, message: messages.claimMisbound };
}

function contentFor(snapshot: VolumeSnapshot, snapshotClass: VolumeSnapshotClass, volume: Resolved<PersistentVolume>): Resolved<VolumeSnapshotContent> {
  if (!volume.ok) return volume;
  const { csi, volumeMode } = volume.value.spec;
  if (csi === undefined) return { ok: false, message: `cannot find CSI PersistentVolumeSource for volume ${volume.value.metadata.name ?? ''}` };
  const className = snapshotClass.metadata.name ?? '';
  if (csi.driver !== snapshotClass.driver) {
    const message = messages.otherDriver({ volume: volume.value.metadata.name ?? '', driver: csi.driver, className, classDriver: snapshotClass.driver });
    return { ok: false, message };
  }
  const name = dynamicContentName(snapshot);
  const { namespace = '', name: snapshotName = '' } = snapshot.metadata;
  const secret = secretOf(snapshotClass.parameters, secretUses.snapshotter, snapshotTokens(name, { namespace, name: snapshotName }));
  if (!secret.ok) return secret;
  const content: VolumeSnapshotContent = {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotContent',
    // With its finalizer from the start: nothing is asked of the driver for a content that could vanish.
    metadata: { name, finalizers: [snapshotFinalizers.content] },
    spec: {
      deletionPolicy: snapshotClass.deletionPolicy,
      driver: snapshotClass.driver,
      source: { volumeHandle: csi.volumeHandle },
      ...(volumeMode === undefined ? {} : { sourceVolumeMode: volumeMode }),
      volumeSnapshotClassName: className,
      volumeSnapshotRef: referenceTo(snapshot),
    },
  };
  if (secret.value === undefined) return { ok: true, value: content };
  const { name: secretName, namespace: secretNamespace } = secret.value;
  const annotated = withAnnotations(content, {
    [snapshotAnnotations.secretName]: secretName,
    [snapshotAnnotations.secretNamespace]: secretNamespace,
  });
  return { ok: true, value: annotated };
}

/** The snapshot without the provisioner's finalizer, once no volume is created from it and no claim waits for one. */
function withoutProvisioning(snapshot: VolumeSnapshot, from: SnapshotsSnapshot): VolumeSnapshot {
  return isSource(snapshot, from) ? snapshot : removeFinalizers(snapshot, [snapshotFinalizers.provisioning]);
}

function isSource(snapshot: VolumeSnapshot, from: SnapshotsSnapshot): boolean {
  const { namespace = '', name = '' } = snapshot.metadata;
  if (from.restoring(namespace, name) !== undefined) return true;
  const content = from.content(snapshot.status?.boundVolumeSnapshotContentName ?? '');
  return content?.status?.snapshotHandle !== undefined && from.isBeingRestored(content.spec.driver, content.status.snapshotHandle);
}

/** The content goes first, unless its policy is Retain; then the finalizers. */
function decideDeletion(snapshot: VolumeSnapshot, from: SnapshotsSnapshot, now: number): SnapshotterDecision {
  const ours = [snapshotFinalizers.asSource, snapshotFinalizers.bound, snapshotFinalizers.inGroup, snapshotFinalizers.provisioning];
  if (!ours.some((finalizer) => hasFinalizer(snapshot, finalizer))) return stay(because('Deleting', 'other finalizers hold it', 'none'));
  const { namespace = '' } = snapshot.metadata;
  const { boundVolumeSnapshotContentName, volumeGroupSnapshotName } = snapshot.status ?? {};
  const found = from.content(boundVolumeSnapshotContentName ?? dynamicContentName(snapshot));
  const content = found !== undefined && pointsBack(found, snapshot) ? found : undefined;
  if (content !== undefined && isSource(snapshot, from)) return pendingDeletion(snapshot, messages.restoring, { from, now });
  const group = volumeGroupSnapshotName === undefined ? undefined : from.group(namespace, volumeGroupSnapshotName);
  if (group !== undefined) return pendingDeletion(snapshot, messages.inGroup(snapshotKey(snapshot), snapshotKey(group)), { from, now });
  const isDeleted = content?.spec.deletionPolicy === 'Delete';
  const marked = content === undefined ? undefined : withAnnotations(content, { [snapshotAnnotations.beingDeleted]: 'yes' });
  const released = removeFinalizers(snapshot, isDeleted ? ours.filter((finalizer) => finalizer !== snapshotFinalizers.bound) : ours);
  return {
    actions: [
      ...(content === undefined || marked === undefined ? [] : update(content, marked)),
      ...(content !== undefined && isDeleted && !isDeleting(content) ? [{ do: 'delete', object: content } as const] : []),
      ...update(snapshot, released),
    ],
    reasons: [because('Deleting', content === undefined ? 'its content is gone' : 'its content is deleted first', 'driver')],
  };
}

function pendingDeletion(snapshot: VolumeSnapshot, message: string, { from, now }: { from: SnapshotsSnapshot; now: number }): SnapshotterDecision {
  const event = { about: snapshot, type: 'Warning', reason: 'SnapshotDeletePending', message } as const;
  const recorded = recordIfChanged(event, from.lastEvent(snapshot.metadata.uid ?? ''), now);
  return { actions: recorded.actions, reasons: [because('SnapshotDeletePending', message, 'user')], again: recorded.again };
}

/**
 * A content of policy Retain outlives its VolumeSnapshot, also before the driver has answered: without the volume the snapshot that is to be kept would never
 * be taken. (snapshot-controller looks at VolumeSnapshots only.) After an error the claim may go.
 */
const isBeingTaken = ({ metadata, spec, status }: VolumeSnapshotContent): boolean =>
  (spec.volumeSnapshotRef.uid ?? '') !== '' &&
  metadata.deletionTimestamp === undefined &&
  metadata.annotations?.[snapshotAnnotations.groupHandle] === undefined &&
  status?.snapshotHandle === undefined &&
  status?.error === undefined;

/** A claim keeps its finalizer as long as a snapshot of it is being taken. */
export function decideClaim(claim: PersistentVolumeClaim, from: SnapshotsSnapshot): SnapshotterDecision {
  const { namespace = '', name = '' } = claim.metadata;
  const csi = from.volume(claim.spec.volumeName ?? '')?.spec.csi;
  if (!hasFinalizer(claim, snapshotFinalizers.claimAsSource) || csi === undefined || !from.isOurs(csi.driver)) {
    return stay(because('NothingToRelease', 'no snapshot of it is being taken', 'none'));
  }
  const taking = from.snapshotsOf(namespace, name).find((snapshot) => !isReady(snapshot));
  if (taking !== undefined) return stay(because('CreatingSnapshot', messages.waiting(snapshotKey(taking)), 'driver'));
  const retained = from.contentsOf(csi.driver, csi.volumeHandle).find(isBeingTaken);
  if (retained !== undefined) return stay(because('CreatingSnapshot', `driver ${csi.driver} takes the snapshot ${retained.metadata.name ?? ''}`, 'driver'));
  return { actions: update(claim, removeFinalizers(claim, [snapshotFinalizers.claimAsSource])), reasons: [] };
}
