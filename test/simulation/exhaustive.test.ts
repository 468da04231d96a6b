/**
 * All orders of effects and all places to die, in worlds with two of everything: here as many as fit into a few seconds, the rest by
 * `npm run sim:exhaustive`.
 */
import { describe, expect, test } from 'vitest';
import { explore } from '../../src/sim/exhaustive/explore.ts';
import { Gate, type PendingEffect } from '../../src/sim/fuzz/gate.ts';
import { coverageLine, failureText } from '../../src/sim/exhaustive/coverage-report.ts';
import { explorationCases } from '../../src/sim/exhaustive/cases.ts';

test.each(explorationCases)('$name: nothing breaks in the first states', async (story) => {
  const coverage = await explore(story, { crashes: 1, mostStates: 12 });
  expect(failureText(coverage)).toBe('');
  expect(coverage.states).toBeGreaterThanOrEqual(12);
  expect(coverageLine(coverage)).toContain(`${story.name} `);
});

test('what was explored is the same every time', async () => {
  const [story] = explorationCases;
  if (story === undefined) throw new Error('there are no stories');
  const options = { crashes: 1, mostStates: 8 };
  expect(await explore(story, options)).toEqual(await explore(story, options));
});

test('a small story is explored to its end, and every state once', async () => {
  const [story] = explorationCases;
  if (story === undefined) throw new Error('there are no stories');
  const coverage = await explore(
    { ...story, name: 'one volume, one claim', actors: [[story.actors[0]?.[0]], [story.actors[2]?.[0]]].map(present) },
    { crashes: 0, mostStates: 1000 },
  );
  expect(coverage.left).toBe(0);
  expect(coverage.failure).toBeUndefined();
  // Either may come first.
  expect(coverage.histories).toBeGreaterThan(1);
  expect(coverage.states).toBeLessThan(40);
});

const present = <T>(items: readonly (T | undefined)[]): readonly T[] => items.flatMap((item) => (item === undefined ? [] : [item]));

describe('a gate', () => {
  const held = (who: string, what: string, mortal = true): PendingEffect => ({ who, what, mortal });
  const closed = () => {
    const gate = new Gate();
    gate.close();
    return gate;
  };

  test('lets everything pass until it is closed', async () => {
    expect(await new Gate().pass(held('a', 'x'))).toBe('go');
  });

  test('offers each effect, and each program that may die once before all of its effects and once behind each', () => {
    const gate = closed();
    for (const each of [held('a', 'x'), held('a', 'y'), held('b', 'z'), held('person', 'w', false)]) void gate.pass(each);
    const text = gate.options(true).map(({ held: { who, what }, verdict }) => `${verdict} ${who} ${what}`);
    expect(text).toEqual(['go a x', 'go a y', 'go b z', 'go person w', 'die-after a x', 'die-after a y', 'die-after b z', 'die-before a x', 'die-before b z']);
    expect(gate.options(false)).toHaveLength(4);
  });

  test('a program that could have died behind its last effect does not die before its next, until time moves on', async () => {
    const gate = closed();
    const done = gate.pass(held('a', 'x'));
    const [first] = gate.options(true);
    if (first === undefined) throw new Error('nothing waits');
    gate.choose(first);
    expect(await done).toBe('go');
    for (const each of [held('a', 'y'), held('b', 'z')]) void gate.pass(each);
    const deaths = () => gate.options(true).flatMap(({ held: { who, what }, verdict }) => (verdict === 'die-before' ? `${who} ${what}` : []));
    expect(deaths()).toEqual(['b z']);
    gate.timeMoves();
    expect(deaths()).toEqual(['a y', 'b z']);
  });

  test('forgets what a program that dies had under way, and nothing of anybody else', async () => {
    const gate = closed();
    const [dying] = [gate.pass(held('a', 'x')), gate.pass(held('a', 'y')), gate.pass(held('b', 'z'))];
    const option = gate.options(true).find(({ verdict }) => verdict === 'die-before');
    if (option === undefined) throw new Error('nobody may die');
    gate.choose(option);
    expect(await dying).toBe('die-before');
    expect(gate.held.map(({ what }) => what)).toEqual(['z']);
  });
});
