import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deployment, replicaSet } from '../../../../test/controllers/deployment/objects.ts';
import type { ReplicaSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { DeploymentAction } from './actions.ts';
import { surgeOf, unavailableOf } from './limits.ts';
import { isScaling, scaleAll, shrinkOld, sizeOfNew } from './scaling.ts';

/** 'v2 4': the sizes that are written, in order. */
const sizes = (actions: readonly DeploymentAction[]) =>
  actions.flatMap((action) => (action.do === 'update' ? `${action.object.metadata.name} ${action.object.spec.replicas ?? 0}` : []));

describe('limits of a rolling update', () => {
  test.each([
    [10, '25%', '25%', 3, 2],
    [1, '25%', '25%', 1, 0],
    [4, '0%', '25%', 0, 1],
    [1, 0, '1%', 0, 1],
    [2, '1%', 0, 1, 0],
    [3, 5, 10, 5, 3],
    [0, '25%', '25%', 0, 0],
    [100, '100%', '100%', 100, 100],
  ])('of %i pods, surge %s and unavailable %s', (replicas, surge, unavailable, expectedSurge, expectedUnavailable) => {
    const of = deployment(replicas, { surge, unavailable });
    expect([surgeOf(of), unavailableOf(of)]).toEqual([expectedSurge, expectedUnavailable]);
  });

  test('do not exist for Recreate', () => {
    const of = deployment(3, { spec: { strategy: { type: 'Recreate' } } });
    expect([surgeOf(of), unavailableOf(of)]).toEqual([0, 0]);
  });
});

describe('a deployment that changes its size', () => {
  const old = (...sets: readonly (readonly [string, number])[]) => sets;
  test.each<[number, number, number | undefined, readonly (readonly [string, number])[], readonly string[]]>([
    [10, 12, 10, old(), ['v3 12']],
    [10, 5, 10, old(), ['v3 5']],
    [5, 10, 2, old(['v1', 3]), ['v1 6', 'v3 4']],
    [5, 3, 2, old(['v1', 3]), ['v1 2', 'v3 1']],
    [9, 4, 8, old(['v1', 1]), ['v3 4', 'v1 0']],
    [7, 10, 2, old(['v1', 2], ['v2', 3]), ['v2 4', 'v3 3', 'v1 3']],
    [13, 8, 2, old(['v1', 3], ['v2', 8]), ['v2 5', 'v1 2', 'v3 1']],
    [3, 4, 1, old(['v1', 1], ['v2', 1]), ['v3 2', 'v2 1', 'v1 1']],
    [3, 2, 1, old(['v1', 1], ['v2', 1]), ['v1 0', 'v2 1', 'v3 1']],
    [4, 5, undefined, old(['v1', 2], ['v2', 2]), ['v2 3', 'v1 2']],
    [6, 0, 3, old(['v1', 1], ['v2', 2]), ['v3 0', 'v2 0', 'v1 0']],
    [6, 6, 0, old(['v1', 0], ['v2', 0]), ['v3 6']],
  ])('from %i to %i, with %s of the new template and %j', (before, after, current, others, expected) => {
    const set = ([name, replicas]: readonly [string, number], age: number) => replicaSet(name, replicas, { desired: before, age });
    const replicaSets = {
      current: current === undefined ? undefined : set(['v3', current], 0),
      old: others.map((each, i) => set(each, others.length - i)),
    };
    expect(sizes(scaleAll(deployment(after), replicaSets))).toEqual(expected);
  });

  test('includes surge pods', () => {
    const of = deployment(20, { surge: 2 });
    const replicaSets = (most: number, ...replicas: readonly [number, number]) => ({
      current: replicaSet('v2', replicas[0], { desired: 10, most }),
      old: [replicaSet('v1', replicas[1], { desired: 10, most, age: 1 })],
    });
    expect(sizes(scaleAll(of, replicaSets(12, 6, 6)))).toEqual(['v2 11', 'v1 11']);
    expect(sizes(scaleAll(deployment(50, { surge: 6 }), replicaSets(13, 5, 8)))).toEqual(['v1 34', 'v2 22']);
  });

  test('scales the old ones to zero once all new pods are available, and not before', () => {
    const replicaSets = (available: number) => ({
      current: replicaSet('v2', 2, { desired: 2, most: 3, available }),
      old: [replicaSet('v1', 1, { desired: 2, most: 3, age: 1 })],
    });
    const of = deployment(2, { surge: 1, unavailable: 1 });
    expect(sizes(scaleAll(of, replicaSets(2)))).toEqual(['v1 0']);
    expect(sizes(scaleAll(of, replicaSets(0)))).toEqual([]);
    const unaware = { current: replicaSet('v2', 2, { desired: 3, most: 4 }), old: [replicaSet('v1', 1, { desired: 3, most: 4, age: 1 })] };
    expect(sizes(scaleAll(of, unaware)), 'it was meant for another size').toEqual(['v2 2', 'v1 1']);
  });

  test('estimates the share if the annotation was changed', () => {
    const replicaSets = (most: string) => ({
      current: replicaSet('v2', 2, { desired: 5, annotations: { 'deployment.kubernetes.io/max-replicas': most } }),
      old: [replicaSet('v1', 3, { desired: 5, age: 1 })],
    });
    for (const most of ['0', 'many', '-5', '4294967296']) {
      expect(sizes(scaleAll(deployment(10, { status: { replicas: 5 } }), replicaSets(most)))).toEqual(['v1 6', 'v2 4']);
      expect(sizes(scaleAll(deployment(10), replicaSets(most)))).toEqual(['v1 8', 'v2 2']);
    }
  });

  test('is told from a rollout by the annotations of its ReplicaSets', () => {
    const replicaSets = (desired: number | undefined, replicas = 1) => ({
      current: undefined,
      old: [replicaSet('v1', replicas, desired === undefined ? {} : { desired })],
    });
    expect(isScaling(deployment(3), replicaSets(2))).toBe(true);
    expect(isScaling(deployment(3), replicaSets(3))).toBe(false);
    expect(isScaling(deployment(3), replicaSets(undefined))).toBe(false);
    expect(isScaling(deployment(3), replicaSets(2, 0))).toBe(false);
  });

  test('with Recreate leaves several ReplicaSets with pods alone', () => {
    const of = deployment(4, { spec: { strategy: { type: 'Recreate' } } });
    expect(scaleAll(of, { current: replicaSet('v2', 1, { desired: 2 }), old: [replicaSet('v1', 1, { desired: 2 })] })).toEqual([]);
    expect(scaleAll(of, { current: undefined, old: [] })).toEqual([]);
  });

  test('updates the size annotations and records events', () => {
    const [update, tell] = scaleAll(deployment(3, { surge: 1 }), { current: replicaSet('v1', 2, { desired: 2 }), old: [] });
    expect(update).toMatchObject({
      object: { metadata: { annotations: { 'deployment.kubernetes.io/desired-replicas': '3', 'deployment.kubernetes.io/max-replicas': '4' } } },
    });
    expect(tell).toMatchObject({ event: { type: 'Normal', reason: 'ScalingReplicaSet', message: 'Scaled up replica set v1 from 2 to 3' } });
  });

  test('the sizes add up to what is allowed, and none is negative', () => {
    const worlds = fc.record({
      after: fc.nat(30),
      surge: fc.nat(5),
      sets: fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 2, maxLength: 4 }),
    });
    fc.assert(
      fc.property(worlds, ({ after, surge, sets }) => {
        const most = sets.reduce((a, b) => a + b);
        const of = deployment(after, { surge });
        const old = sets.map((replicas, i) => replicaSet(`v${i}`, replicas, { desired: Math.max(0, most - surge), most, age: 10 - i }));
        const actions = scaleAll(of, { current: undefined, old });
        const scaled = new Map(old.map((set) => [set.metadata.name, set.spec.replicas ?? 0]));
        for (const action of actions) if (action.do === 'update') scaled.set(action.object.metadata.name, action.object.spec.replicas ?? 0);
        const values = [...scaled.values()];
        expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
        expect(values.reduce((a, b) => a + b, 0)).toBe(after === 0 ? 0 : after + surge);
      }),
    );
  });
});

