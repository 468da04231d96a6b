import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { freeAddress, freeBlock } from './addresses.ts';

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

describe('a block for the pods of a node', () => {
  const meets = (a: string, b: string): boolean => {
    const [from, to] = [a, b].map((cidr) => {
      const [address = '', prefix = ''] = cidr.split('/');
      const base = address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
      return { base, end: base + 2 ** (32 - Number(prefix)) };
    });
    return from !== undefined && to !== undefined && from.base < to.end && to.base < from.end;
  };

  test('is the same with each start, and another for another node', () => {
    expect(freeBlock('/data/a', [])).toBe(freeBlock('/data/a', []));
    expect(freeBlock('/data/a', [])).not.toBe(freeBlock('/data/b', []));
    expect(freeBlock('/data/a', [])).toMatch(/^10\.\d+\.\d+\.0\/22$/);
  });

  test('meets nothing that is taken', () => {
    const first = freeBlock('/data/a', []);
    const second = freeBlock('/data/a', [first]);
    expect(meets(first, second)).toBe(false);
    expect(meets(freeBlock('/data/a', ['10.0.0.0/8']), '10.0.0.0/8')).toBe(false);
    expect(freeBlock('/data/a', ['nothing to read'])).toBe(first);
  });

  test('where everything is taken, is inside of a wider one', () => {
    const block = freeBlock('/data/a', ['10.0.0.0/8', '172.16.0.0/12', '100.64.0.0/10', '192.168.0.0/16', freeBlock('/data/a', [])]);
    expect(meets(block, '10.0.0.0/8')).toBe(true);
    expect(meets(block, freeBlock('/data/a', []))).toBe(false);
    expect(freeBlock('/data/a', ['0.0.0.0/0'])).toBe(freeBlock('/data/a', []));
  });
});
