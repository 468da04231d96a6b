import { expect, test } from 'vitest';
import { runServerWorld } from '../../src/sim/histories/server-world.ts';

const count = Number(process.env['MOOR_SEEDS'] ?? 6);
const first = Number(process.env['MOOR_SEED'] ?? 1);

test.each(Array.from({ length: count }, (_, i) => first + i))('two servers on an etcd that misbehaves, seed %i', async (seed) => {
  const { violation, operations } = await runServerWorld(seed);
  expect(violation).toBeUndefined();
  expect(operations).toBeGreaterThan(20);
});
