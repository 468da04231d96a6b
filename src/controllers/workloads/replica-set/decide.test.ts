import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pod, ReplicaSet, ReplicaSetStatus } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { ReplicaSetAction } from './actions.ts';
import { controllerOf } from '../../pods/ownership.ts';
import { decideReplicas, type ReplicaSetSnapshot } from './decide.ts';
import { PodsView } from './pods-view.ts';

const now = Date.parse('2026-01-01T12:00:00Z');
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString().replace('.000Z', 'Z');
const labels = { app: 'web' };
const controlledBy = (uid: string, kind = 'ReplicaSet') => [{ apiVersion: 'apps/v1', kind, name: 'web', uid, controller: true }];

const set = (replicas: number, spec: Partial<ReplicaSet['spec']> = {}, metadata: object = {}): Stored<ReplicaSet> => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'web', namespace: 'team', uid: 'set', resourceVersion: '1', generation: 1, ...metadata },
  spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [] } }, ...spec },
  status: { replicas: 0 },
});

interface PodParts {
  readonly metadata?: object;
  readonly node?: string;
  readonly phase?: string;
  /** Seconds since it became ready; absent: it is not ready. */
  readonly ready?: number;
  readonly restarts?: number;
}

function pod(name: string, { metadata = {}, node, phase = 'Running', ready, restarts = 0 }: PodParts = {}): Stored<Pod> {
  const status = { name: 'app', ready: true, restartCount: restarts, image: '', imageID: '', state: {}, lastState: {} };
  const condition = { type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: ago(ready ?? 0) };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'team',
      uid: name,
      resourceVersion: '1',
      labels,
      creationTimestamp: ago(100),
      ownerReferences: controlledBy('set'),
      ...metadata,
    },
    spec: { containers: [], ...(node === undefined ? {} : { nodeName: node }) },
    status: { phase, containerStatuses: [status], ...(ready === undefined ? {} : { conditions: [condition] }) },
  };
}

const seen = (of: Stored<ReplicaSet>, candidates: readonly Stored<Pod>[] = [], related: readonly Stored<Pod>[] = []): ReplicaSetSnapshot => ({
  set: of,
  pods: new PodsView(
    of,
    candidates.filter((each) => controllerOf(each)?.uid === of.metadata.uid),
  ),
  orphans: candidates.filter((each) => controllerOf(each) === undefined),
  related: () => related,
});
const decide = (snapshot: ReplicaSetSnapshot) => decideReplicas(snapshot, now);
const told = (action: ReplicaSetAction): string => {
  switch (action.do) {
    case 'createPods':
      return `create ${action.count}`;
    case 'deletePods':
      return `delete ${action.pods.map(({ metadata }) => metadata.name).join(' ')}`;
    case 'updateStatus':
      return `status ${action.object.status.replicas}`;
    case 'confirmOwner':
      return 'confirm';
    default:
      return `${action.do} ${action.object.metadata.name}`;
  }
};
const done = (snapshot: ReplicaSetSnapshot) => decide(snapshot).actions.map(told);
const statusOf = (snapshot: ReplicaSetSnapshot): ReplicaSetStatus | undefined =>
  decide(snapshot).actions.flatMap((action) => (action.do === 'updateStatus' ? action.object.status : []))[0];