describe('a rollout', () => {
  test.each([
    [10, 0, 10, 0, 0],
    [10, 2, 10, 0, 2],
    [10, 2, 5, 0, 7],
    [10, 2, 10, 2, 2],
    [10, 2, 2, 11, 10],
    [3, 1, 0, 0, 3],
  ])('of %i with surge %i, beside %i old pods and %i new ones, has %i new ones next', (replicas, surge, old, present, expected) => {
    const replicaSets = { current: replicaSet('v2', present), old: [replicaSet('v1', old)] };
    expect(sizeOfNew(deployment(replicas, { surge }), replicaSets)).toBe(expected);
    expect(sizeOfNew(deployment(replicas, { spec: { strategy: { type: 'Recreate' } } }), replicaSets)).toBe(replicas);
  });

  const shrunk = (unavailable: number, old: readonly Stored<ReplicaSet>[], current = replicaSet('v9', 0)) =>
    sizes(shrinkOld(deployment(10, { unavailable }), { current, old }));

  test.each([
    [0, 10, 10, 0, 0, ['v1 9']],
    [2, 10, 10, 0, 0, ['v1 8']],
    [2, 10, 8, 0, 0, ['v1 8']],
    [2, 10, 9, 0, 0, ['v1 9', 'v1 8']],
    [2, 8, 8, 2, 0, []],
    [2, 8, 8, 2, 2, ['v1 6']],
    [2, 10, 1, 0, 0, ['v1 8']],
    [2, 10, 5, 3, 0, ['v1 8']],
    [2, 0, 0, 0, 0, []],
  ])(
    'with %i unavailable allowed, of %i old pods, %i of them available, and %i new ones, %i of them available: %j',
    (unavailable, old, available, current, ready, expected) => {
      expect(shrunk(unavailable, [replicaSet('v1', old, { available })], replicaSet('v9', current, { available: ready }))).toEqual(expected);
    },
  );

  test('scales the oldest down first, and unavailable pods before all others', () => {
    const old = [replicaSet('v1', 4, { available: 4 }), replicaSet('v2', 6, { available: 5 })];
    expect(shrunk(3, old)).toEqual(['v2 5', 'v1 2']);
  });

  test('scales nothing down while a ReplicaSet has more pods than replicas', () => {
    const stale = replicaSet('v1', 2, { available: 4 });
    expect(shrunk(2, [stale, replicaSet('v2', 8)])).toEqual([]);
    expect(shrunk(3, [replicaSet('v0', 2, { available: 0 }), stale, replicaSet('v2', 8)])).toEqual(['v0 0']);
    // Enough unavailable pods were found before the stale ReplicaSet.
    expect(shrunk(1, [replicaSet('v0', 6, { available: 4 }), replicaSet('v1', 5, { available: 6 })])).toEqual(['v0 4', 'v0 3']);
  });

  test('two changes of one ReplicaSet are written one upon the other', () => {
    const [first, , second] = shrinkOld(deployment(10, { unavailable: 2 }), { current: replicaSet('v9', 0), old: [replicaSet('v1', 10, { available: 9 })] });
    expect(first?.do === 'update' && second?.do === 'update' && second.from === first.object).toBe(true);
  });
});
