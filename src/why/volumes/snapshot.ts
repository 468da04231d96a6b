/** VolumeSnapshots, and claims that wait for one. */
import { snapshotGroup, type VolumeSnapshot } from '../../api/kinds/snapshot/volume-snapshot.ts';
import type { Stored } from '../../api/stored.ts';
import { decide, type SnapshotsSnapshot, type SnapshotterDecision } from '../../storage/snapshotter/decide.ts';
import { type Claim, claimKey } from '../../storage/volumes/claim.ts';
import { kubectl, moorWhy } from '../explanation/commands.ts';
import { type Diagnosis, explanationOf, type Fix, nothingToDo, type ObjectExplanation } from '../explanation/explanation.ts';
import { quoted } from '../explanation/words.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';

export function explainSnapshot(snapshot: Stored<VolumeSnapshot>, graph: ObjectGraph): ObjectExplanation {
  const { namespace = '', name, creationTimestamp, deletionTimestamp } = snapshot.metadata;
  const isReady = snapshot.status?.readyToUse === true;
  const state = deletionTimestamp !== undefined ? 'Terminating' : isReady ? 'Ready' : 'NotReady';
  return explanationOf({ kind: 'vs', namespace, name }, { state, since: deletionTimestamp ?? creationTimestamp }, diagnose(snapshot, graph));
}

/** The snapshotter's own decision, without its writes. */
function diagnose(snapshot: Stored<VolumeSnapshot>, graph: ObjectGraph): Diagnosis {
  const { namespace, name } = snapshot.metadata;
  const [reason] = decided(snapshot, graph).reasons;
  const code = reason?.code ?? 'CreatingSnapshot';
  if (code === 'SnapshotReady') return { verdict: 'fine', code, summary: 'The snapshot is ready: volumes can be restored from it.', next: nothingToDo };
  const driver = driverOf(snapshot, graph);
  const who = driver === undefined ? 'the snapshotter of its driver' : `the snapshotter of ${driver}`;
  const told = snapshot.status?.error?.message;
  const why = reason?.next === 'driver' || reason === undefined ? (told ?? reason?.text ?? 'the snapshotter begins with it') : reason.text;
  const isStuck = reason !== undefined && (reason.next === 'user' || reason.next === 'administrator');
  const subject = snapshot.metadata.deletionTimestamp === undefined ? 'The snapshot is not ready' : 'The snapshot is being deleted';
  return {
    verdict: isStuck || told !== undefined ? 'stuck' : 'waiting',
    code,
    summary: `${subject}: ${why}`,
    facts: driver === undefined ? [] : [{ label: 'driver', text: driver }],
    fixes: [
      ...fixesFor(snapshot, code),
      { text: 'read the events of the snapshot', commands: [kubectl(namespace, 'events', '--for', `volumesnapshot/${name}`)] },
    ],
    next: isStuck
      ? { who: reason.next === 'user' ? 'you' : 'an administrator', does: 'changes that; then the snapshot is taken at once' }
      : { who, does: 'takes it, and retries by itself' },
  };
}

function fixesFor({ metadata, spec }: Stored<VolumeSnapshot>, code: string): readonly Fix[] {
  const claim = spec.source.persistentVolumeClaimName;
  switch (code) {
    case 'GetSnapshotClassFailed':
    case 'SetDefaultSnapshotClassFailed':
      return [{ text: 'create the VolumeSnapshotClass, or name one that exists', commands: [kubectl(undefined, 'get', 'volumesnapshotclasses')] }];
    case 'SnapshotContentCreationFailed':
      return claim === undefined ? [] : [{ text: 'see what the claim waits for', commands: [moorWhy(metadata.namespace, `pvc/${claim}`)] }];
    case 'CreatingSnapshot':
      return [
        {
          text: 'if nothing happens for a minute, no snapshotter runs: a driver of this process needs none; others need the snapshot-controller and their csi-snapshotter',
          commands: [kubectl(undefined, 'get', 'volumesnapshotcontents')],
        },
      ];
    default:
      return [];
  }
}