describe('a ReplicaSet', () => {
  test('creates missing pods, at most 500 in one pass', () => {
    expect(done(seen(set(3)))).toEqual(['create 3']);
    expect(done(seen(set(3), [pod('a')]))).toEqual(['create 2']);
    expect(done(seen(set(501)))).toEqual(['create 500']);
    expect(done(seen(set(0)))).toEqual(['status 0']);
  });

  test('counts neither pods that have ended nor those that are being deleted', () => {
    const going = { deletionTimestamp: ago(1) };
    expect(done(seen(set(1), [pod('a', { phase: 'Failed' }), pod('b', { phase: 'Succeeded' }), pod('c', { metadata: going })]))).toEqual(['create 1']);
    expect(statusOf(seen(set(1), [pod('a'), pod('b', { metadata: going }), pod('c', { metadata: going, phase: 'Failed' })]))).toMatchObject({
      replicas: 1,
      terminatingReplicas: 1,
    });
  });

  test('creates none while it is being deleted, and none without labels', () => {
    expect(done(seen(set(3, {}, { deletionTimestamp: ago(1) })))).toEqual(['status 0']);
    const unlabelled = set(1, {
      selector: { matchExpressions: [{ key: 'x', operator: 'DoesNotExist' }] },
      template: { metadata: {}, spec: { containers: [] } },
    });
    const status = statusOf(seen(unlabelled));
    expect(status?.conditions).toMatchObject([{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'unable to create pods, no labels' }]);
    expect(done(seen({ ...unlabelled, status: status ?? { replicas: 0 } }))).toEqual([]);
  });

  test('adopts orphans that it selects, and releases pods that it does not select any more', () => {
    const orphan = pod('orphan', { metadata: { ownerReferences: [] } });
    const other = { metadata: { labels: { app: 'other' } } };
    const actions = done(seen(set(2), [orphan, pod('mine'), pod('stray', other)]));
    expect(actions).toEqual(['release stray', 'confirm', 'adopt orphan']);
    const ignored = [
      pod('foreign', { metadata: { ownerReferences: controlledBy('other') } }),
      pod('ended', { phase: 'Failed', metadata: { ownerReferences: [] } }),
      pod('going', { metadata: { ownerReferences: [], deletionTimestamp: ago(1) } }),
      pod('unlike', { metadata: { ownerReferences: [], labels: { app: 'other' } } }),
      pod('elsewhere', { metadata: { ownerReferences: [], namespace: 'other' } }),
    ];
    expect(done(seen(set(0), ignored))).toEqual(['status 0']);
    expect(done(seen(set(0, {}, { deletionTimestamp: ago(1) }), [orphan, pod('stray', other)]))).toEqual(['status 0']);
  });

  test('writes its status', () => {
    const pods = [pod('a', { ready: 100 }), pod('b', { ready: 10 }), pod('c'), pod('d', { metadata: { labels: { ...labels, more: 'x' } } })];
    const template = { metadata: { labels: { ...labels, more: 'x' } }, spec: { containers: [] } };
    expect(statusOf(seen(set(4, { minReadySeconds: 60, template }), pods))).toEqual({
      replicas: 4,
      fullyLabeledReplicas: 1,
      readyReplicas: 2,
      availableReplicas: 1,
      terminatingReplicas: 0,
      observedGeneration: 1,
    });
  });

  test('decides again when the next pod becomes available', () => {
    const pods = [pod('a', { ready: 10 }), pod('b', { ready: 40 }), pod('c', { ready: 70 }), pod('d')];
    expect(decide(seen(set(4, { minReadySeconds: 60 }), pods)).again).toBe(now + 20_000);
    expect(decide(seen(set(4, { minReadySeconds: 5 }), pods)).again).toBeUndefined();
    expect(decide(seen(set(4), pods)).again).toBeUndefined();
  });

  test('clears a failure once it has all its pods, and keeps the first one until then', () => {
    const failure = { type: 'ReplicaFailure', status: 'True', lastTransitionTime: ago(60), reason: 'FailedCreate', message: 'exceeded quota' };
    const failing: Stored<ReplicaSet> = { ...set(1), status: { replicas: 0, terminatingReplicas: 0, observedGeneration: 1, conditions: [failure] } };
    expect(decide(seen(failing)).actions).toMatchObject([{ do: 'createPods', status: { conditions: [failure] } }]);
    expect(statusOf(seen(failing, [pod('a')]))).not.toHaveProperty('conditions');
  });
});

