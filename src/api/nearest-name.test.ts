import { expect, test } from 'vitest';
import { nearestName, nearestNames } from './nearest-name.ts';

test.each([
  ['dta', ['data', 'logs'], 'data'],
  ['data', ['data-db-0', 'logs'], 'data-db-0'],
  ['web-data', ['data'], 'data'],
  ['x', ['y', 'database'], 'y'],
  ['frobnicate', ['up', 'version'], undefined],
  ['', ['a-long-name'], undefined],
])('%s among %j: %s', (typed, words, found) => {
  expect(nearestName(typed, words)).toBe(found);
});

test('the nearest first, and not too many', () => {
  expect(nearestNames('disk-1', ['disk-9', 'disc-2', 'disk-11', 'disk-2', 'disk-3'], 2)).toEqual(['disk-11', 'disk-2']);
});

test('names of any length take no time to speak of', () => {
  expect(nearestName('a'.repeat(1_000_000), ['b'.repeat(1_000_000)])).toBeUndefined();
});
