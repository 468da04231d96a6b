/** The members of a dynamic group: one VolumeSnapshot and one VolumeSnapshotContent for each volume, named after both. */
import type { VolumeGroupSnapshot, VolumeGroupSnapshotContent, VolumeSnapshotInfo } from '../../api/kinds/snapshot/volume-group-snapshot.ts';
import type { VolumeSnapshot, VolumeSnapshotContent, VolumeSnapshotContentStatus } from '../../api/kinds/snapshot/volume-snapshot.ts';
import { groupSnapshotAnnotations, snapshotAnnotations, snapshotFinalizers } from '../../api/volumes/snapshot-annotations.ts';
import { update, updateStatus } from '../../client/decision.ts';
import { withAnnotations } from '../volumes/edits.ts';
import type { SnapshotterAction } from './actions.ts';
import type { SnapshotsSnapshot } from './snapshot-view.ts';

/** What is still to be done for the members; nothing, once each of them is bound. Of a pre-provisioned group an administrator creates them. */
export function groupMembers(group: VolumeGroupSnapshot, content: VolumeGroupSnapshotContent, from: SnapshotsSnapshot): readonly SnapshotterAction[] {
  const { volumeGroupSnapshotHandle: handle, volumeSnapshotInfoList = [] } = content.status ?? {};
  if (handle === undefined || content.spec.source.volumeHandles === undefined) return [];
  return volumeSnapshotInfoList.flatMap((info) => memberSteps({ group, content, info, handle }, from));
}

interface Member {
  readonly group: VolumeGroupSnapshot;
  readonly content: VolumeGroupSnapshotContent;
  readonly info: VolumeSnapshotInfo;
  /** Of the group. */
  readonly handle: string;
}

/** Each step by itself: the next pass sees what it made. */
function memberSteps(member: Member, from: SnapshotsSnapshot): readonly SnapshotterAction[] {
  const { group, info } = member;
  const id = from.sha256(`${group.metadata.uid ?? ''}${info.volumeHandle ?? ''}`);
  const [name, contentName] = [`snapshot-${id}`, `snapcontent-${id}`];
  const content = from.content(contentName);
  if (content === undefined) return [{ do: 'create', object: memberContent(member, { name, contentName }, from) }];
  const snapshot = from.snapshot(group.metadata.namespace ?? '', name);
  if (snapshot === undefined) return [{ do: 'create', object: memberSnapshot(member, name, from) }];
  if (content.status === undefined) return updateStatus(content, { ...content, status: memberStatus(member) });
  const uid = snapshot.metadata.uid ?? '';
  const { volumeSnapshotRef } = content.spec;
  if (volumeSnapshotRef.uid !== uid) return update(content, { ...content, spec: { ...content.spec, volumeSnapshotRef: { ...volumeSnapshotRef, uid } } });
  if (snapshot.status?.boundVolumeSnapshotContentName !== undefined) return [];
  const bound: VolumeSnapshot = { ...snapshot, status: { ...snapshot.status, boundVolumeSnapshotContentName: contentName } };
  return updateStatus(snapshot, bound);
}

function memberContent(
  { group, content, info, handle }: Member,
  { name, contentName }: { readonly name: string; readonly contentName: string },
  from: SnapshotsSnapshot,
): VolumeSnapshotContent {
  const { driver, deletionPolicy } = content.spec;
  const volumeHandle = info.volumeHandle ?? '';
  const sourceVolumeMode = from.volumesOf(driver, volumeHandle)[0]?.spec.volumeMode;
  const made: VolumeSnapshotContent = {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotContent',
    metadata: { name: contentName, finalizers: [snapshotFinalizers.content] },
    spec: {
      deletionPolicy,
      driver,
      source: { volumeHandle },
      ...(sourceVolumeMode === undefined ? {} : { sourceVolumeMode }),
      volumeSnapshotRef: { kind: 'VolumeSnapshot', name, namespace: group.metadata.namespace ?? '' },
    },
  };
  const given = content.metadata.annotations ?? {};
  return withAnnotations(made, {
    [snapshotAnnotations.groupHandle]: handle,
    [snapshotAnnotations.secretName]: given[groupSnapshotAnnotations.secretName],
    [snapshotAnnotations.secretNamespace]: given[groupSnapshotAnnotations.secretNamespace],
  });
}

function memberSnapshot({ group, content, info }: Member, name: string, from: SnapshotsSnapshot): VolumeSnapshot {
  const claim = from.volumesOf(content.spec.driver, info.volumeHandle ?? '')[0]?.spec.claimRef?.name;
  const owner = { apiVersion: group.apiVersion, kind: group.kind, name: group.metadata.name ?? '', uid: group.metadata.uid ?? '' };
  return {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshot',
    metadata: { name, namespace: group.metadata.namespace ?? '', ownerReferences: [owner], finalizers: [snapshotFinalizers.inGroup] },
    spec: { source: { persistentVolumeClaimName: claim ?? '' } },
  };
}

function memberStatus({ info, handle }: Member): VolumeSnapshotContentStatus {
  const { snapshotHandle, creationTime, restoreSize, readyToUse } = info;
  return {
    ...(snapshotHandle === undefined ? {} : { snapshotHandle }),
    ...(creationTime === undefined ? {} : { creationTime }),
    ...(restoreSize === undefined ? {} : { restoreSize }),
    readyToUse: readyToUse ?? false,
    volumeGroupSnapshotHandle: handle,
  };
}
