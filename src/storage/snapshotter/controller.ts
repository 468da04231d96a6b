import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { untypedKind } from '../../api/kind.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { volumeIntentKind } from '../../api/kinds/mooring/volume-intent.ts';
import { volumeGroupSnapshotClassKind, volumeGroupSnapshotContentKind, volumeGroupSnapshotKind } from '../../api/kinds/snapshot/volume-group-snapshot.ts';
import {
  type VolumeSnapshot,
  volumeSnapshotClassKind,
  type VolumeSnapshotContent,
  volumeSnapshotContentKind,
  volumeSnapshotKind,
} from '../../api/kinds/snapshot/volume-snapshot.ts';
import { snapshotAnnotations, snapshotFinalizers } from '../../api/volumes/snapshot-annotations.ts';
import { isFor, type VolumeIntent } from '../../api/volumes/intent.ts';
import type { Stored } from '../../api/stored.ts';
import type { Client } from '../../client/client.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { type Controller, type Source, source, Trigger } from '../../client/controller/loop.ts';
import { ObjectWriter } from '../../client/controller/object-writer.ts';
import type { RecordedEvents } from '../../client/events/event-dedup.ts';
import { type Change, changedObject, keyOf } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { Clock } from '../../world/world.ts';
import { restoredSnapshotOf } from '../volumes/data-source.ts';
import type { SnapshotterAction } from './actions.ts';
import { decide, type SnapshotterSubject } from './decide.ts';
import { groupOwnerOf } from './snapshot-view.ts';
import { SnapshotAttempts, SnapshotCalls, type SnapshottingDrivers } from './driver-calls.ts';
import { hasFinalizer, isReady } from './edits.ts';
import { GroupCalls, type GroupSnapshottingDrivers } from './group-calls.ts';
import { contentKeyOf, type SnapshotCapabilities, snapshotKeyOf, type SnapshotterKey, type SnapshotterView, snapshotterView } from './view.ts';

export interface SnapshotterOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly clock: Clock;
  readonly events: RecordedEvents;
  readonly drivers: SnapshottingDrivers & GroupSnapshottingDrivers & SnapshotCapabilities;
  readonly sha256: (text: string) => string;
  /** The server has the kinds of group snapshots too; true by default. */
  readonly hasGroups?: boolean;
}

/**
 * The work of snapshot-controller and csi-snapshotter, for the drivers of this process that take snapshots; for all other drivers only those two act.
 *
 *     VolumeSnapshot created   → its finalizer; the claim's finalizer; VolumeSnapshotContent snapcontent-<uid>
 *     content                  → being-created annotation
 *     the driver is asked      → the content's status, with the handle         ← crash: asked again, by the same name
 *     the status is written    → being-created annotation removed
 *     refused at once          → being-created annotation removed; after an unknown outcome it stays, and the driver is asked until it names the snapshot
 *     content's status         → the snapshot's status, both point at each other
 *     not ready yet            → the driver is asked again, after longer and longer waits
 *
 * Keys: 'vs/namespace/name', 'vsc/name', 'pvc/namespace/name' (claims that are being snapshotted), 'vgs/namespace/name', 'vgsc/name'.
 */
