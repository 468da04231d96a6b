/** VolumeGroupSnapshots: what snapshot-controller does (pkg/common-controller/groupsnapshot_controller_helper.go). */
import type { PersistentVolume } from '../../api/generated/types.ts';
import type { VolumeGroupSnapshot, VolumeGroupSnapshotContent, VolumeGroupSnapshotStatus } from '../../api/kinds/snapshot/volume-group-snapshot.ts';
import type { VolumeSnapshotClass } from '../../api/kinds/snapshot/volume-snapshot.ts';
import { formatLabelSelector, labelSelectorOf, matchesLabels, SelectorError } from '../../api/selectors/label-selector.ts';
import { groupSnapshotAnnotations, snapshotFinalizers } from '../../api/volumes/snapshot-annotations.ts';
import { type RecordEvent, recordIfChanged, recordOnce, update, updateStatus } from '../../client/decision.ts';
import { type Actor, because, stay } from '../volumes/decision.ts';
import { referenceTo, withAnnotations } from '../volumes/edits.ts';
import { groupTokens, type Resolved, secretOf, secretUses } from './class-parameters.ts';
import { boundVolume, type SnapshotterDecision } from './decide-snapshot.ts';
import { addFinalizers, hasFinalizer, isDeleting, isReady, removeFinalizers, withError } from './edits.ts';
import { groupMembers } from './group-members.ts';
import { groupMessages } from './group-messages.ts';
import { snapshotKey, type SnapshotsSnapshot } from './snapshot-view.ts';

export function decideGroup(group: VolumeGroupSnapshot, from: SnapshotsSnapshot, now: number): SnapshotterDecision {
  const driver = groupDriverOf(group, from);
  if (driver === undefined ? !from.hasDrivers : !from.isOurs(driver)) {
    return stay(because('OtherSnapshotter', `a snapshot-controller and the csi-snapshotter of ${driver ?? 'its driver'} take it`, 'external snapshotter'));
  }
  if (isDeleting(group)) return decideGroupDeletion(group, from, now);
  const held = addFinalizers(group, [snapshotFinalizers.groupBound]);
  if (held !== group) return { actions: update(group, held), reasons: [] };
  const named = group.spec.source.volumeGroupSnapshotContentName;
  const name = group.status?.boundVolumeGroupSnapshotContentName ?? named ?? dynamicGroupContentName(group);
  const content = from.groupContent(name);
  const isBound = group.status?.boundVolumeGroupSnapshotContentName !== undefined;
  if (content === undefined) {
    if (isBound || named !== undefined) return failGroup(group, { reason: 'GroupSnapshotContentMissing', message: groupMessages.contentMissing, now });
    return beginGroup(group, from, now);
  }
  const wrong = mismatch(group, content, named !== undefined);
  if (wrong !== undefined) return failGroup(group, { ...wrong, now });
  return bindGroup(group, content, from);
}

const dynamicGroupContentName = ({ metadata }: VolumeGroupSnapshot): string => `groupsnapcontent-${metadata.uid ?? ''}`;

function groupDriverOf(group: VolumeGroupSnapshot, from: SnapshotsSnapshot): string | undefined {
  const { source, volumeGroupSnapshotClassName } = group.spec;
  const name = group.status?.boundVolumeGroupSnapshotContentName ?? source.volumeGroupSnapshotContentName ?? dynamicGroupContentName(group);
  const content = from.groupContent(name);
  if (content !== undefined) return content.spec.driver;
  const named = volumeGroupSnapshotClassName === undefined ? undefined : from.groupClass(volumeGroupSnapshotClassName);
  if (named !== undefined) return named.driver;
  const volumes = volumesOfGroup(group, from);
  return volumes.ok ? volumes.value[0]?.spec.csi?.driver : undefined;
}

interface GroupFailure {
  readonly reason: string;
  readonly message: string;
  readonly now: number;
  readonly keepReady?: boolean;
  readonly next?: Actor;
}

