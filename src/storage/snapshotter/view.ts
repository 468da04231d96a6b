import type { PersistentVolume } from '../../api/generated/types.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { volumeIntentKind } from '../../api/kinds/mooring/volume-intent.ts';
import { volumeGroupSnapshotClassKind, volumeGroupSnapshotContentKind, volumeGroupSnapshotKind } from '../../api/kinds/snapshot/volume-group-snapshot.ts';
import {
  volumeSnapshotClassKind,
  type VolumeSnapshotContent,
  volumeSnapshotContentKind,
  type VolumeSnapshot,
  volumeSnapshotKind,
} from '../../api/kinds/snapshot/volume-snapshot.ts';
import { isFor, type VolumeIntent } from '../../api/volumes/intent.ts';
import type { Stored } from '../../api/stored.ts';
import { keyOf } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { LastEvent } from '../../client/decision.ts';
import type { Cancel } from '../../world/world.ts';
import { restoredSnapshotOf } from '../volumes/data-source.ts';
import { isReady } from './edits.ts';
import type { SnapshotsSnapshot } from './snapshot-view.ts';

/** What the driver set tells about drivers. */
export interface SnapshotCapabilities {
  snapshots(name: string): { readonly ofVolumes: boolean; readonly ofGroups: boolean };
  snapshotting(): readonly string[];
  /** Called with the name of a driver that came, went or changed. Absent: the set is fixed. */
  onChange?(listener: (name: string) => void): Cancel;
}

const sourceOfIntent = (intent: VolumeIntent): readonly string[] =>
  isFor(intent, 'Create') && intent.spec.request.source?.type === 'snapshot' ? [`${intent.spec.driver} ${intent.spec.request.source.handle}`] : [];

const claimOf = ({ metadata, spec }: VolumeSnapshot): readonly string[] => {
  const name = spec.source.persistentVolumeClaimName;
  return name === undefined ? [] : [keyOf({ namespace: metadata.namespace, name })];
};

const handlesOf = ({ spec, status }: VolumeSnapshotContent): readonly string[] =>
  status?.snapshotHandle === undefined ? [] : [`${spec.driver} ${status.snapshotHandle}`];

const sourceOf = ({ spec }: VolumeSnapshotContent): readonly string[] =>
  spec.source.volumeHandle === undefined ? [] : [`${spec.driver} ${spec.source.volumeHandle}`];

const volumeHandleOf = ({ spec }: PersistentVolume): readonly string[] => (spec.csi === undefined ? [] : [`${spec.csi.driver} ${spec.csi.volumeHandle}`]);

export interface SnapshotterViewOptions {
  readonly informers: Informers;
  readonly drivers: SnapshotCapabilities;
  readonly lastEvent: LastEvent;
  /** The server has the kinds of group snapshots. */
  readonly hasGroups: boolean;
  readonly sha256: (text: string) => string;
}

/** The caches and indexes of the snapshotter. */
export function snapshotterView({ informers, drivers, lastEvent, hasGroups, sha256 }: SnapshotterViewOptions) {
  const snapshots = informers.cache(volumeSnapshotKind);
  const contents = informers.cache(volumeSnapshotContentKind);
  const classes = informers.cache(volumeSnapshotClassKind);
  const groups = hasGroups ? informers.cache(volumeGroupSnapshotKind) : undefined;
  const groupContents = hasGroups ? informers.cache(volumeGroupSnapshotContentKind) : undefined;
  const groupClasses = hasGroups ? informers.cache(volumeGroupSnapshotClassKind) : undefined;
  const claims = informers.cache(persistentVolumeClaimKind);
  const volumes = informers.cache(persistentVolumeKind);
  const index = {
    snapshotsByClaim: snapshots.addIndex(claimOf),
    /** '' for those without a class. */
    waitingByClass: snapshots.addIndex((snapshot) => (isReady(snapshot) ? [] : [snapshot.spec.volumeSnapshotClassName ?? ''])),
    waitingContentsByClass: contents.addIndex((content) => (isReady(content) ? [] : [content.spec.volumeSnapshotClassName ?? ''])),
    contentsByHandle: contents.addIndex(handlesOf),
    contentsBySource: contents.addIndex(sourceOf),
    claimsBySnapshot: claims.addIndex(restoredSnapshotOf),
    intentsBySource: informers.cache(volumeIntentKind).addIndex(sourceOfIntent),
    membersByGroup: snapshots.addIndex(({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) ?? []),
    groupContentsByHandle: groupContents?.addIndex(({ status }) => (status?.volumeGroupSnapshotHandle === undefined ? [] : [status.volumeGroupSnapshotHandle])),
    volumesByHandle: volumes.addIndex(volumeHandleOf),
  };
  const from: SnapshotsSnapshot = {
    lastEvent,
    claim: (namespace, name) => claims.get({ namespace, name }),
    volume: (name) => volumes.get({ name }),
    class: (name) => classes.get({ name }),
    classes: () => classes.list(),
    content: (name) => contents.get({ name }),
    contentsOf: (driver, volumeHandle) => index.contentsBySource.get(`${driver} ${volumeHandle}`),
    snapshot: (namespace, name) => snapshots.get({ namespace, name }),
    snapshotsOf: (namespace, name) => index.snapshotsByClaim.get(keyOf({ namespace, name })),
    restoring: (namespace, name) => index.claimsBySnapshot.get(keyOf({ namespace, name }))[0]?.metadata.name,
    isBeingRestored: (driver, handle) => index.intentsBySource.has(`${driver} ${handle}`),
    isOurs: (driver) => drivers.snapshots(driver).ofVolumes,
    get hasDrivers() {
      return drivers.snapshotting().length > 0;
    },
    group: (namespace, name) => groups?.get({ namespace, name }),
    groupContent: (name) => groupContents?.get({ name }),
    groupContentOf: (handle) => index.groupContentsByHandle?.get(handle)[0],
    groupClass: (name) => groupClasses?.get({ name }),
    groupClasses: () => groupClasses?.list() ?? [],
    claimsIn: (namespace) => claims.inNamespace(namespace),
    membersOf: ({ metadata }) => index.membersByGroup.get(metadata.uid ?? ''),
    volumesOf: (driver, handle) => index.volumesByHandle.get(`${driver} ${handle}`),
    takesGroups: (driver) => drivers.snapshots(driver).ofGroups,
    sha256,
  };
  return { from, snapshots, contents, groups, groupContents, claims, index };
}

export type SnapshotterView = ReturnType<typeof snapshotterView>;

export type SnapshotterKey = `vs/${string}` | `vsc/${string}` | `pvc/${string}` | `vgs/${string}` | `vgsc/${string}`;

export const snapshotKeyOf = ({ metadata }: Stored<VolumeSnapshot>): SnapshotterKey => `vs/${keyOf(metadata)}`;
export const contentKeyOf = ({ metadata }: Stored<VolumeSnapshotContent>): SnapshotterKey => `vsc/${metadata.name}`;
