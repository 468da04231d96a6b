import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Node, Pod } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { PodGcAction } from './actions.ts';
import { decidePodGc, type PodNode, type PodGcSnapshot } from './decide.ts';

const now = Date.UTC(2026, 0, 1);
const going = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 };

const pod = (metadata: Partial<Pod['metadata']> = {}, phase = 'Running'): Stored<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'team', name: 'web', uid: 'u1', resourceVersion: '1', generation: 2, ...metadata },
  spec: { containers: [] },
  status: { phase, conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null }] },
});

const node = (isReady: boolean, ...taints: readonly string[]): PodNode => ({
  state: 'known',
  node: {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', uid: 'u', resourceVersion: '1' },
    spec: { taints: taints.map((key) => ({ key, effect: 'NoExecute' })) },
    status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'Unknown', lastHeartbeatTime: null, lastTransitionTime: null }] },
  } as unknown as Stored<Node>,
});
const missing = (ms: number): PodNode => ({ state: 'missing', name: 'n1', since: now - ms });
const out = 'node.kubernetes.io/out-of-service';

const seen = (more: Partial<PodGcSnapshot> = {}): PodGcSnapshot => ({ pod: pod(), node: node(true), isSurplus: false, ...more });
const brief = (snapshot: PodGcSnapshot) => decidePodGc(snapshot, now).actions.map((action) => action.do);

describe('a pod', () => {
  test.each<[string, Partial<PodGcSnapshot>, readonly string[]]>([
    ['that runs on a node stays', {}, []],
    ['that goes, on a node, is left to the node', { pod: pod(going) }, []],
    ['that goes, on a lost node, is left to the node', { pod: pod(going), node: node(false) }, []],
    ['that goes, on a node out of service, is removed', { pod: pod(going), node: node(false, out) }, ['updateStatus', 'forceDelete']],
    ['that does not go, on a node out of service, stays', { node: node(false, out) }, []],
    ['that goes, on a node that is said to be out of service but is ready, is left to it', { pod: pod(going), node: node(true, out) }, []],
    ['that goes and has no node is removed', { pod: pod(going, 'Pending'), node: { state: 'none' } }, ['updateStatus', 'forceDelete']],
    ['that has no node stays', { pod: pod({}, 'Pending'), node: { state: 'none' } }, []],
    ['whose node has been gone for 40 s is removed', { node: missing(40_000) }, ['confirmNodeGone', 'updateStatus', 'forceDelete']],
    ['that has ended keeps what it said of itself', { pod: pod({}, 'Succeeded'), node: missing(40_000) }, ['confirmNodeGone', 'forceDelete']],
    [
      'that is being removed and waits for finalizers is left alone',
      { pod: pod({ ...going, deletionGracePeriodSeconds: 0 }, 'Failed'), node: missing(40_000) },
      [],
    ],
    ['of too many that have finished is removed', { pod: pod({}, 'Succeeded'), isSurplus: true }, ['forceDelete']],
  ])('%s', (_, more, expected) => expect(brief(seen(more))).toEqual(expected));

  test('whose node is missing for less than 40 s stays', () => {
    expect(decidePodGc(seen({ node: missing(39_999) }), now)).toMatchObject({ actions: [], again: now + 1, reasons: [{ code: 'NodeMissing' }] });
  });

  test('whose node is gone gets a DisruptionTarget condition', () => {
    expect(decidePodGc(seen({ node: missing(50_000) }), now).actions[1]).toMatchObject({
      do: 'updateStatus',
      object: {
        status: {
          phase: 'Failed',
          observedGeneration: 2,
          conditions: [
            { type: 'Ready', status: 'True' },
            {
              type: 'DisruptionTarget',
              status: 'True',
              reason: 'DeletionByPodGC',
              message: 'PodGC: node no longer exists',
              observedGeneration: 2,
              lastTransitionTime: '2026-01-01T00:00:00Z',
            },
          ],
        },
      },
    });
  });

  test('that is deleted for another reason is Failed without DisruptionTarget', () => {
    const [mark] = decidePodGc(seen({ pod: pod(going), node: node(false, out) }), now).actions;
    expect(mark).toMatchObject({ object: { status: { phase: 'Failed', conditions: [{ type: 'Ready' }] } } });
  });
});

describe('for any snapshot', () => {
  const worlds = fc.record({
    phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'),
    metadata: fc.constantFrom({}, going, { ...going, deletionGracePeriodSeconds: 0 }),
    node: fc.constantFrom<PodNode>({ state: 'none' }, node(true), node(false), node(false, out), node(true, out), missing(10), missing(100_000)),
    isSurplus: fc.boolean(),
  });
  const snapshotOf = ({ phase, metadata, ...rest }: typeof worlds extends fc.Arbitrary<infer W> ? W : never): PodGcSnapshot => ({
    ...rest,
    pod: pod(metadata, phase),
  });
  /** With a finalizer, or the deleted pod would not exist. */
  const after = (snapshot: PodGcSnapshot, actions: readonly PodGcAction[]): PodGcSnapshot =>
    actions.reduce((state, action): PodGcSnapshot => {
      switch (action.do) {
        case 'updateStatus':
          return { ...state, pod: action.object };
        case 'forceDelete':
          return { ...state, pod: { ...state.pod, metadata: { ...state.pod.metadata, ...going, deletionGracePeriodSeconds: 0 } } };
        default:
          return state;
      }
    }, snapshot);

  test('it settles, and equal snapshots give equal decisions', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const snapshot = snapshotOf(world);
        const first = decidePodGc(snapshot, now);
        expect(decidePodGc(snapshot, now)).toEqual(first);
        expect(brief(after(snapshot, first.actions))).toEqual([]);
      }),
    );
  });

  test('a crash after any action converges to the same end', () => {
    fc.assert(
      fc.property(worlds, fc.nat(3), (world, count) => {
        const snapshot = snapshotOf(world);
        const { actions } = decidePodGc(snapshot, now);
        const some = after(snapshot, actions.slice(0, count));
        expect(after(some, decidePodGc(some, now).actions)).toEqual(after(snapshot, actions));
      }),
    );
  });

  test('no pod is deleted that has a kubelet', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const snapshot = snapshotOf(world);
        const isWatched = snapshot.node.state === 'known' && snapshot.node.node.status.conditions?.[0]?.status === 'True';
        if (isWatched && !snapshot.isSurplus) expect(brief(snapshot)).toEqual([]);
      }),
    );
  });
});
