/** VolumeGroupSnapshotContents: what csi-snapshotter does for its driver (pkg/sidecar-controller/groupsnapshot_helper.go). */
import type { VolumeGroupSnapshotContent } from '../../api/kinds/snapshot/volume-group-snapshot.ts';
import { groupSnapshotAnnotations, snapshotFinalizers } from '../../api/volumes/snapshot-annotations.ts';
import { recordOnce, update, updateStatus } from '../../client/decision.ts';
import type { GroupSnapshotReference } from '../../drivers/contract.ts';
import { because, stay } from '../volumes/decision.ts';
import { withAnnotations } from '../volumes/edits.ts';
import type { SnapshotAttempt } from './actions.ts';
import { driverParameters, groupTokens, type Resolved, secretOf, secretUses } from './class-parameters.ts';
import type { SnapshotterDecision } from './decide-snapshot.ts';
import { addFinalizers, hasAnnotation, isDeleting, isReady, removeFinalizers, withError } from './edits.ts';
import { groupMessages } from './group-messages.ts';
import type { SnapshotsSnapshot } from './snapshot-view.ts';

export interface GroupContentSubject {
  readonly content: VolumeGroupSnapshotContent;
  readonly attempt: SnapshotAttempt | undefined;
}

export function decideGroupContent({ content, attempt }: GroupContentSubject, from: SnapshotsSnapshot, now: number): SnapshotterDecision {
  const { driver, source, volumeGroupSnapshotRef } = content.spec;
  if (!from.takesGroups(driver)) return stay(because('OtherSnapshotter', `the csi-snapshotter of ${driver} acts on it`, 'external snapshotter'));
  const wait = attempt !== undefined && attempt.notBefore > now ? attempt.notBefore : undefined;
  const isBound = (volumeGroupSnapshotRef.uid ?? '') !== '';
  const isBeingCreated = hasAnnotation(content, groupSnapshotAnnotations.beingCreated);
  if (isDeleting(content) && !isBeingCreated && (!isBound || hasAnnotation(content, groupSnapshotAnnotations.beingDeleted)))
    return decideDeletion(content, wait);
  const held = isDeleting(content) || !isBound ? content : addFinalizers(content, [snapshotFinalizers.groupContent]);
  if (held !== content) return { actions: update(content, held), reasons: [] };
  const handle = content.status?.volumeGroupSnapshotHandle;
  if (isBeingCreated && (handle !== undefined || attempt?.settled === true))
    return { actions: update(content, withAnnotations(content, { [groupSnapshotAnnotations.beingCreated]: undefined })), reasons: [] };
  if (isReady(content)) return stay(because('GroupSnapshotReady', 'it is ready to use', 'none'));
  if (isDeleting(content) && handle === undefined && !isBeingCreated) return stay(because('Deleting', 'its VolumeGroupSnapshot is not being deleted', 'user'));
  const call = source.groupSnapshotHandles === undefined ? takeOf(content, from) : checkOf(content, from);
  if (!call.ok) return failContent(content, groupMessages.creationFailed(groupMessages.contentInput(content.metadata.name ?? '', call.message)), now);
  const reasons = [because('CreatingGroupSnapshot', content.status?.error?.message ?? `driver ${driver} takes the group snapshot`, 'driver')];
  if (wait !== undefined) return { actions: [], reasons, again: wait };
  // The intent, as for a single snapshot.
  if (call.value.do === 'takeGroupSnapshot' && handle === undefined && !isBeingCreated) {
    const intended = withAnnotations(content, { [groupSnapshotAnnotations.beingCreated]: 'yes' });
    return { actions: [...update(content, intended), { ...call.value, content: intended, isFirst: true }], reasons };
  }
  return { actions: [call.value], reasons };
}

