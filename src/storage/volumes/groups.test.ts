import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Groups } from './groups.ts';

test('groups hold what was added and not removed since, the oldest first', () => {
  const step = fc.record({ add: fc.boolean(), group: fc.constantFrom('a', 'b'), item: fc.constantFrom('x', 'y', 'z') });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const groups = new Groups<string>();
      const model = new Map<string, string[]>([
        ['a', []],
        ['b', []],
      ]);
      for (const { add, group, item } of steps) {
        const rest = (model.get(group) ?? []).filter((other) => other !== item);
        const isThere = rest.length < (model.get(group) ?? []).length;
        if (add) groups.add(group, item);
        else groups.remove(group, item);
        if (add && !isThere) model.set(group, [...rest, item]);
        if (!add) model.set(group, rest);
        for (const [name, items] of model) {
          expect([...groups.of(name)]).toEqual(items);
          expect(groups.firstOf(name)).toBe(items[0]);
          expect(groups.has(name)).toBe(items.length > 0);
        }
      }
    }),
  );
});
