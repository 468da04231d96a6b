import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countOf, countShared, firstGaps, formatIntervals, has, intervalsOf, parseIntervals, union } from './intervals.ts';

test.each([
  ['', 9, ''],
  ['1', 9, '1'],
  ['1,2', 9, '1,2'],
  ['1-3', 9, '1-3'],
  ['0,1,2,3', 9, '0-3'],
  ['1,3-5,7', 9, '1,3-5,7'],
  ['1,3-5,7', 5, '1,3,4'],
  ['1,x,5', 9, '1,5'],
  ['7', 5, ''],
])('%j of %i is %j', (text, completions, formatted) => {
  expect(formatIntervals(parseIntervals(text, completions))).toBe(formatted);
});

describe('intervals are sets', () => {
  const indexes = fc.uniqueArray(fc.nat(30));
  const set = (of: readonly number[]) => [...new Set(of)].sort((a, b) => a - b);
  const members = (text: string) => Array.from({ length: 31 }, (_, i) => i).filter((i) => has(parseIntervals(text, 31), i));

  test('formatted and parsed they are the same', () => {
    fc.assert(
      fc.property(indexes, (of) => {
        expect(members(formatIntervals(intervalsOf(of)))).toEqual(set(of));
      }),
    );
  });

  test('union, intersection and count', () => {
    fc.assert(
      fc.property(indexes, indexes, (a, b) => {
        const both = union(intervalsOf(a), intervalsOf(b));
        expect(members(formatIntervals(both))).toEqual(set([...a, ...b]));
        expect(countOf(both)).toBe(set([...a, ...b]).length);
        expect(countShared(intervalsOf(a), intervalsOf(b))).toBe(a.filter((i) => b.includes(i)).length);
      }),
    );
  });

  test('gaps are the indexes that are not in them', () => {
    fc.assert(
      fc.property(indexes, fc.nat(10), fc.nat(30), (taken, count, completions) => {
        const free = Array.from({ length: completions }, (_, i) => i).filter((i) => !taken.includes(i));
        expect(firstGaps(intervalsOf(taken), count, completions)).toEqual(free.slice(0, count));
      }),
    );
  });
});
