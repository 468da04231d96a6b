import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pod, Taint, Toleration } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import type { TaintEvictionAction, PlannedEviction } from './actions.ts';
import { decideEviction, type TaintEvictionSnapshot } from './decide.ts';

const now = Date.UTC(2026, 0, 1);
const lost: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
const broken: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' };
const forSeconds = (tolerationSeconds: number, key?: string): Toleration => ({ operator: 'Exists', tolerationSeconds, ...(key === undefined ? {} : { key }) });
const forever: Toleration = { operator: 'Exists' };

const pod = (tolerations: readonly Toleration[], metadata: Partial<Pod['metadata']> = {}): Stored<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'team', name: 'web', uid: 'u1', resourceVersion: '1', generation: 1, ...metadata },
  spec: { containers: [], nodeName: 'n1', tolerations: [...tolerations] },
  status: {},
});

const seen = (more: Partial<TaintEvictionSnapshot> = {}): TaintEvictionSnapshot => ({
  key: 'team/web',
  pod: pod([]),
  taints: [lost],
  plan: undefined,
  isRecorded: false,
  ...more,
});
const planned = (at: number, uid = 'u1'): PlannedEviction => ({ uid, at });

/** The actions as text. */
const brief = (action: TaintEvictionAction): string => {
  switch (action.do) {
    case 'plan':
      return `plan ${action.plan.uid} +${action.plan.at - now}`;
    case 'recordEvent':
      return action.event.message;
    default:
      return action.do;
  }
};
const done = (snapshot: TaintEvictionSnapshot, at = now) => decideEviction(snapshot, at).actions.map(brief);
const marking = 'Marking for deletion Pod team/web';
const cancelling = 'Cancelling deletion of Pod team/web';

describe('a pod on a tainted node', () => {
  test('that does not tolerate the taint is evicted at once, with a condition', () => {
    expect(decideEviction(seen(), now)).toMatchObject({
      actions: [
        {
          do: 'recordEvent',
          event: {
            about: { apiVersion: 'v1', kind: 'Pod', namespace: 'team', name: 'web' },
            type: 'Normal',
            reason: 'TaintManagerEviction',
            message: marking,
          },
        },
        {
          do: 'updateStatus',
          object: {
            status: {
              conditions: [
                {
                  type: 'DisruptionTarget',
                  status: 'True',
                  reason: 'DeletionByTaintManager',
                  message: 'Taint manager: deleting due to NoExecute taint',
                  observedGeneration: 1,
                  lastProbeTime: null,
                  lastTransitionTime: '2026-01-01T00:00:00Z',
                },
              ],
            },
          },
        },
        { do: 'delete' },
      ],
      reasons: [{ code: 'NotTolerated', text: 'the pod does not tolerate node.kubernetes.io/unreachable' }],
    });
  });

  test.each<[string, Partial<TaintEvictionSnapshot>, readonly string[], number | undefined]>([
    ['that tolerates it for ever stays', { pod: pod([forever]) }, [], undefined],
    ['that tolerates it for five minutes has them', { pod: pod([forSeconds(300)]) }, ['plan u1 +300000'], 300_000],
    ['has the shortest time of all', { pod: pod([forSeconds(300, lost.key), forSeconds(60, broken.key)]), taints: [lost, broken] }, ['plan u1 +60000'], 60_000],
    ['that tolerates it for no time goes', { pod: pod([forSeconds(-5)]) }, [marking, 'updateStatus', 'delete', 'forgetPlan'], undefined],
    [
      'of two taints, one of them tolerated, goes',
      { pod: pod([{ key: lost.key, operator: 'Exists' }]), taints: [lost, broken] },
      [marking, 'updateStatus', 'delete'],
      undefined,
    ],
    ['keeps the time that it was given', { pod: pod([forSeconds(10)]), plan: planned(now + 90_000) }, [], 90_000],
    ['goes when it is over', { pod: pod([forSeconds(300)]), plan: planned(now) }, [marking, 'updateStatus', 'delete', 'forgetPlan'], undefined],
    ['stays when the taint is gone', { pod: pod([forSeconds(300)]), plan: planned(now + 5), taints: [] }, ['forgetPlan', cancelling], undefined],
    ['stays when it tolerates the taint for ever', { pod: pod([forever]), plan: planned(now + 5) }, ['forgetPlan', cancelling], undefined],
    ['goes when it no longer tolerates it', { plan: planned(now + 5) }, ['forgetPlan', cancelling, marking, 'updateStatus', 'delete'], undefined],
    ['that is gone needs no plan', { pod: undefined, plan: planned(now + 5) }, ['forgetPlan', cancelling], undefined],
    ['goes as planned although its node is gone', { pod: pod([forSeconds(300)]), plan: planned(now + 5), taints: undefined }, [], 5],
    ['on a node that is gone has no plan', { taints: undefined }, [], undefined],
    [
      'is not taken for an earlier one of its name',
      { pod: pod([forSeconds(300)]), plan: planned(now, 'u0') },
      ['forgetPlan', cancelling, 'plan u1 +300000'],
      300_000,
    ],
    ['is told only once', { isRecorded: true }, ['updateStatus', 'delete'], undefined],
    ['that is being deleted already is only marked', { pod: pod([], { deletionTimestamp: '2026-01-01T00:00:00Z' }) }, [marking, 'updateStatus'], undefined],
  ])('%s', (_, more, expected, again) => {
    expect(done(seen(more))).toEqual(expected);
    expect(decideEviction(seen(more), now).again).toBe(again === undefined ? undefined : now + again);
  });
});

