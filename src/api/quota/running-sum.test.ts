import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addQuantities, compareQuantities, formatQuantity, parseQuantity } from '../quantity.ts';
import { RunningSum } from './running-sum.ts';
import { zero } from './usage.ts';

const written = (sum: RunningSum) => formatQuantity(sum.value);
const adding = (...texts: readonly string[]) => {
  const sum = new RunningSum();
  for (const text of texts) sum.add(parseQuantity(text));
  return sum;
};

describe('a running sum', () => {
  test('of nothing is zero, and so is what is left when everything has gone', () => {
    expect(written(new RunningSum())).toBe('0');
    const sum = adding('1Gi', '500m');
    sum.subtract(parseQuantity('1Gi'));
    sum.subtract(parseQuantity('500m'));
    expect(sum.value).toEqual(zero);
  });

  test.each([
    [['1Gi', '1Gi'], '2Gi'],
    [['100m', '900m'], '1'],
    [['1G', '1G'], '2G'],
    [['1e3', '2e3'], '3e3'],
    [['0', '1Gi'], '1Gi'],
  ])('%j is %s', (texts, expected) => expect(written(adding(...texts))).toBe(expected));

  test('it is written as what is in it is, not as what once was', () => {
    const sum = adding('1Gi', '1G');
    sum.subtract(parseQuantity('1Gi'));
    expect(written(sum)).toBe('1G');
  });

  test('what dwarfs everything else swallows nothing', () => {
    const sum = adding('1Gi', '1e9000', '1e9000', '1Gi');
    expect(compareQuantities(sum.value, '1e9000')).toBeGreaterThan(0);
    sum.subtract(parseQuantity('1e9000'));
    sum.subtract(parseQuantity('1e9000'));
    expect(written(sum)).toBe('2Gi');
  });

  test('it is what adding up what is left gives', () => {
    const amounts = fc.constantFrom('0', '1', '3', '1500m', '1Gi', '3Mi', '107374182400m', '1G', '2e3', '1e2000', '1n').map(parseQuantity);
    const steps = fc.array(fc.record({ amount: amounts, drop: fc.boolean() }), { maxLength: 40 });
    fc.assert(
      fc.property(steps, (all) => {
        const sum = new RunningSum();
        const left: ReturnType<typeof parseQuantity>[] = [];
        for (const { amount, drop } of all) {
          const gone = drop ? left.shift() : undefined;
          if (gone === undefined) {
            left.push(amount);
            sum.add(amount);
          } else {
            sum.subtract(gone);
          }
          expect(compareQuantities(sum.value, left.reduce(addQuantities, zero))).toBe(0);
        }
        const formats = new Set(left.filter(({ unscaled }) => unscaled !== 0n).map(({ format }) => format));
        if (formats.size > 0) expect(formats).toContain(sum.value.format);
      }),
    );
  });
});
