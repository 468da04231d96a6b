import fc from 'fast-check';
import { expect, test } from 'vitest';
import { freeAddress } from './addresses.ts';

const number = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

test('every holder gets an address of its own, until there are no more', () => {
  fc.assert(
    fc.property(fc.integer({ min: 24, max: 30 }), fc.array(fc.uuid(), { maxLength: 300 }), (prefix, holders) => {
      const taken = new Set<string>();
      const usable = 2 ** (32 - prefix) - 2;
      for (const holder of holders) {
        const address = freeAddress(`10.9.8.0/${prefix}`, taken, holder);
        if (address === undefined) {
          expect(taken.size).toBe(usable);
          return;
        }
        expect(taken).not.toContain(address);
        expect(number(address)).toBeGreaterThan(number('10.9.8.0'));
        expect(number(address)).toBeLessThan(number('10.9.8.0') + usable + 1);
        taken.add(address);
      }
    }),
  );
});

test('a block is what its prefix says, wherever in it its name points', () => expect(freeAddress('10.9.8.77/24', new Set(), '')).toMatch(/^10\.9\.8\./));

test.each(['', '10.0.0.0', '10.0.0.0/33', '10.0.0.0/32', '10.0.0.0/31', '10.0.0.256/24', 'fd00::/64'])('%j has no address to give', (cidr) =>
  expect(freeAddress(cidr, new Set(), 'x')).toBeUndefined(),
);
