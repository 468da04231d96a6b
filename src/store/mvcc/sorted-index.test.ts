import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Cursor, SortedIndex } from './sorted-index.ts';

test('holds what a sorted array holds, whatever is added and deleted', () => {
  // Enough keys that chunks are split, joined and emptied.
  const change = fc.record({ first: fc.integer({ min: 0, max: 3000 }), count: fc.integer({ min: 1, max: 1500 }), add: fc.boolean(), backwards: fc.boolean() });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), fc.array(fc.tuple(fc.nat(4500), fc.nat(4500), fc.nat(700)), { maxLength: 5 }), (changes, ranges) => {
      const index = new SortedIndex<{ key: string }>();
      const model = new Set<string>();
      for (const { first, count, add, backwards } of changes) {
        for (let i = 0; i < count; i++) {
          const key = keyOf(first + (backwards ? count - i : i));
          if (add === model.has(key)) continue;
          if (add) index.add({ key });
          else index.delete(key);
          if (add) model.add(key);
          else model.delete(key);
        }
      }
      const sorted = [...model].sort();
      expect(index.size).toBe(sorted.length);
      expect(walk(index.cursor('', undefined))).toEqual(sorted);
      for (const [from, to, limit] of ranges) {
        const expected = sorted.filter((key) => key >= keyOf(from) && key < keyOf(to));
        expect(index.count(keyOf(from), keyOf(to))).toBe(expected.length);
        expect(walk(index.cursor(keyOf(from), keyOf(to)))).toEqual(expected);
        expect(index.slice({ from: keyOf(from), to: keyOf(to), limit }, ({ key }) => key)).toEqual(expected.slice(0, limit));
      }
    }),
    { numRuns: 60, seed: 1 },
  );
});

const keyOf = (number: number): string => `/k/${String(number).padStart(5, '0')}`;

function walk(cursor: Cursor<{ key: string }>): string[] {
  const keys: string[] = [];
  for (; cursor.item !== undefined; cursor.advance()) keys.push(cursor.item.key);
  return keys;
}