export function snapshotter(options: SnapshotterOptions): Controller<SnapshotterKey, SnapshotterSubject, SnapshotterAction> {
  const { client, informers, clock, events, drivers, hasGroups = true } = options;
  const view = snapshotterView({ informers, drivers, lastEvent: events.lastEvent, hasGroups, sha256: options.sha256 });
  const retry = new Trigger<SnapshotterKey>();
  const attempts = new SnapshotAttempts(({ metadata }) => retry.fire(`vsc/${metadata.name ?? ''}`));
  const groupAttempts = new SnapshotAttempts(({ metadata }) => retry.fire(`vgsc/${metadata.name ?? ''}`));
  const writer = new ObjectWriter(client, [
    untypedKind(volumeSnapshotKind),
    untypedKind(volumeSnapshotContentKind),
    untypedKind(persistentVolumeClaimKind),
    untypedKind(volumeGroupSnapshotKind),
    untypedKind(volumeGroupSnapshotContentKind),
  ]);
  const calls = new SnapshotCalls({ client, writer, events, clock, attempts }, drivers);
  const groupCalls = new GroupCalls({ client, writer, events, clock, attempts: groupAttempts }, drivers);
  return defineController<SnapshotterKey, SnapshotterSubject, SnapshotterAction>({
    name: 'snapshotter',
    parallelism: 32,
    sources: [
      retry,
      driverChanges(view, drivers, { attempts, groupAttempts }),
      source(volumeSnapshotKind, (change) => keysForSnapshot(changedObject(change))),
      source(volumeSnapshotContentKind, (change) => {
        if (change.after === undefined) attempts.forget(changedObject(change));
        return keysForContent(view, changedObject(change));
      }),
      source(volumeSnapshotClassKind, (change) => keysForClass(view, changedObject(change).metadata.name)),
      source(persistentVolumeClaimKind, (change) => keysForClaim(view, change)),
      source(persistentVolumeKind, (change) => keysForVolume(view, changedObject(change))),
      source(volumeIntentKind, (change) => (change.after === undefined ? keysForIntent(view, changedObject(change)) : [])),
      ...(hasGroups ? groupSources(view, groupAttempts) : []),
    ],
    snapshot: (key) => subjectOf(key, view, { attempts, groupAttempts }),
    decide,
    writer,
    events,
    actions: {
      takeSnapshot: (action) => calls.take(action),
      checkSnapshot: (action) => calls.check(action),
      deleteSnapshot: (action) => calls.delete(action),
      takeGroupSnapshot: (action) => groupCalls.take(action),
      checkGroupSnapshot: (action) => groupCalls.check(action),
      deleteGroupSnapshot: (action) => groupCalls.delete(action),
    },
  });
}

/** What was left to another snapshotter, or waits for a driver, may be for this process now. */
function driverChanges(view: SnapshotterView, drivers: SnapshotCapabilities, { attempts, groupAttempts }: Attempts): Source<SnapshotterKey> {
  return {
    subscribe: (_, add) =>
      drivers.onChange?.((name) => {
        // A driver that came back is asked at once.
        for (const content of view.contents.list()) if (content.spec.driver === name) attempts.endBackoff(content);
        for (const content of view.groupContents?.list() ?? []) if (content.spec.driver === name) groupAttempts.endBackoff(content);
        for (const snapshot of view.snapshots.list()) add(snapshotKeyOf(snapshot));
        for (const content of view.contents.list()) add(contentKeyOf(content));
        for (const { metadata } of view.groups?.list() ?? []) add(`vgs/${keyOf(metadata)}`);
        for (const { metadata } of view.groupContents?.list() ?? []) add(`vgsc/${metadata.name}`);
      }) ?? (() => undefined),
  };
}

interface Attempts {
  readonly attempts: SnapshotAttempts;
  readonly groupAttempts: SnapshotAttempts;
}

function subjectOf(key: SnapshotterKey, view: SnapshotterView, { attempts, groupAttempts }: Attempts): SnapshotterSubject | undefined {
  const { from, snapshots, contents, claims, groups, groupContents } = view;
  const at = key.indexOf('/');
  const name = key.slice(at + 1);
  switch (key.slice(0, at)) {
    case 'vs': {
      const snapshot = snapshots.getKey(name);
      return snapshot === undefined ? undefined : { type: 'snapshot', snapshot, from };
    }
    case 'vsc': {
      const content = contents.getKey(name);
      return content === undefined ? undefined : { type: 'content', content, attempt: attempts.get(content), from };
    }
    case 'vgs': {
      const group = groups?.getKey(name);
      return group === undefined ? undefined : { type: 'group', group, from };
    }
    case 'vgsc': {
      const content = groupContents?.getKey(name);
      return content === undefined ? undefined : { type: 'groupContent', content, attempt: groupAttempts.get(content), from };
    }
    default: {
      const claim = claims.getKey(name);
      return claim === undefined ? undefined : { type: 'claim', claim, from };
    }
  }
}

