import { expect, test } from 'vitest';
import { parseGoDuration } from './go-duration.ts';

test.each([
  ['0', 0],
  ['-0', 0],
  ['1h30m', 5400],
  ['+1.5s', 1.5],
  ['-.5m', -30],
  ['1.s', 1],
  ['250ms', 0.25],
  ['3µs', 3e-6],
])('%s is %d seconds', (text, seconds) => expect(parseGoDuration(text)).toEqual({ seconds }));

test.each([
  ['', 'time: invalid duration ""'],
  ['s', 'time: invalid duration "s"'],
  ['1', 'time: missing unit in duration "1"'],
  ['1.2.3s', 'time: missing unit in duration "1.2.3s"'],
  ['1d', 'time: unknown unit "d" in duration "1d"'],
])('%j is none', (text, problem) => expect(parseGoDuration(text)).toEqual({ problem }));

test('a text that can be divided in many ways is read once', () => {
  expect(parseGoDuration(`${'11s'.repeat(20_000)}!`)).toHaveProperty('problem');
});