function failGroup(group: VolumeGroupSnapshot, { reason, message, now, keepReady = false, next = 'user' }: GroupFailure): SnapshotterDecision {
  const failed = withError(group, message, { now, keepReady });
  const actions = failed === group ? [] : [...updateStatus(group, failed), recordOnce({ about: group, type: 'Warning', reason, message })];
  return { actions, reasons: [because(reason, message, next)] };
}

const pointsBack = ({ spec }: VolumeGroupSnapshotContent, { metadata }: VolumeGroupSnapshot): boolean =>
  spec.volumeGroupSnapshotRef.name === metadata.name &&
  spec.volumeGroupSnapshotRef.namespace === metadata.namespace &&
  spec.volumeGroupSnapshotRef.uid === metadata.uid;

function mismatch(
  group: VolumeGroupSnapshot,
  content: VolumeGroupSnapshotContent,
  isPreProvisioned: boolean,
): { readonly reason: string; readonly message: string } | undefined {
  const { source, volumeGroupSnapshotRef: ref } = content.spec;
  const name = content.metadata.name ?? '';
  if (isPreProvisioned && source.groupSnapshotHandles === undefined)
    return { reason: 'GroupSnapshotContentMismatch', message: groupMessages.expectedPreProvisioned };
  if (!isPreProvisioned && source.volumeHandles === undefined) return { reason: 'GroupSnapshotContentMismatch', message: groupMessages.expectedDynamic(name) };
  const mayBind = isPreProvisioned && (ref.uid ?? '') === '' && ref.name === group.metadata.name && ref.namespace === group.metadata.namespace;
  return mayBind || pointsBack(content, group) ? undefined : { reason: 'GroupSnapshotContentMisbound', message: groupMessages.boundToOther(name) };
}

/** The content's uid first, then the members, then the status: a group that is ready has all of its members. */
function bindGroup(group: VolumeGroupSnapshot, content: VolumeGroupSnapshotContent, from: SnapshotsSnapshot): SnapshotterDecision {
  const uid = group.metadata.uid ?? '';
  if (content.spec.volumeGroupSnapshotRef.uid !== uid) {
    const bound = { ...content, spec: { ...content.spec, volumeGroupSnapshotRef: { ...content.spec.volumeGroupSnapshotRef, uid } } };
    return { actions: update(content, bound), reasons: [] };
  }
  const key = snapshotKey(group);
  const members = groupMembers(group, content, from);
  if (members.length > 0) return { actions: members, reasons: [because('CreatingGroupSnapshot', 'its members are created', 'none')] };
  const status = groupStatusFrom(group, content);
  const why = content.status?.error?.message ?? (isReady(content) ? groupMessages.ready(key) : groupMessages.waiting(key));
  const reasons = [because(isReady(content) ? 'GroupSnapshotReady' : 'CreatingGroupSnapshot', why, isReady(content) ? 'none' : 'driver')];
  if (status === group.status) return { actions: [], reasons };
  const next = { ...group, status };
  const tell = (reason: string, message: string): RecordEvent => recordOnce({ about: group, type: 'Normal', reason, message });
  return {
    actions: [
      ...updateStatus(group, next),
      ...(group.status?.creationTime === undefined && status.creationTime !== undefined ? [tell('GroupSnapshotCreated', groupMessages.created(key))] : []),
      ...(!isReady(group) && isReady(next) ? [tell('GroupSnapshotReady', groupMessages.ready(key))] : []),
    ],
    reasons,
  };
}

function groupStatusFrom({ status = {} }: VolumeGroupSnapshot, content: VolumeGroupSnapshotContent): VolumeGroupSnapshotStatus {
  const of = content.status ?? {};
  const { error: known, ...rest } = status;
  const creationTime = status.creationTime ?? of.creationTime;
  const next: VolumeGroupSnapshotStatus = {
    ...rest,
    boundVolumeGroupSnapshotContentName: status.boundVolumeGroupSnapshotContentName ?? content.metadata.name ?? '',
    readyToUse: of.readyToUse ?? false,
    ...(creationTime === undefined ? {} : { creationTime }),
    ...(of.error === undefined ? {} : { error: of.error }),
  };
  const isSame =
    next.boundVolumeGroupSnapshotContentName === status.boundVolumeGroupSnapshotContentName &&
    next.readyToUse === status.readyToUse &&
    next.creationTime === status.creationTime &&
    next.error?.message === known?.message;
  return isSame ? status : next;
}

