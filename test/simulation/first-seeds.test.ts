/** Half of the random worlds that run with every test: two files, for two cores. MOOR_SEEDS=20: twenty times as many. */
import { expect, test } from 'vitest';
import { runSeeds } from '../../src/sim/fuzz/run-seeds.ts';

const factor = Number(process.env['MOOR_SEEDS'] ?? 1);
const [from, to] = [1, 160 * factor];

test(
  `no invariant breaks in the worlds ${from} to ${to}`,
  async () => {
    const failures: string[] = [];
    await runSeeds({ from, to, onFailure: (text) => failures.push(text) });
    expect(failures.join('\n')).toBe('');
  },
  1_200_000 * factor,
);
