/** A failure is shrunk to the actions and faults that it needs. */
import { expect, test } from 'vitest';
import { drawPlan } from '../../src/sim/fuzz/plan/draw-plan.ts';
import type { FuzzPlan } from '../../src/sim/fuzz/plan/plan.ts';
import type { RunOutcome } from '../../src/sim/fuzz/run-plan.ts';
import { shrink } from '../../src/sim/fuzz/shrink.ts';

const breaking: RunOutcome = { violation: { invariant: 'x', what: '' }, timeline: [], steps: 0 };
const fine: RunOutcome = { violation: undefined, timeline: [], steps: 0 };
const otherwise: RunOutcome = { violation: { invariant: 'y', what: '' }, timeline: [], steps: 0 };

/** As if a world broke exactly if it has these two actions. */
const needs = (plan: FuzzPlan, first: number, last: number) => {
  const [a, b] = [plan.actions[first], plan.actions[last]];
  return (smaller: FuzzPlan): Promise<RunOutcome> =>
    Promise.resolve(smaller.actions.some((h) => h === a) && smaller.actions.some((h) => h === b) ? breaking : fine);
};

test('what does not matter is left out', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const plan = drawPlan(seed);
    const last = plan.actions.length - 1;
    const { plan: smallest } = await shrink({ plan, outcome: breaking }, needs(plan, 0, last));
    expect(smallest.actions).toEqual([plan.actions[0], plan.actions[last]]);
    expect(smallest.faults).toEqual([]);
  }
});

test('a fault that matters stays, the only one of its kind if possible', async () => {
  const plan = drawPlan(20);
  const kind = plan.faults[0]?.kind;
  const { plan: smallest } = await shrink({ plan, outcome: breaking }, (smaller) =>
    Promise.resolve(smaller.faults.some((fault) => fault.kind === kind) ? breaking : fine),
  );
  expect(smallest.faults.map((fault) => fault.kind)).toEqual([kind]);
  expect(smallest.actions).toEqual([]);
});

test('a smaller world that breaks without faults does not replace one that needs them', async () => {
  const plan = drawPlan(20);
  const [needed] = plan.actions;
  const run = ({ actions: happenings, faults }: FuzzPlan): Promise<RunOutcome> =>
    Promise.resolve(faults.length > 0 || !happenings.some((happening) => happening === needed) ? breaking : fine);
  const { plan: smallest } = await shrink({ plan, outcome: breaking }, run);
  expect(smallest.actions).toEqual([needed]);
  expect(smallest.faults).toHaveLength(1);
});

test('a violation of another invariant is another failure', async () => {
  const plan = drawPlan(5);
  const found = { plan, outcome: breaking };
  expect(await shrink(found, () => Promise.resolve(otherwise))).toBe(found);
});
