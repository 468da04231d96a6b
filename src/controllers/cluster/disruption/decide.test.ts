import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OwnerReference, Pod, PodDisruptionBudget } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { BudgetAction } from './actions.ts';
import { decideBudget, type BudgetSnapshot } from './decide.ts';
import type { Scale } from './expected.ts';

const now = Date.UTC(2026, 0, 1);
const at = (ms: number) => `${new Date(now + ms).toISOString().slice(0, 19)}Z`;

const budget = (spec: Partial<PodDisruptionBudget['spec']>, status: Partial<PodDisruptionBudget['status']> = {}): Stored<PodDisruptionBudget> => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { namespace: 'team', name: 'web', uid: 'b', resourceVersion: '1', generation: 2 },
  spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
  status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...status },
});

interface Wanted {
  readonly ready?: boolean;
  readonly owner?: string | undefined;
  readonly going?: boolean;
}
const pod = (name: string, { ready = true, owner = 'set', going = false }: Wanted = {}): Stored<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'team',
    name,
    uid: name,
    resourceVersion: '1',
    ...(owner === '' ? {} : { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true }] }),
    ...(going ? { deletionTimestamp: at(0) } : {}),
  },
  spec: { containers: [] },
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastProbeTime: null, lastTransitionTime: null }] },
});
const three = ['a', 'b', 'c'].map((name) => pod(name));

/** 'set' has three replicas, 'other' two; other owners are unknown. */
const scales: Readonly<Record<string, Scale>> = {
  set: { state: 'found', uid: 'set', replicas: 3 },
  other: { state: 'found', uid: 'other', replicas: 2 },
  job: { state: 'unscalable', why: 'jobs.batch does not implement the scale subresource' },
};
const scaleOf = ({ name }: OwnerReference): Scale => scales[name] ?? { state: 'missing' };

const seen = (of: Stored<PodDisruptionBudget>, pods: readonly Stored<Pod>[] = three, recorded: Readonly<Record<string, string>> = {}): BudgetSnapshot => ({
  budget: of,
  pods,
  scaleOf,
  recorded: (key) => recorded[key],
});

const written = (snapshot: BudgetSnapshot) =>
  decideBudget(snapshot, now).actions.flatMap((action) => (action.do === 'updateStatus' ? [action.object.status] : []))[0];
const said = (snapshot: BudgetSnapshot) =>
  decideBudget(snapshot, now).actions.flatMap((action) => (action.do === 'recordEvent' ? `${action.event.reason}: ${action.event.message}` : []));
/** 'healthy/desired of expected: allowed' */
const brief = (snapshot: BudgetSnapshot) => {
  const status = written(snapshot);
  return status === undefined ? 'nothing' : `${status.currentHealthy}/${status.desiredHealthy} of ${status.expectedPods}: ${status.disruptionsAllowed}`;
};

