/**
 * All orders of effects and all crash points, in worlds with two of everything: here as many as fit into a few seconds, the rest with
 * `npm run fuzz:exhaustive`.
 */
import { describe, expect, test } from 'vitest';
import { explore } from '../../src/sim/exhaustive/explore.ts';
import { Gate, type PendingEffect } from '../../src/sim/fuzz/gate.ts';
import { coverageLine, failureText } from '../../src/sim/exhaustive/coverage-report.ts';
import { explorationCases } from '../../src/sim/exhaustive/cases.ts';

test.each(explorationCases)('$name: no invariant breaks in the first states', async (exploration) => {
  const coverage = await explore(exploration, { crashes: 1, mostStates: 12 });
  expect(failureText(coverage)).toBe('');
  expect(coverage.states).toBeGreaterThanOrEqual(12);
  expect(coverageLine(coverage)).toContain(`${exploration.name} `);
});

test('an exploration is deterministic', async () => {
  const [exploration] = explorationCases;
  if (exploration === undefined) throw new Error('there are no cases');
  const options = { crashes: 1, mostStates: 8 };
  expect(await explore(exploration, options)).toEqual(await explore(exploration, options));
});

test('a small case is explored to its end, and every state once', async () => {
  const [exploration] = explorationCases;
  if (exploration === undefined) throw new Error('there are no cases');
  const coverage = await explore(
    { ...exploration, name: 'one volume, one claim', actors: [[exploration.actors[0]?.[0]], [exploration.actors[2]?.[0]]].map(present) },
    { crashes: 0, mostStates: 1000 },
  );
  expect(coverage.left).toBe(0);
  expect(coverage.failure).toBeUndefined();
  // Either actor may come first.
  expect(coverage.histories).toBeGreaterThan(1);
  expect(coverage.states).toBeLessThan(40);
});

const present = <T>(items: readonly (T | undefined)[]): readonly T[] => items.flatMap((item) => (item === undefined ? [] : [item]));

describe('a gate', () => {
  const effect = (who: string, what: string, canCrash = true): PendingEffect => ({ who, what, canCrash });
  const closed = () => {
    const gate = new Gate();
    gate.close();
    return gate;
  };

  test('lets everything pass until it is closed', async () => {
    expect(await new Gate().pass(effect('a', 'x'))).toBe('go');
  });

  test('offers each effect, and for each component a crash before all of its effects and one after each', () => {
    const gate = closed();
    for (const each of [effect('a', 'x'), effect('a', 'y'), effect('b', 'z'), effect('person', 'w', false)]) void gate.pass(each);
    const text = gate.options(true).map(({ effect: { who, what }, verdict }) => `${verdict} ${who} ${what}`);
    expect(text).toEqual([
      'go a x',
      'go a y',
      'go b z',
      'go person w',
      'crash-after a x',
      'crash-after a y',
      'crash-after b z',
      'crash-before a x',
      'crash-before b z',
    ]);
    expect(gate.options(false)).toHaveLength(4);
  });

  test('a component that could have crashed after its last effect does not crash before its next, until time moves on', async () => {
    const gate = closed();
    const done = gate.pass(effect('a', 'x'));
    const [first] = gate.options(true);
    if (first === undefined) throw new Error('nothing waits');
    gate.choose(first);
    expect(await done).toBe('go');
    for (const each of [effect('a', 'y'), effect('b', 'z')]) void gate.pass(each);
    const crashes = () => gate.options(true).flatMap(({ effect: { who, what }, verdict }) => (verdict === 'crash-before' ? `${who} ${what}` : []));
    expect(crashes()).toEqual(['b z']);
    gate.timeMoves();
    expect(crashes()).toEqual(['a y', 'b z']);
  });

  test('drops the pending effects of a component that crashes, and no others', async () => {
    const gate = closed();
    const [crashing] = [gate.pass(effect('a', 'x')), gate.pass(effect('a', 'y')), gate.pass(effect('b', 'z'))];
    const option = gate.options(true).find(({ verdict }) => verdict === 'crash-before');
    if (option === undefined) throw new Error('no component may crash');
    gate.choose(option);
    expect(await crashing).toBe('crash-before');
    expect(gate.pending.map(({ what }) => what)).toEqual(['z']);
  });
});