function decideDeletion(content: VolumeGroupSnapshotContent, wait: number | undefined): SnapshotterDecision {
  const request = content.spec.deletionPolicy === 'Delete' ? referenceOf(content) : undefined;
  if (request === undefined)
    return {
      actions: update(content, removeFinalizers(content, [snapshotFinalizers.groupContent])),
      reasons: [because('Deleting', 'nothing of it is left to delete', 'none')],
    };
  const reasons = [because('DeletingSnapshot', `driver ${content.spec.driver} deletes the group snapshot ${request.handle}`, 'driver')];
  return wait === undefined ? { actions: [{ do: 'deleteGroupSnapshot', content, request }], reasons } : { actions: [], reasons, again: wait };
}

/** Undefined: there is nothing in the storage system, or no longer. */
function referenceOf(content: VolumeGroupSnapshotContent): GroupSnapshotReference | undefined {
  const { source, volumeGroupSnapshotRef } = content.spec;
  // A status that is empty is one that the deletion left.
  const preProvisioned = content.status === undefined && (volumeGroupSnapshotRef.uid ?? '') !== '' ? source.groupSnapshotHandles : undefined;
  const handle = content.status?.volumeGroupSnapshotHandle ?? preProvisioned?.volumeGroupSnapshotHandle;
  if (handle === undefined) return undefined;
  const infos = content.status?.volumeSnapshotInfoList?.flatMap(({ snapshotHandle }) => snapshotHandle ?? []) ?? [];
  const secret = secretFromAnnotations(content);
  const snapshotHandles = infos.length > 0 ? infos : (source.groupSnapshotHandles?.volumeSnapshotHandles ?? []);
  return { handle, snapshotHandles, ...(secret === undefined ? {} : { secret }) };
}

type GroupCall = Extract<SnapshotterDecision['actions'][number], { readonly do: 'takeGroupSnapshot' | 'checkGroupSnapshot' }>;

function checkOf(content: VolumeGroupSnapshotContent, from: SnapshotsSnapshot): Resolved<GroupCall> {
  const { source, volumeGroupSnapshotClassName: className } = content.spec;
  const groupClass = className === undefined ? undefined : from.groupClass(className);
  const secret = secretOf(groupClass?.parameters, secretUses.groupGet, groupTokens(content.metadata.name ?? ''));
  if (!secret.ok) return secret;
  const { volumeGroupSnapshotHandle: handle = '', volumeSnapshotHandles: snapshotHandles = [] } = source.groupSnapshotHandles ?? {};
  const request = { handle, snapshotHandles, ...(secret.value === undefined ? {} : { secret: secret.value }) };
  return { ok: true, value: { do: 'checkGroupSnapshot', content, request } };
}

function takeOf(content: VolumeGroupSnapshotContent, from: SnapshotsSnapshot): Resolved<GroupCall> {
  const { source, volumeGroupSnapshotRef, volumeGroupSnapshotClassName: className = '' } = content.spec;
  const groupClass = from.groupClass(className);
  if (groupClass === undefined && !isDeleting(content)) return { ok: false, message: groupMessages.classFailed(className) };
  const parameters = driverParameters(groupClass?.parameters);
  if (!parameters.ok) return parameters;
  const secret = secretFromAnnotations(content);
  const request = {
    name: `groupsnapshot-${volumeGroupSnapshotRef.uid ?? ''}`,
    sourceHandles: source.volumeHandles ?? [],
    parameters: parameters.value,
    ...(secret === undefined ? {} : { secret }),
  };
  return { ok: true, value: { do: 'takeGroupSnapshot', content, request, isFirst: false } };
}

function secretFromAnnotations({ metadata }: VolumeGroupSnapshotContent): GroupSnapshotReference['secret'] {
  const { [groupSnapshotAnnotations.secretName]: name, [groupSnapshotAnnotations.secretNamespace]: namespace } = metadata.annotations ?? {};
  return name === undefined || namespace === undefined ? undefined : { namespace, name };
}

function failContent(content: VolumeGroupSnapshotContent, message: string, now: number): SnapshotterDecision {
  const failed = withError(content, message, { now });
  const reason = 'GroupSnapshotCreationFailed';
  const event = recordOnce({ about: content, type: 'Warning', reason, message });
  return { actions: failed === content ? [] : [...updateStatus(content, failed), event], reasons: [because(reason, message, 'administrator')] };
}