describe('a budget', () => {
  test.each<[string, Partial<PodDisruptionBudget['spec']>, readonly Stored<Pod>[], string]>([
    ['that wants two of three pods lets one go', { minAvailable: 2 }, three, '3/2 of 3: 1'],
    ['that wants all lets none go', { minAvailable: 3 }, three, '3/3 of 3: 0'],
    ['that wants more than there are lets none go', { minAvailable: 5 }, three, '3/5 of 3: 0'],
    ['that wants none lets all go', { minAvailable: 0 }, three, '3/0 of 3: 3'],
    ['that wants half of them, rounded up', { minAvailable: '50%' }, three, '3/2 of 3: 1'],
    ['that wants all of them, in percent, although only one is there', { minAvailable: '100%' }, [pod('a')], '1/3 of 3: 0'],
    ['of which one may be missing', { maxUnavailable: 1 }, three, '3/2 of 3: 1'],
    ['of which one may be missing and one is', { maxUnavailable: 1 }, [...three.slice(0, 2), pod('c', { ready: false })], '2/2 of 3: 0'],
    ['of which a third may be missing, rounded up', { maxUnavailable: '30%' }, three, '3/2 of 3: 1'],
    ['of which more may be missing than there are', { maxUnavailable: 9 }, three, '3/0 of 3: 3'],
    ['of two controllers counts on both', { maxUnavailable: '20%' }, [...three, pod('d', { owner: 'other' })], '4/4 of 5: 0'],
    ['counts no pod that is going', { minAvailable: 1 }, [pod('a'), pod('b', { going: true })], '1/1 of 2: 0'],
    ['that selects nothing lets nothing go', { minAvailable: 0 }, [], '0/0 of 0: 0'],
    ['that asks for nothing lets nothing go', {}, three, '3/0 of 0: 0'],
  ])('%s', (_, spec, pods, expected) => expect(brief(seen(budget(spec), pods))).toBe(expected));

  test('has the DisruptionAllowed condition and observedGeneration', () => {
    expect(written(seen(budget({ minAvailable: 2 })))).toEqual({
      observedGeneration: 2,
      disruptionsAllowed: 1,
      currentHealthy: 3,
      desiredHealthy: 2,
      expectedPods: 3,
      conditions: [{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods', message: '', observedGeneration: 2, lastTransitionTime: at(0) }],
    });
    const old = { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods', message: '', observedGeneration: 1, lastTransitionTime: at(-5_000) };
    expect(written(seen(budget({ minAvailable: 3 }, { observedGeneration: 1, conditions: [old] })))?.conditions).toEqual([{ ...old, observedGeneration: 2 }]);
  });

  test('does not count evicted pods as healthy, until they are overdue', () => {
    const disruptedPods = { a: at(-60_000), b: at(-121_000), gone: at(-1_000) };
    const decision = decideBudget(seen(budget({ minAvailable: 1 }, { disruptedPods })), now);
    expect(written(seen(budget({ minAvailable: 1 }, { disruptedPods })))).toMatchObject({ currentHealthy: 2, disruptedPods: { a: at(-60_000) } });
    expect(decision.again).toBe(now + 60_001);
    expect(decision.actions.at(-1)).toMatchObject({
      event: {
        about: { metadata: { name: 'b' } },
        type: 'Warning',
        reason: 'NotDeleted',
        message: "Pod was expected by PDB team/team to be deleted but it wasn't",
      },
    });
  });

  test('removes terminating pods from disruptedPods', () => {
    const of = budget({ minAvailable: 1 }, { disruptedPods: { a: at(-60_000) } });
    expect(written(seen(of, [pod('a', { going: true }), pod('b'), pod('c')]))).not.toHaveProperty('disruptedPods');
  });
});

describe('a budget with unknown expected pods', () => {
  test.each([
    ['a pod whose controller is missing', pod('d', { owner: 'missing' }), 'found no controllers for pod "d"'],
    ['a pod of something without scale', pod('d', { owner: 'job' }), 'jobs.batch does not implement the scale subresource'],
  ])('because of %s allows no disruption, and records why', (_, strange, why) => {
    const snapshot = seen(budget({ maxUnavailable: 1 }, { disruptionsAllowed: 1, expectedPods: 3, observedGeneration: 1 }), [...three, strange]);
    expect(written(snapshot)).toEqual({
      observedGeneration: 1,
      disruptionsAllowed: 0,
      currentHealthy: 0,
      desiredHealthy: 0,
      expectedPods: 3,
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message: why, observedGeneration: 1, lastTransitionTime: at(0) }],
    });
    expect(said(snapshot)).toEqual([`CalculateExpectedPodCountFailed: Failed to calculate the number of expected pods: ${why}`]);
  });

  test('but an absolute minAvailable does not need it', () => {
    expect(brief(seen(budget({ minAvailable: 2 }), [...three, pod('d', { owner: 'missing' })]))).toBe('4/2 of 4: 2');
  });
});

describe('an event is recorded', () => {
  test('for pods without controller, which are not counted', () => {
    const snapshot = seen(budget({ maxUnavailable: 1 }), [...three, pod('d', { owner: '' })]);
    expect(brief(snapshot)).toBe('4/2 of 3: 2');
    expect(said(snapshot)).toEqual([
      'UnmanagedPods: Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.',
    ]);
  });

  test('for a budget without pods, once', () => {
    expect(said(seen(budget({ minAvailable: 1 }), []))).toEqual(['NoPods: No matching pods found']);
    expect(said(seen(budget({ minAvailable: 1 }), [], { 'b NoPods': 'No matching pods found' }))).toEqual([]);
  });
});

describe('for any snapshot', () => {
  const amounts = fc.oneof(fc.nat(5), fc.constantFrom('0%', '34%', '50%', '100%'));
  const worlds = fc.record({
    spec: fc.oneof(fc.record({ minAvailable: amounts }), fc.record({ maxUnavailable: amounts })),
    pods: fc.array(fc.record({ ready: fc.boolean(), owner: fc.constantFrom('set', 'other', '', 'job', 'missing'), going: fc.boolean() }), { maxLength: 5 }),
    disrupted: fc.array(fc.integer({ min: -300, max: 0 }), { maxLength: 5 }),
    status: fc.record({ disruptionsAllowed: fc.nat(3), observedGeneration: fc.constantFrom(1, 2) }),
  });
  const snapshotOf = ({ spec, pods, disrupted, status }: typeof worlds extends fc.Arbitrary<infer W> ? W : never): BudgetSnapshot =>
    seen(
      budget(spec, { ...status, disruptedPods: Object.fromEntries(disrupted.map((seconds, i) => [`p${i}`, at(seconds * 1000)])) }),
      pods.map((wanted, i) => pod(`p${i}`, wanted)),
    );
  const after = (snapshot: BudgetSnapshot, actions: readonly BudgetAction[]): BudgetSnapshot => {
    const recorded: Record<string, string> = {};
    let next = snapshot.budget;
    for (const action of actions) {
      if (action.do === 'updateStatus') next = action.object;
      else if (action.do === 'recordEvent' && action.rememberAs !== undefined) recorded[action.rememberAs] = action.event.message;
    }
    return { ...snapshot, budget: next, recorded: (key) => recorded[key] };
  };

  test('it settles, and equal snapshots give equal decisions', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const snapshot = snapshotOf(world);
        const first = decideBudget(snapshot, now);
        expect(decideBudget(snapshot, now)).toEqual(first);
        expect(decideBudget(after(snapshot, first.actions), now).actions).toEqual([]);
      }),
    );
  });

  test('a crash after any action converges to the same end', () => {
    fc.assert(
      fc.property(worlds, fc.nat(4), (world, count) => {
        const snapshot = snapshotOf(world);
        const { actions } = decideBudget(snapshot, now);
        const some = { ...after(snapshot, actions.slice(0, count)), told: () => undefined };
        expect(after(some, decideBudget(some, now).actions).budget).toEqual(after(snapshot, actions).budget);
      }),
    );
  });

  test('disruptionsAllowed never exceeds the healthy pods beyond the desired', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const snapshot = snapshotOf(world);
        const { budget: end } = after(snapshot, decideBudget(snapshot, now).actions);
        expect(end.status.disruptionsAllowed).toBeGreaterThanOrEqual(0);
        if (end.status.disruptionsAllowed > 0)
          expect(end.status.currentHealthy - end.status.disruptionsAllowed).toBeGreaterThanOrEqual(end.status.desiredHealthy);
      }),
    );
  });
});
