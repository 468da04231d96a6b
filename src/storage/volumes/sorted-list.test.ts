import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SortedList } from './sorted-list.ts';

const numbers = () => new SortedList<number>((a, b) => a - b);
const read = (list: SortedList<number>) => [...list.from(() => false)];

describe('a sorted list', () => {
  it('agrees with a sorted array, whatever is added and removed', () => {
    const steps = fc.array(fc.record({ add: fc.boolean(), value: fc.integer({ min: 0, max: 60 }) }), { maxLength: 300 });
    fc.assert(
      fc.property(steps, fc.integer({ min: -1, max: 61 }), (history, bound) => {
        const [list, model] = [numbers(), new Set<number>()];
        for (const { add, value } of history) {
          if (add) list.add(value);
          else expect(list.remove(value)).toBe(model.has(value));
          if (add) model.add(value);
          else model.delete(value);
        }
        const sorted = [...model].sort((a, b) => a - b);
        expect(list.size).toBe(sorted.length);
        expect(read(list)).toEqual(sorted);
        expect([...list.from((item) => item < bound)]).toEqual(sorted.filter((item) => item >= bound));
        expect([...list.downFrom((item) => item <= bound)]).toEqual(sorted.filter((item) => item <= bound).reverse());
      }),
    );
  });

  it('keeps its order through many chunks, and drops chunks that became empty', () => {
    const list = numbers();
    const shuffled = Array.from({ length: 5000 }, (_, i) => (i * 2741) % 5000);
    for (const value of shuffled) list.add(value);
    expect(read(list)).toEqual(Array.from({ length: 5000 }, (_, i) => i));
    expect([...list.from((item) => item < 4321)][0]).toBe(4321);
    expect(list.downFrom((item) => item < 300).next().value).toBe(299);
    for (const value of shuffled) if (value % 1000 !== 0) list.remove(value);
    expect(read(list)).toEqual([0, 1000, 2000, 3000, 4000]);
    for (const value of [0, 1000, 2000, 3000, 4000]) list.remove(value);
    expect(read(list)).toEqual([]);
    expect([...list.downFrom(() => true)]).toEqual([]);
  });

  it('replaces an item by one that is equal to it', () => {
    const list = new SortedList<{ key: number; text: string }>((a, b) => a.key - b.key);
    list.add({ key: 1, text: 'old' });
    list.add({ key: 1, text: 'new' });
    expect([...list.from(() => false)]).toEqual([{ key: 1, text: 'new' }]);
  });
});