function driverOf({ spec, status }: VolumeSnapshot, graph: ObjectGraph): string | undefined {
  const content = graph.snapshotContents.find(({ metadata }) => metadata.name === status?.boundVolumeSnapshotContentName);
  return content?.spec.driver ?? graph.snapshotClasses.find(({ metadata }) => metadata.name === spec.volumeSnapshotClassName)?.driver;
}

/** The reasons of the decision after the finalizers are written: those say nothing. */
function decided(snapshot: VolumeSnapshot, graph: ObjectGraph): SnapshotterDecision {
  const decision = decide({ type: 'snapshot', snapshot, from: snapshotsOf(graph) }, graph.now);
  const [first] = decision.actions;
  if (decision.reasons.length > 0 || first?.do !== 'update' || first.object.kind !== 'VolumeSnapshot') return decision;
  return decide({ type: 'snapshot', snapshot: { ...snapshot, metadata: first.object.metadata }, from: snapshotsOf(graph) }, graph.now);
}

/** Every driver counts as one that takes snapshots: which process it is in is not seen from the objects. */
function snapshotsOf(graph: ObjectGraph): SnapshotsSnapshot {
  const named = <T extends Stored>(objects: readonly T[], name: string): T | undefined => objects.find(({ metadata }) => metadata.name === name);
  return {
    lastEvent: () => undefined,
    claim: (namespace, name) => graph.claim(claimKey(namespace, name))?.object,
    volume: (name) => graph.volume(name)?.object,
    class: (name) => named(graph.snapshotClasses, name),
    classes: () => graph.snapshotClasses,
    content: (name) => named(graph.snapshotContents, name),
    contentsOf: () => [],
    snapshot: (namespace, name) => graph.snapshots.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    snapshotsOf: () => [],
    restoring: (namespace, name) =>
      graph.claims.find(
        (claim) => claim.namespace === namespace && claim.phase === 'Pending' && claim.dataSource?.kind === 'VolumeSnapshot' && claim.dataSource.name === name,
      )?.name,
    isBeingRestored: () => false,
    isOurs: () => true,
    hasDrivers: true,
    group: () => undefined,
    groupContent: () => undefined,
    groupContentOf: () => undefined,
    groupClass: () => undefined,
    groupClasses: () => [],
    claimsIn: () => [],
    membersOf: () => [],
    volumesOf: () => [],
    takesGroups: () => false,
    sha256: (text) => text,
  };
}

/** Undefined: the claim wants no snapshot, its snapshot is ready, or snapshots were not read. */
export function waitsForSnapshot({ dataSource, namespace }: Claim, graph: ObjectGraph): Diagnosis | undefined {
  if (dataSource?.kind !== 'VolumeSnapshot' || dataSource.group !== snapshotGroup || dataSource.namespace !== '' || !graph.wasRead('snapshots'))
    return undefined;
  const { name } = dataSource;
  const snapshot = graph.snapshots.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  if (snapshot?.status?.readyToUse === true && snapshot.metadata.deletionTimestamp === undefined) return undefined;
  if (snapshot === undefined) {
    return {
      verdict: 'stuck',
      code: 'SnapshotMissing',
      summary: `The volume has to be restored from VolumeSnapshot ${quoted(name)}, which does not exist.`,
      fixes: [{ text: `create VolumeSnapshot ${quoted(name)}, or the claim again with another one`, commands: [kubectl(namespace, 'get', 'volumesnapshots')] }],
      next: { who: 'you', does: 'create the snapshot; then the volume is restored at once' },
    };
  }
  const { verdict, summary } = diagnose(snapshot, graph);
  return {
    verdict: verdict === 'stuck' ? 'stuck' : 'waiting',
    code: 'SnapshotNotReady',
    summary: `The volume has to be restored from VolumeSnapshot ${quoted(name)}. ${summary}`,
    fixes: [{ text: 'see what the snapshot waits for', commands: [moorWhy(namespace, `vs/${name}`)] }],
    next: { who: 'the snapshotter', does: 'makes the snapshot ready; then the volume is restored' },
  };
}
