/** VolumeSnapshotContents: what csi-snapshotter does for its driver (pkg/sidecar-controller/snapshot_controller.go). */
import type { VolumeSnapshotContent } from '../../api/kinds/snapshot/volume-snapshot.ts';
import { snapshotAnnotations, snapshotFinalizers } from '../../api/volumes/snapshot-annotations.ts';
import { recordOnce, update, updateStatus } from '../../client/decision.ts';
import type { SnapshotReference } from '../../drivers/contract.ts';
import { because, stay } from '../volumes/decision.ts';
import { withAnnotations } from '../volumes/edits.ts';
import type { SnapshotAttempt } from './actions.ts';
import { driverParameters, type Resolved, secretOf, secretUses, snapshotTokens } from './class-parameters.ts';
import type { SnapshotterDecision } from './decide-snapshot.ts';
import { addFinalizers, hasAnnotation, isDeleting, isReady, removeFinalizers, withError } from './edits.ts';
import { messages } from './messages.ts';
import type { SnapshotsSnapshot } from './snapshot-view.ts';

export interface ContentSubject {
  readonly content: VolumeSnapshotContent;
  readonly attempt: SnapshotAttempt | undefined;
}

export function decideContent({ content, attempt }: ContentSubject, from: SnapshotsSnapshot, now: number): SnapshotterDecision {
  const { driver, source, volumeSnapshotRef } = content.spec;
  if (!from.isOurs(driver)) return stay(because('OtherSnapshotter', `the csi-snapshotter of ${driver} acts on it`, 'external snapshotter'));
  const wait = attempt !== undefined && attempt.notBefore > now ? attempt.notBefore : undefined;
  if (shouldDelete(content)) return decideDeletion(content, wait);
  const isBound = (volumeSnapshotRef.uid ?? '') !== '';
  const held = isDeleting(content) || !isBound ? content : addFinalizers(content, [snapshotFinalizers.content]);
  if (held !== content) return { actions: update(content, held), reasons: [] };
  const handle = content.status?.snapshotHandle;
  const isBeingCreated = hasAnnotation(content, snapshotAnnotations.beingCreated);
  // The handle is written down, or nothing was taken: the annotation has done its work.
  if (isBeingCreated && (handle !== undefined || attempt?.settled === true))
    return { actions: update(content, withAnnotations(content, { [snapshotAnnotations.beingCreated]: undefined })), reasons: [] };
  if (isReady(content)) return stay(because('SnapshotReady', 'it is ready to use', 'none'));
  const isMember = hasAnnotation(content, snapshotAnnotations.groupHandle);
  if (isMember && handle === undefined) return stay(because('WaitingForGroup', 'its group writes its handle', 'none'));
  if (isDeleting(content) && handle === undefined && !isBeingCreated) return stay(because('Deleting', 'its VolumeSnapshot is not being deleted', 'user'));
  const call = source.snapshotHandle !== undefined || isMember ? checkOf(content, from) : takeOf(content, from);
  if (!call.ok) return failContent(content, messages.creationFailed(messages.contentInput(content.metadata.name ?? '', call.message)), now);
  const reasons = [because('CreatingSnapshot', content.status?.error?.message ?? `driver ${driver} takes the snapshot`, 'driver')];
  if (wait !== undefined) return { actions: [], reasons, again: wait };
  // The intent: written before the driver is asked, and kept until it is certain what came of it.
  if (call.value.do === 'takeSnapshot' && handle === undefined && !isBeingCreated) {
    const intended = withAnnotations(content, { [snapshotAnnotations.beingCreated]: 'yes' });
    return { actions: [...update(content, intended), { ...call.value, content: intended, isFirst: true }], reasons };
  }
  return { actions: [call.value], reasons };
}

/** Not while it is unknown whether the driver took the snapshot: what it may have taken would be lost. */
function shouldDelete(content: VolumeSnapshotContent): boolean {
  if (!isDeleting(content)) return false;
  if (content.spec.source.snapshotHandle !== undefined && (content.spec.volumeSnapshotRef.uid ?? '') === '') return true;
  return !hasAnnotation(content, snapshotAnnotations.beingCreated) && hasAnnotation(content, snapshotAnnotations.beingDeleted);
}

