import { describe, expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import type { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from '../../api/kinds/snapshot/volume-snapshot.ts';
import { snapshotAnnotations, snapshotFinalizers } from '../../api/volumes/snapshot-annotations.ts';
import { pv, pvc } from '../../../test/storage/objects.ts';
import { driverParameters, secretOf, secretUses, snapshotTokens } from './class-parameters.ts';
import { decide, type SnapshotsSnapshot, type SnapshotterDecision } from './decide.ts';

const driver = 'd.example.com';
const now = Date.parse('2026-03-01T12:00:00Z');
const version = 'snapshot.storage.k8s.io/v1';

interface Given {
  readonly claim?: PersistentVolumeClaim;
  readonly volume?: PersistentVolume;
  readonly classes?: readonly VolumeSnapshotClass[];
  readonly content?: VolumeSnapshotContent;
  readonly restoring?: string;
  readonly drivers?: readonly string[];
}

const from = ({ claim, volume, classes = [], content, restoring, drivers = [driver] }: Given): SnapshotsSnapshot => ({
  lastEvent: () => undefined,
  claim: (_, name) => (claim?.metadata.name === name ? claim : undefined),
  volume: (name) => (volume?.metadata.name === name ? volume : undefined),
  class: (name) => classes.find(({ metadata }) => metadata.name === name),
  classes: () => classes,
  content: (name) => (content?.metadata.name === name ? content : undefined),
  contentsOf: (_, handle) => (content?.spec.source.volumeHandle === handle ? [content] : []),
  snapshot: () => undefined,
  snapshotsOf: () => [],
  restoring: () => restoring,
  isBeingRestored: () => false,
  isOurs: (name) => drivers.includes(name),
  hasDrivers: drivers.length > 0,
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
});

const snapshot = (more: Partial<VolumeSnapshot> = {}): VolumeSnapshot => ({
  apiVersion: version,
  kind: 'VolumeSnapshot',
  metadata: { name: 'before', namespace: 'default', uid: 'u-1', finalizers: [snapshotFinalizers.asSource, snapshotFinalizers.bound], ...more.metadata },
  spec: more.spec ?? { source: { persistentVolumeClaimName: 'data' }, volumeSnapshotClassName: 'fast' },
  ...(more.status === undefined ? {} : { status: more.status }),
});

const fast = (more: Partial<VolumeSnapshotClass> = {}): VolumeSnapshotClass => ({
  apiVersion: version,
  kind: 'VolumeSnapshotClass',
  metadata: { name: 'fast' },
  driver,
  deletionPolicy: 'Delete',
  ...more,
});
const asDefault = (name: string): VolumeSnapshotClass => fast({ metadata: { name, annotations: { [snapshotAnnotations.defaultClass]: 'true' } } });

const content = (more: Partial<VolumeSnapshotContent> & { readonly policy?: string } = {}): VolumeSnapshotContent => ({
  apiVersion: version,
  kind: 'VolumeSnapshotContent',
  metadata: { name: 'snapcontent-u-1', uid: 'c-1', finalizers: [snapshotFinalizers.content], ...more.metadata },
  spec: more.spec ?? {
    deletionPolicy: more.policy ?? 'Delete',
    driver,
    source: { volumeHandle: 'v-1' },
    volumeSnapshotClassName: 'fast',
    volumeSnapshotRef: { name: 'before', namespace: 'default', uid: 'u-1' },
  },
  ...(more.status === undefined ? {} : { status: more.status }),
});

const made = pv('vol', '1Gi');
const volume: PersistentVolume = {
  ...made,
  spec: { ...made.spec, csi: { driver, volumeHandle: 'v-1' }, claimRef: { namespace: 'default', name: 'data' } },
};
const claim = { ...pvc('data', '1Gi'), status: { phase: 'Bound' } };
claim.spec = { ...claim.spec, volumeName: 'vol' };
const bound: Given = { claim, volume, classes: [fast()] };

/** 'update VolumeSnapshotContent', 'recordEvent CreatingSnapshot' */
const steps = ({ actions }: SnapshotterDecision): readonly string[] =>
  actions.map((action) => {
    if (action.do === 'recordEvent') return `recordEvent ${action.event.reason}`;
    return 'object' in action ? `${action.do} ${action.object.kind}` : action.do;
  });
const ofSnapshot = (subject: VolumeSnapshot, given: Given): SnapshotterDecision => decide({ type: 'snapshot', snapshot: subject, from: from(given) }, now);
const ofContent = (
  subject: VolumeSnapshotContent,
  given: Given = bound,
  last?: { readonly notBefore: number; readonly settled: boolean },
): SnapshotterDecision =>
  decide({ type: 'content', content: subject, attempt: last === undefined ? undefined : { count: 1, ...last }, from: from(given) }, now);

describe('a snapshot', () => {
  test('gets its finalizer before its content', () => {
    expect(steps(ofSnapshot(snapshot({ metadata: { finalizers: [] } }), bound))).toEqual(['update VolumeSnapshot']);
    expect(steps(ofSnapshot(snapshot(), bound))).toEqual(['update PersistentVolumeClaim', 'create VolumeSnapshotContent', 'recordEvent CreatingSnapshot']);
  });

  test('gets the default class of its driver, if there is exactly one', () => {
    const classless = snapshot({ spec: { source: { persistentVolumeClaimName: 'data' } } });
    expect(steps(ofSnapshot(classless, { ...bound, classes: [asDefault('a')] }))).toEqual(['update VolumeSnapshot']);
    const told = (classes: readonly VolumeSnapshotClass[]) => ofSnapshot(classless, { ...bound, classes }).reasons[0]?.text;
    expect(told([])).toBe('Failed to set default snapshot class with error cannot find default snapshot class');
    expect(told([asDefault('a'), asDefault('b')])).toBe('Failed to set default snapshot class with error 2 default snapshot classes were found');
    expect(told([{ ...asDefault('a'), driver: 'other' }])).toContain('cannot find default snapshot class');
  });

  test.each<[string, Given, string]>([
    ['no claim', { classes: [fast()] }, 'cannot get claim from snapshot'],
    ['an unbound claim', { ...bound, claim: { ...claim, status: { phase: 'Pending' } } }, 'the PVC data is not yet bound to a PV'],
    ['no volume', { claim, classes: [fast()] }, 'failed to retrieve PV vol'],
    ['a class of another driver', { ...bound, classes: [fast({ driver: 'ours-too' })], drivers: [driver, 'ours-too'] }, 'belongs to driver d.example.com'],
  ])('is refused: %s', (_, given, message) => {
    const decision = ofSnapshot(snapshot(), given);
    expect(steps(decision)).toEqual(['updateStatus VolumeSnapshot', 'recordEvent SnapshotContentCreationFailed']);
    expect(decision.reasons[0]?.text).toContain(message);
  });

  test('of a driver elsewhere is left alone', () => {
    expect(ofSnapshot(snapshot(), { ...bound, drivers: ['another'] })).toMatchObject({ actions: [], reasons: [{ code: 'OtherSnapshotter' }] });
  });

  test('that is being deleted takes its content along, but not while it is restored', () => {
    const deleting = snapshot({ metadata: { finalizers: [snapshotFinalizers.asSource, snapshotFinalizers.bound], deletionTimestamp: '2026-03-01T11:00:00Z' } });
    expect(steps(ofSnapshot(deleting, { ...bound, content: content() }))).toEqual([
      'update VolumeSnapshotContent',
      'delete VolumeSnapshotContent',
      'update VolumeSnapshot',
    ]);
    expect(steps(ofSnapshot(deleting, { ...bound, content: content({ policy: 'Retain' }) }))).toEqual([
      'update VolumeSnapshotContent',
      'update VolumeSnapshot',
    ]);
    expect(steps(ofSnapshot(deleting, { ...bound, content: content(), restoring: 'copy' }))).toEqual(['recordEvent SnapshotDeletePending']);
    const other = content();
    const misbound = { ...other, spec: { ...other.spec, volumeSnapshotRef: { name: 'before', namespace: 'default', uid: 'another' } } };
    expect(steps(ofSnapshot(deleting, { ...bound, content: misbound }))).toEqual(['update VolumeSnapshot']);
  });
});

describe('a content', () => {
  const creating = { [snapshotAnnotations.beingCreated]: 'yes' };
  const deleted = '2026-03-01T11:00:00Z';

  test('is annotated before the driver is asked', () => {
    const request = { name: 'snapshot-u-1', sourceHandle: 'v-1', parameters: {} };
    const annotated = { metadata: { annotations: creating } };
    expect(ofContent(content()).actions).toMatchObject([
      { do: 'update', object: annotated },
      { do: 'takeSnapshot', content: annotated, request, isFirst: true },
    ]);
    // The annotation is from before: nothing is known of the call that it was written for.
    expect(ofContent(content(annotated)).actions).toMatchObject([{ do: 'takeSnapshot', request, isFirst: false }]);
  });

  test('waits between two calls', () => {
    const last = { notBefore: now + 500, settled: false };
    expect(ofContent(content({ metadata: { annotations: creating } }), bound, last)).toMatchObject({ actions: [], again: now + 500 });
    expect(ofContent(content(), bound, { ...last, settled: true })).toMatchObject({ actions: [], again: now + 500 });
  });

  test('loses the annotation once it is certain that nothing was taken', () => {
    const { actions } = ofContent(content({ metadata: { annotations: creating } }), bound, { notBefore: now + 500, settled: true });
    expect(actions).toMatchObject([{ do: 'update', from: { metadata: { annotations: creating } } }]);
    expect(actions.flatMap((action) => (action.do === 'update' ? Object.keys(action.object.metadata.annotations ?? {}) : []))).toEqual([]);
  });

  test('is not deleted while the outcome is unknown', () => {
    const both = { ...creating, [snapshotAnnotations.beingDeleted]: 'yes' };
    const undecided = content({ metadata: { annotations: both, deletionTimestamp: deleted, finalizers: [snapshotFinalizers.content] } });
    expect(steps(ofContent(undecided))).toEqual(['takeSnapshot']);
    const decided = content({
      metadata: { annotations: { [snapshotAnnotations.beingDeleted]: 'yes' }, deletionTimestamp: deleted, finalizers: [snapshotFinalizers.content] },
      status: { snapshotHandle: 's-1' },
    });
    expect(steps(ofContent(decided))).toEqual(['deleteSnapshot']);
    expect(steps(ofContent({ ...decided, spec: { ...decided.spec, deletionPolicy: 'Retain' } }))).toEqual(['update VolumeSnapshotContent']);
    expect(steps(ofContent({ ...decided, status: {} }))).toEqual(['update VolumeSnapshotContent']);
  });

  test('whose class is gone is not taken; if it is to be deleted, the driver is asked for what it may have taken', () => {
    const without = { ...bound, classes: [] };
    expect(steps(ofContent(content({ metadata: { annotations: creating } }), without))).toEqual([
      'updateStatus VolumeSnapshotContent',
      'recordEvent SnapshotCreationFailed',
    ]);
    const annotated = { ...creating, [snapshotAnnotations.beingDeleted]: 'yes' };
    const undecided = content({ metadata: { annotations: annotated, deletionTimestamp: deleted, finalizers: [snapshotFinalizers.content] } });
    expect(ofContent(undecided, without).actions).toMatchObject([
      { do: 'takeSnapshot', request: { name: 'snapshot-u-1', sourceHandle: 'v-1', parameters: {} } },
    ]);
  });

  test('of a snapshot that is not being deleted stays', () => {
    const orphan = content({ metadata: { deletionTimestamp: deleted, finalizers: [snapshotFinalizers.content] } });
    expect(steps(ofContent(orphan))).toEqual([]);
  });

  test('that is ready costs nothing', () => {
    expect(steps(ofContent(content({ status: { snapshotHandle: 's-1', readyToUse: true } })))).toEqual([]);
  });
});

describe('a claim whose VolumeSnapshots are gone', () => {
  const held = { ...claim, metadata: { ...claim.metadata, finalizers: [snapshotFinalizers.claimAsSource] } };
  const released = (of: VolumeSnapshotContent | undefined): boolean =>
    steps(decide({ type: 'claim', claim: held, from: from({ ...bound, ...(of === undefined ? {} : { content: of }) }) }, now)).length > 0;

  test('stays while a snapshot that is retained has still to be taken of it', () => {
    expect(released(content({ policy: 'Retain' }))).toBe(false);
    expect(released(content({ policy: 'Retain', metadata: { annotations: { [snapshotAnnotations.beingCreated]: 'yes' } } }))).toBe(false);
  });

  test.each<[string, VolumeSnapshotContent | undefined]>([
    ['is gone', undefined],
    ['is taken', content({ policy: 'Retain', status: { snapshotHandle: 's-1', readyToUse: false } })],
    ['failed', content({ policy: 'Retain', status: { error: { message: 'no space' } } })],
    ['is being deleted', content({ metadata: { deletionTimestamp: '2026-03-01T11:00:00Z' } })],
    ['was taken with its group', content({ policy: 'Retain', metadata: { annotations: { [snapshotAnnotations.groupHandle]: 'g-1' } } })],
    ['belongs to no VolumeSnapshot', content({ spec: { ...content().spec, volumeSnapshotRef: { name: 'before', namespace: 'default' } } })],
  ])('goes once the content %s', (_, of) => {
    expect(released(of)).toBe(true);
  });
});

describe('parameters of a class', () => {
  const token = (name: string): string => `$\{${name}}`;
  const values = snapshotTokens('content', { namespace: 'shop', name: 'before' });
  const named = (name: string, namespace: string) =>
    secretOf(
      { 'csi.storage.k8s.io/snapshotter-secret-name': name, 'csi.storage.k8s.io/snapshotter-secret-namespace': namespace },
      secretUses.snapshotter,
      values,
    );

  test.each<[string, string, unknown]>([
    ['key', 'vault', { ok: true, value: { namespace: 'vault', name: 'key' } }],
    [token('volumesnapshot.name'), token('volumesnapshot.namespace'), { ok: true, value: { namespace: 'shop', name: 'before' } }],
    ['key', token('volumesnapshot.name'), { ok: false, message: expect.stringContaining('invalid tokens: ["volumesnapshot.name"]') }],
    ['Key!', 'vault', { ok: false, message: '"Key!" is not a valid secret name' }],
    ['', 'vault', { ok: false, message: expect.stringContaining('is empty') }],
  ])('%s in %s', (name, namespace, result) => {
    expect(named(name, namespace)).toEqual(result);
  });

  test('half a Secret is none; what the driver gets', () => {
    expect(secretOf({ 'csi.storage.k8s.io/snapshotter-secret-name': 'key' }, secretUses.snapshotter, values).ok).toBe(false);
    expect(secretOf({}, secretUses.snapshotter, values)).toEqual({ ok: true, value: undefined });
    expect(driverParameters({ pool: 'a', 'csi.storage.k8s.io/snapshotter-secret-name': 'key' })).toEqual({ ok: true, value: { pool: 'a' } });
    expect(driverParameters({ 'csi.storage.k8s.io/unknown': 'x' }).ok).toBe(false);
  });
});