describe('for any snapshot', () => {
  const deleted = (of: Stored<Pod>): Stored<Pod> => ({ ...of, metadata: { ...of.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
  const tolerations = fc.array(fc.constantFrom(forever, forSeconds(0), forSeconds(30), forSeconds(300, lost.key), { key: broken.key, operator: 'Exists' }), {
    maxLength: 3,
  });
  const worlds = fc.record({
    tolerations,
    taints: fc.option(fc.uniqueArray(fc.constantFrom(lost, broken)), { nil: undefined }),
    plan: fc.option(fc.record({ uid: fc.constantFrom('u0', 'u1'), at: fc.integer({ min: now - 60_000, max: now + 60_000 }) }), { nil: undefined }),
    isGone: fc.boolean(),
    isGoing: fc.boolean(),
    isRecorded: fc.boolean(),
  });
  const snapshotOf = ({
    tolerations: tolerated,
    isGone,
    isGoing,
    ...rest
  }: typeof worlds extends fc.Arbitrary<infer W> ? W : never): TaintEvictionSnapshot => ({
    key: 'team/web',
    pod: isGone ? undefined : pod(tolerated, isGoing ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    ...rest,
  });
  const after = (snapshot: TaintEvictionSnapshot, actions: readonly TaintEvictionAction[]): TaintEvictionSnapshot =>
    actions.reduce((state, action): TaintEvictionSnapshot => {
      switch (action.do) {
        case 'plan':
          return { ...state, plan: action.plan };
        case 'forgetPlan':
          return { ...state, plan: undefined };
        case 'recordEvent':
          return action.rememberAs === undefined ? state : { ...state, isRecorded: true };
        case 'updateStatus':
          return { ...state, pod: action.object };
        case 'delete':
          return { ...state, pod: deleted(state.pod ?? pod([])) };
        default:
          return state;
      }
    }, snapshot);

  test('it settles, and equal snapshots give equal decisions', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const snapshot = snapshotOf(world);
        const first = decideEviction(snapshot, now);
        expect(decideEviction(snapshot, now)).toEqual(first);
        expect(done(after(snapshot, first.actions))).toEqual([]);
      }),
    );
  });

  test('a crash after any action, with loss of memory, evicts the same pods', () => {
    const goesNow = (snapshot: TaintEvictionSnapshot) => done(snapshot).includes('delete') || snapshot.pod?.metadata.deletionTimestamp !== undefined;
    fc.assert(
      fc.property(worlds, fc.nat(5), (world, count) => {
        const snapshot = { ...snapshotOf(world), plan: undefined };
        const some = after(snapshot, decideEviction(snapshot, now).actions.slice(0, count));
        expect(goesNow({ ...some, plan: undefined, isRecorded: false })).toBe(goesNow(snapshot));
      }),
    );
  });
});
