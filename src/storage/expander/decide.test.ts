import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeSpec } from '../../api/generated/types.ts';
import type { ExpanderAction } from './actions.ts';
import { decide, type ExpanderSnapshot } from './decide.ts';

const claim = (request: string, capacity: string, phase = 'Bound'): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'default', uid: 'uid' },
  spec: { resources: { requests: { storage: request } }, volumeName: 'vol' },
  status: { phase, capacity: { storage: capacity } },
});
const csi = { driver: 'driver', volumeHandle: 'handle' };
const claimRef = { namespace: 'default', name: 'data', uid: 'uid' };
const volume = (spec: Partial<PersistentVolumeSpec> = {}, annotations: Record<string, string> = {}): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'vol', annotations },
  spec: { claimRef, csi, ...spec },
  status: {},
});
const ebs = { csi: undefined, awsElasticBlockStore: { volumeID: 'vol-1' } } as unknown as Partial<PersistentVolumeSpec>;

const shown = (actions: readonly ExpanderAction[]): string[] =>
  actions.map((action) => (action.do === 'recordEvent' ? `event: ${action.event.message}` : action.do));
const alone = { attempt: undefined, storageClass: undefined, driver: () => undefined };
const actions = (of: PersistentVolumeClaim, at: PersistentVolume | undefined = volume(), lastRequest?: ExpanderSnapshot['lastRequest']): string[] =>
  shown(decide({ claim: of, volume: at, lastRequest, ...alone }, 0).actions);

const external = ['event: waiting for an external controller to expand this PVC', 'remember'];

describe('a claim that requests more than it has', () => {
  test('gets the event of its external resizer once', () => {
    expect(actions(claim('2Gi', '1Gi'))).toEqual(external);
    expect(actions(claim('2Gi', '1Gi'), volume(), { request: '2Gi', capacity: '1Gi' })).toEqual([]);
    expect(actions(claim('2048Mi', '1Gi'), volume(), { request: '2Gi', capacity: '1Gi' })).toEqual([]);
  });

  test('gets the event again when it requests still more, or got a part; not when it requests less', () => {
    expect(actions(claim('3Gi', '1Gi'), volume(), { request: '2Gi', capacity: '1Gi' })).toEqual(external);
    expect(actions(claim('3Gi', '2Gi'), volume(), { request: '3Gi', capacity: '1Gi' })).toEqual(external);
    expect(actions(claim('2Gi', '1Gi'), volume(), { request: '3Gi', capacity: '1Gi' })).toEqual(['remember']);
  });

  test('whatever kind of volume it has', () => {
    for (const spec of [{ hostPath: { path: '/tmp' } }, { nfs: { server: 's', path: '/' } }])
      expect(actions(claim('2Gi', '1Gi'), volume(spec))).toEqual(external);
  });

  test('of a migrated in-tree plugin is left to the CSI driver’s resizer', () => {
    const { actions: done } = decide({ claim: claim('2Gi', '1Gi'), volume: volume(ebs), lastRequest: undefined, ...alone }, 0);
    expect(shown(done)).toEqual([
      'updateStatus',
      'event: CSI migration enabled for kubernetes.io/aws-ebs; waiting for external resizer to expand the pvc',
      'remember',
    ]);
    expect(done[0]).toMatchObject({ object: { metadata: { annotations: { 'volume.kubernetes.io/storage-resizer': 'ebs.csi.aws.com' } } } });
  });

  test('is left to its node if only that can do it', () => {
    expect(actions(claim('2Gi', '1Gi'), volume({ flexVolume: { driver: 'd' } }))).toEqual([]);
  });

  test('includes one whose file system has yet to be resized', () => {
    expect(actions(claim('1Gi', '1Gi'), volume({}, { 'volume.alpha.kubernetes.io/pre-resize-capacity': '1Gi' }))).toEqual(external);
  });
});

describe('no event is recorded', () => {
  test.each([
    ['while the volume is large enough', claim('2Gi', '5Gi'), volume()],
    ['of what is exactly enough', claim('1Gi', '1024Mi'), volume()],
    ['before the claim is bound', claim('2Gi', '1Gi', 'Pending'), volume()],
    ['before its volume is known', claim('2Gi', '1Gi'), undefined],
    ['while its volume points elsewhere', claim('2Gi', '1Gi'), volume({ claimRef: { ...claimRef, uid: 'other' } })],
    ['if the request is invalid', claim('lots', '1Gi'), volume()],
  ])('%s', (_, of, at) => expect(shown(decide({ claim: of, volume: at, lastRequest: undefined, ...alone }, 0).actions)).toEqual([]));
});

describe('for every snapshot', () => {
  const sizes = fc.constantFrom('1Gi', '2Gi', '3Gi');
  const snapshots: fc.Arbitrary<ExpanderSnapshot> = fc.record({
    claim: fc.tuple(sizes, sizes, fc.constantFrom('Bound', 'Pending')).map(([request, capacity, phase]) => claim(request, capacity, phase)),
    volume: fc.constantFrom(undefined, volume(), volume(ebs), volume({ flexVolume: { driver: 'd' } }), volume({ claimRef: { ...claimRef, uid: 'other' } })),
    lastRequest: fc.option(fc.record({ request: sizes, capacity: sizes }), { nil: undefined }),
    attempt: fc.constant(undefined),
    storageClass: fc.constant(undefined),
    driver: fc.constant(() => undefined),
  });

  test('it settles', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        expect(decide(decide(snapshot, 0).actions.reduce(apply, snapshot), 0).actions).toEqual([]);
      }),
    );
  });

  test('a crash after any prefix ends in the same state', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const { actions: all } = decide(snapshot, 0);
        const end = all.reduce(apply, snapshot);
        for (let length = 0; length < all.length; length++) {
          // The memory of events is lost with the process.
          const crashed = { ...all.slice(0, length).reduce(apply, snapshot), lastRequest: undefined };
          expect(decide(crashed, 0).actions.reduce(apply, crashed).claim).toEqual(end.claim);
        }
      }),
    );
  });

  test('the same leads to the same, with a reason', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        expect(decide(snapshot, 0)).toEqual(decide({ ...snapshot, claim: structuredClone(snapshot.claim) }, 0));
        expect(decide(snapshot, 0).reasons).not.toEqual([]);
      }),
    );
  });
});

function apply(snapshot: ExpanderSnapshot, action: ExpanderAction): ExpanderSnapshot {
  if (action.do === 'updateStatus') return { ...snapshot, claim: action.object as PersistentVolumeClaim };
  return action.do === 'remember' ? { ...snapshot, lastRequest: action.asked } : snapshot;
}
