import { expect, test } from 'vitest';
import { runCloudWorld } from '../../src/sim/clouds/cloud-world.ts';
import { drawCloudPlan } from '../../src/sim/clouds/draw-plan.ts';

const count = Number(process.env['MOOR_SEEDS'] ?? 4);
const first = Number(process.env['MOOR_SEED'] ?? 1);

test.each(Array.from({ length: count }, (_, i) => first + i))('a cloud that misbehaves, and the autoscaler, seed %i', async (seed) => {
  const { violation, launches } = await runCloudWorld(drawCloudPlan(seed));
  expect(violation).toBeUndefined();
  expect(launches).toBeGreaterThan(0);
});

test('the same seed is the same world', async () => {
  const plan = drawCloudPlan(12);
  expect((await runCloudWorld(plan)).timeline).toEqual((await runCloudWorld(plan)).timeline);
});
