import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import type { VolumeGroupSnapshot, VolumeGroupSnapshotContent } from '../../api/kinds/snapshot/volume-group-snapshot.ts';
import type { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from '../../api/kinds/snapshot/volume-snapshot.ts';
import type { LastEvent } from '../../client/decision.ts';

/** What decisions about snapshots read besides their subject. */
export interface SnapshotsSnapshot {
  readonly lastEvent: LastEvent;
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
  class(name: string): VolumeSnapshotClass | undefined;
  classes(): Iterable<VolumeSnapshotClass>;
  content(name: string): VolumeSnapshotContent | undefined;
  /** Contents that are or were taken of a volume. */
  contentsOf(driver: string, volumeHandle: string): readonly VolumeSnapshotContent[];
  snapshot(namespace: string, name: string): VolumeSnapshot | undefined;
  /** Snapshots of a claim. */
  snapshotsOf(namespace: string, claim: string): readonly VolumeSnapshot[];
  /** The first claim of the namespace that waits for a volume with the snapshot's content. */
  restoring(namespace: string, snapshot: string): string | undefined;
  /** A volume is being created from the snapshot of this handle. */
  isBeingRestored(driver: string, handle: string): boolean;
  /** The driver is in this process, and takes snapshots. */
  isOurs(driver: string): boolean;
  /** Some driver in this process takes snapshots. */
  readonly hasDrivers: boolean;

  group(namespace: string, name: string): VolumeGroupSnapshot | undefined;
  groupContent(name: string): VolumeGroupSnapshotContent | undefined;
  /** By the driver's own id of the group. */
  groupContentOf(handle: string): VolumeGroupSnapshotContent | undefined;
  groupClass(name: string): VolumeSnapshotClass | undefined;
  groupClasses(): Iterable<VolumeSnapshotClass>;
  claimsIn(namespace: string): readonly PersistentVolumeClaim[];
  /** The members of a group, by its uid. */
  membersOf(group: VolumeGroupSnapshot): readonly VolumeSnapshot[];
  volumesOf(driver: string, handle: string): readonly PersistentVolume[];
  takesGroups(driver: string): boolean;
  /** Names of members of groups. */
  sha256(text: string): string;
}

/** The driver of a snapshot: that of its content, of its class, or of its claim's volume. Undefined: it names none that exists. */
export function driverOf(snapshot: VolumeSnapshot, from: SnapshotsSnapshot): string | undefined {
  const { source, volumeSnapshotClassName } = snapshot.spec;
  const contentName = snapshot.status?.boundVolumeSnapshotContentName ?? source.volumeSnapshotContentName ?? dynamicContentName(snapshot);
  const content = from.content(contentName);
  if (content !== undefined) return content.spec.driver;
  const named = volumeSnapshotClassName === undefined ? undefined : from.class(volumeSnapshotClassName);
  if (named !== undefined) return named.driver;
  const claim = from.claim(snapshot.metadata.namespace ?? '', source.persistentVolumeClaimName ?? '');
  return from.volume(claim?.spec.volumeName ?? '')?.spec.csi?.driver;
}

export const dynamicContentName = ({ metadata }: VolumeSnapshot): string => `snapcontent-${metadata.uid ?? ''}`;

export const snapshotKey = ({ metadata }: { readonly metadata: { readonly namespace?: string; readonly name?: string } }): string =>
  `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

/** The content names this very snapshot: not another one of the same name. */
export function pointsBack({ spec }: VolumeSnapshotContent, { metadata }: VolumeSnapshot): boolean {
  const { name, namespace, uid } = spec.volumeSnapshotRef;
  return name === metadata.name && namespace === metadata.namespace && uid === metadata.uid;
}

/** A VolumeGroupSnapshot owns the snapshot. */
export const groupOwnerOf = ({ metadata }: VolumeSnapshot): string | undefined =>
  metadata.ownerReferences?.find(({ kind, apiVersion }) => kind === 'VolumeGroupSnapshot' && apiVersion.startsWith('groupsnapshot.storage.k8s.io/'))?.name;