function beginGroup(group: VolumeGroupSnapshot, from: SnapshotsSnapshot, now: number): SnapshotterDecision {
  const chosen = groupClassFor(group, from);
  if (!chosen.ok) return failGroup(group, { ...chosen, keepReady: true, now, next: 'administrator' });
  const { groupClass } = chosen;
  if (group.spec.volumeGroupSnapshotClassName === undefined) {
    const named = { ...group, spec: { ...group.spec, volumeGroupSnapshotClassName: groupClass.metadata.name ?? '' } };
    return { actions: update(group, named), reasons: [] };
  }
  const made = groupContentFor(group, groupClass, from);
  if (!made.ok) {
    const message = groupMessages.contentCreationFailed(groupMessages.input(group.metadata.name ?? '', made.message));
    return failGroup(group, { reason: 'GroupSnapshotContentCreationFailed', message, now });
  }
  const message = groupMessages.waiting(snapshotKey(group));
  return {
    actions: [{ do: 'create', object: made.value }, recordOnce({ about: group, type: 'Normal', reason: 'CreatingGroupSnapshot', message })],
    reasons: [because('CreatingGroupSnapshot', message, 'driver')],
  };
}

type ChosenClass = { readonly ok: true; readonly groupClass: VolumeSnapshotClass } | { readonly ok: false; readonly reason: string; readonly message: string };

function groupClassFor(group: VolumeGroupSnapshot, from: SnapshotsSnapshot): ChosenClass {
  const name = group.spec.volumeGroupSnapshotClassName;
  if (name !== undefined) {
    const groupClass = from.groupClass(name);
    return groupClass === undefined ? { ok: false, reason: 'GetGroupSnapshotClassFailed', message: groupMessages.classFailed(name) } : { ok: true, groupClass };
  }
  const none = (why: string): ChosenClass => ({ ok: false, reason: 'SetDefaultGroupSnapshotClassFailed', message: groupMessages.defaultClassFailed(why) });
  const volumes = volumesOfGroup(group, from);
  if (!volumes.ok) return none(volumes.message);
  const driver = volumes.value[0]?.spec.csi?.driver;
  const defaults = [...from.groupClasses()].filter(
    (one) => one.driver === driver && one.metadata.annotations?.[groupSnapshotAnnotations.defaultClass] === 'true',
  );
  const [only] = defaults;
  if (only === undefined) return none(groupMessages.noDefaultClass);
  return defaults.length === 1 ? { ok: true, groupClass: only } : none(groupMessages.severalDefaultClasses(defaults.length));
}

/** The volumes of the claims that the group's selector selects. */
function volumesOfGroup({ metadata, spec }: VolumeGroupSnapshot, from: SnapshotsSnapshot): Resolved<readonly PersistentVolume[]> {
  try {
    const selector = labelSelectorOf(spec.source.selector);
    const claims = from.claimsIn(metadata.namespace ?? '').filter((claim) => matchesLabels(selector, claim.metadata.labels));
    if (claims.length === 0) return { ok: false, message: groupMessages.noClaims(formatLabelSelector(selector)) };
    const volumes: PersistentVolume[] = [];
    for (const claim of claims.toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))) {
      const volume = boundVolume(claim, from);
      if (!volume.ok) return volume;
      volumes.push(volume.value);
    }
    return { ok: true, value: volumes };
  } catch (error) {
    if (error instanceof SelectorError) return { ok: false, message: groupMessages.badSelector(JSON.stringify(spec.source.selector), error.message) };
    throw error;
  }
}

