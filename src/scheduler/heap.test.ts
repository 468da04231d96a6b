import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Heap } from './heap.ts';

it('returns items in order, without the deleted ones', () => {
  const operation = fc.oneof(fc.record({ add: fc.integer({ min: 0, max: 50 }) }), fc.record({ drop: fc.nat({ max: 20 }) }), fc.constant('take' as const));
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
      const heap = new Heap<{ readonly value: number }>((a, b) => a.value < b.value);
      let model: { readonly value: number }[] = [];
      for (const each of operations) {
        if (each === 'take') {
          const taken = heap.take();
          expect(taken?.value).toBe(model.length === 0 ? undefined : Math.min(...model.map(({ value }) => value)));
          model = model.filter((item) => item !== taken);
        } else if ('add' in each) {
          const item = { value: each.add };
          heap.add(item);
          heap.add(item);
          model.push(item);
        } else {
          const item = model[each.drop];
          if (item === undefined) continue;
          expect(heap.delete(item)).toBe(true);
          expect(heap.delete(item)).toBe(false);
          model = model.filter((other) => other !== item);
        }
        expect(heap.size).toBe(model.length);
      }
      const rest: number[] = [];
      for (let next = heap.take(); next !== undefined; next = heap.take()) rest.push(next.value);
      expect(rest).toEqual(model.map(({ value }) => value).sort((a, b) => a - b));
    }),
  );
});