/** What enqueues groups, and what groups enqueue. */
function groupSources(view: SnapshotterView, attempts: SnapshotAttempts): readonly Source<SnapshotterKey>[] {
  const { index } = view;
  const groupKey = (metadata: { readonly namespace?: string; readonly name?: string }): SnapshotterKey => `vgs/${keyOf(metadata)}`;
  return [
    source(volumeGroupSnapshotKind, (change) => {
      const { metadata } = changedObject(change);
      // Members wait for the end of their group.
      return [groupKey(metadata), ...(change.after === undefined ? index.membersByGroup.get(metadata.uid).map(snapshotKeyOf) : [])];
    }),
    source(volumeGroupSnapshotContentKind, (change) => {
      const content = changedObject(change);
      if (change.after === undefined) attempts.forget(content);
      return [`vgsc/${content.metadata.name}` as const, groupKey(content.spec.volumeGroupSnapshotRef)];
    }),
    source(volumeGroupSnapshotClassKind, () => waitingGroups(view)),
    source(volumeSnapshotKind, (change) => {
      const { metadata } = changedObject(change);
      const owner = groupOwnerOf(changedObject(change));
      return owner === undefined ? [] : [groupKey({ ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }), name: owner })];
    }),
    source(volumeSnapshotContentKind, (change) => {
      const handle = changedObject(change).metadata.annotations?.[snapshotAnnotations.groupHandle];
      const content = handle === undefined ? undefined : index.groupContentsByHandle?.get(handle)[0];
      return content === undefined ? [] : [groupKey(content.spec.volumeGroupSnapshotRef)];
    }),
    source(persistentVolumeClaimKind, (change) => waitingGroups(view, changedObject(change).metadata.namespace)),
  ];
}

/** Groups without a content: there are few. */
function* waitingGroups({ groups }: SnapshotterView, namespace?: string): Generator<SnapshotterKey> {
  for (const { metadata, status } of groups?.list() ?? []) {
    if (namespace !== undefined && metadata.namespace !== namespace) continue;
    if (status?.readyToUse !== true || metadata.deletionTimestamp !== undefined) yield `vgs/${keyOf(metadata)}`;
  }
}

function* keysForSnapshot(snapshot: Stored<VolumeSnapshot>): Generator<SnapshotterKey> {
  yield snapshotKeyOf(snapshot);
  const claim = snapshot.spec.source.persistentVolumeClaimName;
  if (claim !== undefined) yield `pvc/${keyOf({ namespace: snapshot.metadata.namespace, name: claim })}`;
}

function* keysForContent({ index }: SnapshotterView, content: Stored<VolumeSnapshotContent>): Generator<SnapshotterKey> {
  yield contentKeyOf(content);
  yield `vs/${keyOf(content.spec.volumeSnapshotRef)}`;
  // The claim that it was taken of waits for it.
  const { driver, source: of } = content.spec;
  for (const { spec } of index.volumesByHandle.get(`${driver} ${of.volumeHandle ?? ''}`)) if (spec.claimRef !== undefined) yield `pvc/${keyOf(spec.claimRef)}`;
}

function* keysForClass({ index }: SnapshotterView, name: string): Generator<SnapshotterKey> {
  for (const snapshot of [...index.waitingByClass.get(name), ...index.waitingByClass.get('')]) yield snapshotKeyOf(snapshot);
  for (const content of index.waitingContentsByClass.get(name)) yield contentKeyOf(content);
}

function* keysForClaim({ index }: SnapshotterView, change: Change<PersistentVolumeClaim>): Generator<SnapshotterKey> {
  const claim = changedObject(change);
  const key = keyOf(claim.metadata);
  if (hasFinalizer(claim, snapshotFinalizers.claimAsSource)) yield `pvc/${key}`;
  for (const snapshot of index.snapshotsByClaim.get(key)) if (!isReady(snapshot)) yield snapshotKeyOf(snapshot);
  for (const object of [change.before, change.after]) if (object !== undefined) for (const snapshot of restoredSnapshotOf(object)) yield `vs/${snapshot}`;
}

/** The volume may come after its claim. */
function* keysForVolume({ index }: SnapshotterView, { spec }: PersistentVolume): Generator<SnapshotterKey> {
  if (spec.claimRef === undefined) return;
  for (const snapshot of index.snapshotsByClaim.get(keyOf(spec.claimRef))) if (!isReady(snapshot)) yield snapshotKeyOf(snapshot);
}

/** A volume was created from a snapshot. */
function* keysForIntent({ index }: SnapshotterView, intent: VolumeIntent): Generator<SnapshotterKey> {
  if (!isFor(intent, 'Create') || intent.spec.request.source?.type !== 'snapshot') return;
  const { driver, request } = intent.spec;
  for (const { spec } of index.contentsByHandle.get(`${driver} ${request.source?.handle ?? ''}`)) yield `vs/${keyOf(spec.volumeSnapshotRef)}`;
}