describe('of too many pods', () => {
  const going = (pods: readonly Stored<Pod>[], related: readonly Stored<Pod>[] = []) => done(seen(set(pods.length - 1), pods, related))[0];
  const cost = (value: string) => ({ metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': value } } });
  const aged = (seconds: number) => ({ creationTimestamp: ago(seconds) });

  test.each<[string, Stored<Pod>, Stored<Pod>]>([
    ['one without a node before one with', pod('first'), pod('second', { node: 'n' })],
    ['one that waits before one that runs', pod('first', { node: 'n', phase: 'Pending' }), pod('second', { node: 'n' })],
    ['one of unknown state before one that runs', pod('first', { node: 'n', phase: 'Unknown' }), pod('second', { node: 'n' })],
    ['one that is not ready before one that is', pod('first', { node: 'n' }), pod('second', { node: 'n', ready: 1 })],
    ['the one that costs less', pod('first', { node: 'n', ready: 1, ...cost('-1') }), pod('second', { node: 'n', ready: 1 })],
    ['a cost that is no number counts as none', pod('first', { node: 'n', ready: 1, ...cost('+7') }), pod('second', { node: 'n', ready: 1, ...cost('1') })],
    ['the one that has been ready for less', pod('first', { node: 'n', ready: 10 }), pod('second', { node: 'n', ready: 100 })],
    ['the one with more restarts', pod('first', { node: 'n', restarts: 3 }), pod('second', { node: 'n', restarts: 1 })],
    ['the younger', pod('first', { node: 'n', metadata: aged(10) }), pod('second', { node: 'n', metadata: aged(100) })],
    ['of about the same age any, told by uid', pod('first', { node: 'n', metadata: aged(101) }), pod('second', { node: 'n', metadata: aged(100) })],
  ])('%s', (_, first, second) => {
    expect(going([first, second])).toBe('delete first');
    expect(going([second, first])).toBe('delete first');
  });

  test('those on nodes with more pods of their owner are deleted first', () => {
    const pods = [pod('alone', { node: 'n1', ready: 1 }), pod('crowded', { node: 'n2', ready: 1 })];
    const neighbour = pod('neighbour', { node: 'n2', metadata: { ownerReferences: controlledBy('older set') } });
    expect(going(pods, [...pods, neighbour])).toBe('delete crowded');
    expect(going(pods, [...pods, { ...neighbour, status: { phase: 'Failed' } }])).toBe('delete alone');
  });

  test('at most 500 are deleted in one pass; all of them without sorting', () => {
    const pods = Array.from({ length: 501 }, (_, i) => pod(`p${i}`));
    const [action] = decide(seen(set(0), pods)).actions;
    expect(action?.do === 'deletePods' && action.pods.length).toBe(500);
    expect(done(seen(set(0), pods.slice(0, 2)))).toEqual(['delete p0 p1']);
  });
});

describe('for any snapshot', () => {
  const pods = fc
    .record({
      owner: fc.constantFrom('set', 'other', undefined),
      matches: fc.boolean(),
      phase: fc.constantFrom('Pending', 'Running', 'Failed'),
      ready: fc.option(fc.constantFrom(5, 30, 90), { nil: undefined }),
      going: fc.boolean(),
    })
    .map(
      ({ owner, matches, phase, ready, going }) =>
        (name: string) =>
          pod(name, {
            phase,
            ...(ready === undefined ? {} : { ready }),
            metadata: {
              labels: matches ? labels : { app: 'other' },
              ownerReferences: owner === undefined ? [] : controlledBy(owner),
              ...(going ? { deletionTimestamp: ago(1) } : {}),
            },
          }),
    );
  const worlds = fc.record({ replicas: fc.nat(4), going: fc.boolean(), pods: fc.array(pods, { maxLength: 6 }) }).map(({ replicas, going, pods: made }) => ({
    set: set(replicas, { minReadySeconds: 20 }, going ? { deletionTimestamp: ago(1) } : {}),
    pods: made.map((make, i) => make(`p${i}`)),
  }));
  interface State {
    readonly set: Stored<ReplicaSet>;
    readonly pods: readonly Stored<Pod>[];
  }

  const change = (pods: readonly Stored<Pod>[], name: string | undefined, metadata: object) =>
    pods.map((each) => (each.metadata.name === name ? { ...each, metadata: { ...each.metadata, ...metadata } } : each));
  /** The objects after an action, or after `part` of its writes. */
  const after = (state: State, action: ReplicaSetAction, part = Number.POSITIVE_INFINITY): State => {
    switch (action.do) {
      case 'createPods': {
        const made = Array.from({ length: Math.min(action.count, part) }, (_, i) => pod(`made-${state.pods.length + i}`, { phase: 'Pending' }));
        return { ...state, pods: [...state.pods, ...made] };
      }
      case 'deletePods': {
        const gone = new Set(action.pods.slice(0, part).map(({ metadata }) => metadata.name));
        return { ...state, pods: state.pods.filter(({ metadata }) => !gone.has(metadata.name)) };
      }
      case 'updateStatus':
        return { ...state, set: { ...state.set, status: action.object.status } };
      case 'adopt':
        return { ...state, pods: change(state.pods, action.object.metadata.name, { ownerReferences: [action.reference] }) };
      case 'release':
        return { ...state, pods: change(state.pods, action.object.metadata.name, { ownerReferences: [] }) };
      default:
        return state;
    }
  };
  const pass = (state: State, limit = Number.POSITIVE_INFINITY): State => {
    let left = limit;
    return decide(seen(state.set, state.pods)).actions.reduce((so, action) => (left-- > 0 ? after(so, action) : so), state);
  };
  const settle = (state: State, passes = 6): State => (passes === 0 ? state : settle(pass(state), passes - 1));
  /** Created pods are alike. */
  const looks = ({ set: of, pods: have }: State) => ({
    status: of.status,
    pods: have.map(({ metadata: { name, ownerReferences = [] } }) => `${name?.startsWith('made') ? 'made' : name} ${ownerReferences[0]?.uid ?? '-'}`).sort(),
  });

  test('it settles, with the wanted number of pods', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const end = settle(world);
        expect(done(seen(end.set, end.pods))).toEqual([]);
        if (world.set.metadata.deletionTimestamp === undefined) expect(end.set.status.replicas).toBe(world.set.spec.replicas);
      }),
    );
  });

  test('equal snapshots give equal decisions, in any order of the pods', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const first = decide(seen(world.set, world.pods));
        expect(decide(seen(world.set, world.pods))).toEqual(first);
        const other = decide(seen(world.set, world.pods.toReversed()));
        expect(other.actions.map(({ do: what }) => what).sort()).toEqual(first.actions.map(({ do: what }) => what).sort());
      }),
    );
  });

  test('a crash after any action, or in the middle of one, gives the same end', () => {
    fc.assert(
      fc.property(worlds, fc.nat(4), fc.nat(3), (world, crashed, part) => {
        const half = pass(world, crashed);
        const [next] = decide(seen(half.set, half.pods)).actions;
        const broken = next === undefined ? half : after(half, next, part);
        expect(looks(settle(broken))).toEqual(looks(settle(world)));
      }),
    );
  });
});
