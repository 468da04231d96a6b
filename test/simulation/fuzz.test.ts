/** Random worlds: nothing breaks in them, they do the same every time, and when something does break, it is found and told. */
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

test('the same seed does the same, to the last line', async () => {
  for (const seed of [2, 4, 7]) {
    const [one, other] = [await runPlan(drawPlan(seed)), await runPlan(drawPlan(seed))];
    expect(one.timeline.length).toBeGreaterThan(10);
    expect(other).toEqual(one);
  }
});

describe('a plan', () => {
  const plans = Array.from({ length: 400 }, (_, i) => drawPlan(i + 1));

  test('is data: written down and read again, it is the same', () => {
    for (const plan of plans) expect(JSON.parse(JSON.stringify(plan))).toEqual(JSON.parse(JSON.stringify(drawPlan(plan.seed))));
  });

  test('of some seed has every kind of fault, and every kind of happening', () => {
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
      ] as const),
      ...(['slow', 'lossy', 'cuts', 'stale', 'twice', 'conflicts', 'bad', 'silence'] as const),
    ];
    const drawn = new Set(plans.flatMap(({ faults }) => faults.map((fault: Fault) => fault.kind)));
    expect([...drawn].sort()).toEqual([...kinds].sort());
    const actions = plans.flatMap(({ actions: happenings }) => happenings.map(({ action }) => action));
    expect(new Set(actions.map(({ do: what }) => what)).size).toBe(24);
    // What an invariant is about has to come up, or it could never fail.
    expect(actions.some((action) => action.do === 'create-volume' && action.storageClass === 'late')).toBe(true);
    expect(actions.some((action) => action.do === 'create-pod' && action.name.startsWith('twin-of-'))).toBe(true);
  });
});

test('what breaks is told with the seed, what it takes, and a timeline', async () => {
  const plan = drawPlan(3);
  const outcome = await runPlan(plan);
  const text = failureReport({ plan, outcome: { ...outcome, violation: { invariant: 'nothing is green', what: 'something is green' } } });
  expect(text).toContain('seed 3: nothing is green\n  something is green');
  expect(text).toContain('moor sim --seed 3');
  expect(text).toContain('fault: ');
});
