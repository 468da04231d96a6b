import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pod } from '../../../../api/generated/types.ts';
import type { Stored } from '../../../../api/stored.ts';
import { decideDisruptedPod } from './decide.ts';

const now = Date.UTC(2026, 0, 1);
const at = (ms: number) => `${new Date(now + ms).toISOString().slice(0, 19)}Z`;

const pod = (reason: string, { agoMs = 200_000, status = 'True', phase = 'Running', going = false } = {}): Stored<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'team', name: 'web', uid: 'u1', resourceVersion: '1', generation: 3, ...(going ? { deletionTimestamp: at(0) } : {}) },
  spec: { containers: [] },
  status: { phase, conditions: [{ type: 'DisruptionTarget', status, reason, message: 'because', lastProbeTime: null, lastTransitionTime: at(-agoMs) }] },
});
const seen = (of: Stored<Pod>, budgets: readonly string[] = [], isRecorded = false) => ({ pod: of, budgets, isRecorded });

describe('a pod with a DisruptionTarget condition', () => {
  test('loses it after two minutes without deletion', () => {
    expect(decideDisruptedPod(seen(pod('EvictionByEvictionAPI', { agoMs: 119_000 })), now)).toMatchObject({ actions: [], again: now + 1_000 });
    expect(decideDisruptedPod(seen(pod('EvictionByEvictionAPI', { agoMs: 120_000 })), now).actions).toMatchObject([
      {
        do: 'updateStatus',
        object: {
          status: { conditions: [{ type: 'DisruptionTarget', status: 'False', observedGeneration: 3, lastProbeTime: null, lastTransitionTime: at(0) }] },
        },
      },
    ]);
  });

  test.each([
    ['is going', pod('EvictionByEvictionAPI', { going: true })],
    ['has ended', pod('EvictionByEvictionAPI', { phase: 'Failed' })],
    ['has it from its kubelet', pod('TerminationByKubelet')],
    ['no longer says so', pod('x', { status: 'False' })],
  ])('but %s is left alone', (_, of) => expect(decideDisruptedPod(seen(of), now)).toMatchObject({ actions: [], reasons: [{ code: 'NotDisrupted' }] }));
});

test('a pod of several budgets gets an event once', () => {
  const of = pod('x', { status: 'False' });
  expect(decideDisruptedPod(seen(of, ['a', 'b']), now).actions).toMatchObject([
    {
      event: {
        type: 'Warning',
        reason: 'MultiplePodDisruptionBudgets',
        message: 'Pod "team"/"web" matches multiple PodDisruptionBudgets.  Chose "a" arbitrarily.',
      },
      rememberAs: 'u1',
    },
  ]);
  expect(decideDisruptedPod(seen(of, ['a', 'b'], true), now).actions).toEqual([]);
  expect(decideDisruptedPod(seen(of, ['a']), now).actions).toEqual([]);
});

test('for any snapshot it settles, a crash changes nothing, and equal snapshots give equal decisions', () => {
  const worlds = fc.record({
    reason: fc.constantFrom('EvictionByEvictionAPI', 'TerminationByKubelet'),
    agoMs: fc.nat(400_000),
    status: fc.constantFrom('True', 'False'),
    phase: fc.constantFrom('Running', 'Failed'),
    going: fc.boolean(),
    budgets: fc.uniqueArray(fc.constantFrom('a', 'b')),
  });
  fc.assert(
    fc.property(worlds, fc.nat(2), ({ reason, budgets, ...more }, count) => {
      const of = pod(reason, more);
      const { actions } = decideDisruptedPod(seen(of, budgets), now);
      expect(decideDisruptedPod(seen(of, budgets), now).actions).toEqual(actions);
      const done = actions.slice(0, count);
      const [written] = done.flatMap((action) => (action.do === 'updateStatus' ? [action.object] : []));
      const rest = decideDisruptedPod(
        seen(
          written ?? of,
          budgets,
          done.some((action) => action.do === 'recordEvent'),
        ),
        now,
      ).actions;
      expect(rest).toEqual(actions.slice(count));
    }),
  );
});