function groupContentFor(group: VolumeGroupSnapshot, groupClass: VolumeSnapshotClass, from: SnapshotsSnapshot): Resolved<VolumeGroupSnapshotContent> {
  if (!from.takesGroups(groupClass.driver)) return { ok: false, message: groupMessages.unsupported(groupClass.driver) };
  const volumes = volumesOfGroup(group, from);
  if (!volumes.ok) return volumes;
  const key = snapshotKey(group);
  const volumeHandles: string[] = [];
  for (const { metadata, spec } of volumes.value) {
    const volume = metadata.name ?? '';
    if (spec.csi === undefined) return { ok: false, message: groupMessages.notCsi(key, volume) };
    if (spec.csi.driver !== groupClass.driver)
      return { ok: false, message: groupMessages.otherDriver({ driver: spec.csi.driver, classDriver: groupClass.driver, group: key, volume }) };
    volumeHandles.push(spec.csi.volumeHandle);
  }
  const name = dynamicGroupContentName(group);
  const { namespace = '', name: groupName = '' } = group.metadata;
  const secret = secretOf(groupClass.parameters, secretUses.groupSnapshotter, groupTokens(name, { namespace, name: groupName }));
  if (!secret.ok) return secret;
  const content: VolumeGroupSnapshotContent = {
    apiVersion: group.apiVersion,
    kind: 'VolumeGroupSnapshotContent',
    metadata: { name, finalizers: [snapshotFinalizers.groupContent] },
    spec: {
      deletionPolicy: groupClass.deletionPolicy,
      driver: groupClass.driver,
      source: { volumeHandles },
      volumeGroupSnapshotClassName: groupClass.metadata.name ?? '',
      volumeGroupSnapshotRef: referenceTo(group),
    },
  };
  const annotated = withAnnotations(content, {
    [groupSnapshotAnnotations.secretName]: secret.value?.name,
    [groupSnapshotAnnotations.secretNamespace]: secret.value?.namespace,
  });
  return { ok: true, value: annotated };
}

/** The content and the members are deleted; the group itself goes after its content, the members after the group. */
function decideGroupDeletion(group: VolumeGroupSnapshot, from: SnapshotsSnapshot, now: number): SnapshotterDecision {
  if (!hasFinalizer(group, snapshotFinalizers.groupBound)) return stay(because('Deleting', 'other finalizers hold it', 'none'));
  const name = group.status?.boundVolumeGroupSnapshotContentName ?? dynamicGroupContentName(group);
  const found = from.groupContent(name);
  const content = found !== undefined && pointsBack(found, group) ? found : undefined;
  const members = from.membersOf(group);
  const restored = members.find(({ metadata }) => from.restoring(metadata.namespace ?? '', metadata.name ?? '') !== undefined);
  if (restored !== undefined) {
    const message = groupMessages.restoring(snapshotKey(restored), snapshotKey(group));
    const recorded = recordIfChanged(
      { about: group, type: 'Warning', reason: 'SnapshotDeletePending', message },
      from.lastEvent(group.metadata.uid ?? ''),
      now,
    );
    return { actions: recorded.actions, reasons: [because('SnapshotDeletePending', message, 'user')], again: recorded.again };
  }
  const isDeleted = content?.spec.deletionPolicy === 'Delete';
  const marked = content === undefined ? undefined : withAnnotations(content, { [groupSnapshotAnnotations.beingDeleted]: 'yes' });
  return {
    actions: [
      ...(content === undefined || marked === undefined ? [] : update(content, marked)),
      ...(content !== undefined && isDeleted && !isDeleting(content) ? [{ do: 'delete', object: content } as const] : []),
      ...members.filter((member) => !isDeleting(member)).map((member) => ({ do: 'delete', object: member }) as const),
      ...(content !== undefined && isDeleted ? [] : update(group, removeFinalizers(group, [snapshotFinalizers.groupBound]))),
    ],
    reasons: [because('Deleting', content === undefined ? 'its content is gone' : 'its content is deleted first', 'driver')],
  };
}
