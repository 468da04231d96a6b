/** Random worlds: no invariant breaks, every run is the same, and a violation is reported. */
import { describe, expect, test } from 'vitest';
import type { Fault, FaultKind } from '../../src/sim/fuzz/plan/faults.ts';
import { drawPlan } from '../../src/sim/fuzz/plan/draw-plan.ts';
import { failureReport } from '../../src/sim/fuzz/failure-report.ts';
import { runPlan } from '../../src/sim/fuzz/run-plan.ts';
import { foundBugs } from './seeds.ts';

test.each(foundBugs)('seed $seed: $bug', async ({ plan }) => {
  const { violation } = await runPlan(plan);
  expect(violation).toBeUndefined();
});

test('the same seed gives the same run, to the last line', async () => {
  for (const seed of [2, 4, 7]) {
    const [one, other] = [await runPlan(drawPlan(seed)), await runPlan(drawPlan(seed))];
    expect(one.timeline.length).toBeGreaterThan(10);
    expect(other).toEqual(one);
  }
});

describe('a plan', () => {
  const plans = Array.from({ length: 400 }, (_, i) => drawPlan(i + 1));

  test('is data: it can be serialized', () => {
    for (const plan of plans) expect(JSON.parse(JSON.stringify(plan))).toEqual(JSON.parse(JSON.stringify(drawPlan(plan.seed))));
  });

  test('every kind of fault and of action is drawn by some seed', () => {
    const kinds: readonly FaultKind[] = [
      ...([
        'crash',
        'crash-in-driver',
        'server-crash',
        'disk-full',
        'disk-slow',
        'backend-fails',
        'backend-slow',
        'clock',
        'node-loss',
        'compaction',
        'power-cut',
        'pause',
        'crash-on-host',
        'lost-mount',
        'disk-damage',
      ] as const),
      ...(['slow', 'lossy', 'cuts', 'stale', 'twice', 'conflicts', 'bad', 'silence', 'unreliable', 'stale-nodes'] as const),
      ...(['csi-call', 'csi-down', 'csi-gone', 'csi-kill-caller'] as const),
    ];
    const drawn = new Set(plans.flatMap(({ faults }) => faults.map((fault: Fault) => fault.kind)));
    expect([...drawn].sort()).toEqual([...kinds].sort());
    const actions = plans.flatMap((plan) => plan.actions.map(({ action }) => action));
    expect(new Set(actions.map(({ do: what }) => what)).size).toBe(57);
    expect(actions.some((action) => action.do === 'create-claim' && action.from !== undefined)).toBe(true);
    // The subject of each invariant has to be drawn, or it could never fail.
    expect(actions.some((action) => action.do === 'create-volume' && action.storageClass === 'late')).toBe(true);
    expect(actions.some((action) => action.do === 'create-pod' && action.name.startsWith('twin-of-'))).toBe(true);
  });
});

test('a violation is reported with the seed, the actions and faults, and a timeline', async () => {
  const plan = drawPlan(3);
  const outcome = await runPlan(plan);
  const text = failureReport({ plan, outcome: { ...outcome, violation: { invariant: 'nothing is green', what: 'something is green' } } });
  expect(text).toContain('seed 3: nothing is green\n  something is green');
  expect(text).toContain('moor fuzz --seed 3');
  expect(text).toContain('fault: ');
});