function decideDeletion(content: VolumeSnapshotContent, wait: number | undefined): SnapshotterDecision {
  const { deletionPolicy, source, volumeSnapshotRef } = content.spec;
  // A status that is empty is one that the deletion left.
  const preProvisioned = content.status === undefined && (volumeSnapshotRef.uid ?? '') !== '' ? source.snapshotHandle : undefined;
  const handle = content.status?.snapshotHandle ?? preProvisioned;
  const isMember = content.status?.volumeGroupSnapshotHandle !== undefined || hasAnnotation(content, snapshotAnnotations.groupHandle);
  if (deletionPolicy === 'Delete' && handle !== undefined && !isMember) {
    const secret = secretFromAnnotations(content);
    const reasons = [because('DeletingSnapshot', `driver ${content.spec.driver} deletes the snapshot ${handle}`, 'driver')];
    if (wait !== undefined) return { actions: [], reasons, again: wait };
    return { actions: [{ do: 'deleteSnapshot', content, request: { handle, ...(secret === undefined ? {} : { secret }) } }], reasons };
  }
  return {
    actions: update(content, removeFinalizers(content, [snapshotFinalizers.content])),
    reasons: [because('Deleting', isMember ? 'its group deletes the snapshot' : 'nothing of it is left to delete', 'none')],
  };
}

type ContentCall = Extract<SnapshotterDecision['actions'][number], { readonly do: 'takeSnapshot' | 'checkSnapshot' }>;

/** A snapshot that exists already, or a member of a group: the driver is only asked how it is. */
function checkOf(content: VolumeSnapshotContent, from: SnapshotsSnapshot): Resolved<ContentCall> {
  const handle = content.status?.snapshotHandle ?? content.spec.source.snapshotHandle ?? '';
  const className = content.spec.volumeSnapshotClassName;
  const listing = className === undefined ? undefined : from.class(className);
  const secret = secretOf(listing?.parameters, secretUses.list, snapshotTokens(content.metadata.name ?? ''));
  if (!secret.ok) return secret;
  const given = secret.value ?? (hasAnnotation(content, snapshotAnnotations.groupHandle) ? secretFromAnnotations(content) : undefined);
  const request: SnapshotReference = { handle, ...(given === undefined ? {} : { secret: given }) };
  return { ok: true, value: { do: 'checkSnapshot', content, request } };
}

function takeOf(content: VolumeSnapshotContent, from: SnapshotsSnapshot): Resolved<ContentCall> {
  const { source, volumeSnapshotRef, volumeSnapshotClassName: className } = content.spec;
  if (className === undefined) return { ok: false, message: `failed to take snapshot ${content.metadata.name ?? ''} without a snapshot class` };
  const snapshotClass = from.class(className);
  // With a content that is to be deleted the driver is asked by the name alone: only for the handle of what it may have taken.
  if (snapshotClass === undefined && !isDeleting(content)) return { ok: false, message: messages.classNotFound(className) };
  const parameters = driverParameters(snapshotClass?.parameters);
  if (!parameters.ok) return parameters;
  const secret = secretFromAnnotations(content);
  const request = {
    name: `snapshot-${volumeSnapshotRef.uid ?? ''}`,
    sourceHandle: source.volumeHandle ?? '',
    parameters: parameters.value,
    ...(secret === undefined ? {} : { secret }),
  };
  return { ok: true, value: { do: 'takeSnapshot', content, request, isFirst: false } };
}

function secretFromAnnotations({ metadata }: VolumeSnapshotContent): SnapshotReference['secret'] {
  const { [snapshotAnnotations.secretName]: name, [snapshotAnnotations.secretNamespace]: namespace } = metadata.annotations ?? {};
  return name === undefined || namespace === undefined ? undefined : { namespace, name };
}

/** The content's status tells the error, and an event tells it once. */
export function failContent(content: VolumeSnapshotContent, message: string, now: number, reason = 'SnapshotCreationFailed'): SnapshotterDecision {
  const failed = withError(content, message, { now });
  const event = recordOnce({ about: content, type: 'Warning', reason, message });
  return { actions: failed === content ? [] : [...updateStatus(content, failed), event], reasons: [because(reason, message, 'administrator')] };
}
