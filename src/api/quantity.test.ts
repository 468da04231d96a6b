import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  isZeroQuantity,
  negateQuantity,
  parseQuantity,
  type Quantity,
  QuantityError,
  quantityMilliValue,
  quantityOf,
  quantitySign,
  quantityToNumber,
  quantityValue,
  roundUpToMilli,
  subtractQuantities,
} from './quantity.ts';

const exact = (quantity: Quantity | string): [bigint, number] => {
  const { unscaled, exponent } = typeof quantity === 'string' ? parseQuantity(quantity) : quantity;
  return [unscaled, exponent];
};

describe('canonical text', () => {
  it.each([
    // Seen on a running Kubernetes v1.36.
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['1000M', '1G'],
    ['1000000', '1M'],
    ['0.1Gi', '107374182400m'],
    ['1048576', '1048576'],
    ['1e3', '1e3'],
    ['12e6', '12e6'],
    ['1500m', '1500m'],
    ['2000000Ki', '2000000Ki'],
    // Units go up as far as the number stays whole, and in steps of a thousand.
    ['0', '0'],
    ['0Ki', '0'],
    ['-0', '0'],
    ['00', '0'],
    ['+', '0'],
    ['.', '0'],
    ['1', '1'],
    ['.001', '1m'],
    ['.0001k', '100m'],
    ['0.5', '500m'],
    ['9.01', '9010m'],
    ['10000', '10k'],
    ['1100', '1100'],
    ['40T', '40T'],
    ['0.0001', '100u'],
    ['1.40e9', '1400e6'],
    ['0.5e-1', '50e-3'],
    ['1e4', '10e3'],
    // Powers of two that are no whole number, or below 1024, are said in decimals.
    ['.001Ki', '1024m'],
    ['.000001Ki', '1024u'],
    ['.000000001Ki', '1024n'],
    ['.000000000001Ki', '2n'],
    ['100.035Ki', '102435840m'],
    ['0.5Ki', '512'],
    ['0.5Mi', '512Ki'],
    ['-1.5Gi', '-1536Mi'],
    // Nothing is finer than a nano: up, away from zero.
    ['0.9n', '1n'],
    ['3.001n', '4n'],
    ['-0.9n', '-1n'],
    ['0.00000012345', '124n'],
    // An int64 is the limit of what counts in bytes.
    ['9Ei', '9223372036854775807'],
    ['9223372036854775807Ki', '9223372036854775807'],
    ['-9Ei', '-9223372036854775807'],
    // Kept as written, although another text would be canonical.
    ['1.500', '1.500'],
    ['1.', '1.'],
    ['1.G', '1.G'],
    ['100.035k', '100.035k'],
    ['+1', '+1'],
    ['01Gi', '01Gi'],
    ['1E-3', '1E-3'],
    // Beyond the units.
    ['1000E', '1e21'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
  ])('%s → %s', (given, printed) => {
    expect(canonicalQuantity(given)).toBe(printed);
  });

  const format = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  const suffix = "unable to parse quantity's suffix";
  it.each([
    ['', format],
    ['1.2.3', format],
    ['1 Gi', format],
    ['1g', format],
    ['abc', format],
    ['1Gi5x', format],
    ['٣', format],
    ['1e', suffix],
    ['1ee3', suffix],
    ['1i', suffix],
    ['1Ki3', suffix],
    ['1-3', suffix],
    ['1KiB', format],
    ['Ei', 'unable to parse numeric part of quantity'],
    ['-.e-12', 'unable to parse numeric part of quantity'],
    ['1e99999999999999999999', suffix],
    ['9'.repeat(5000), 'unable to parse numeric part of quantity'],
  ])('refuses %j', (given, message) => {
    expect(() => parseQuantity(given)).toThrow(message);
  });
});

const anyQuantityText = fc
  .tuple(
    fc.constantFrom('', '-', '+'),
    fc.bigInt({ min: 0n, max: 10n ** 22n }),
    fc.option(fc.stringMatching(/^[0-9]{0,12}$/), { nil: undefined }),
    fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei', 'e3', 'E-2', 'e+7', 'e0'),
  )
  .map(([sign, whole, fraction, suffix]) => `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${suffix}`);

describe('laws', () => {
  it('printing and reading again gives the same amount, and the same text', () => {
    fc.assert(
      fc.property(anyQuantityText, (text) => {
        const printed = canonicalQuantity(text);
        expect(compareQuantities(printed, text)).toBe(0);
        expect(canonicalQuantity(printed)).toBe(printed);
      }),
    );
  });

  it('sums are exact: a + b - b = a, in any order', () => {
    fc.assert(
      fc.property(anyQuantityText, anyQuantityText, (a, b) => {
        expect(compareQuantities(subtractQuantities(addQuantities(a, b), b), a)).toBe(0);
        expect(compareQuantities(addQuantities(a, b), addQuantities(b, a))).toBe(0);
        expect(isZeroQuantity(addQuantities(a, negateQuantity(a)))).toBe(true);
      }),
    );
  });

  it('comparing agrees with the sign of the difference', () => {
    fc.assert(
      fc.property(anyQuantityText, anyQuantityText, (a, b) => {
        expect(Math.sign(compareQuantities(a, b))).toBe(quantitySign(subtractQuantities(a, b)));
      }),
    );
  });
});

describe('arithmetic', () => {
  it('keeps the format of the first summand, or of the second if the first is zero', () => {
    expect(formatQuantity(addQuantities('1Gi', '1G'))).toBe('2073741824');
    expect(formatQuantity(addQuantities('1Gi', '1Gi'))).toBe('2Gi');
    expect(formatQuantity(addQuantities('0', '1Gi'))).toBe('1Gi');
    expect(formatQuantity(subtractQuantities('0', '1Ki'))).toBe('-1Ki');
    expect(formatQuantity(addQuantities('100m', '900m'))).toBe('1');
  });

  it('values are rounded away from zero, and end at an int64', () => {
    expect(quantityValue('1.1')).toBe(2n);
    expect(quantityValue('-1.1')).toBe(-2n);
    expect(quantityValue('1n')).toBe(1n);
    expect(quantityValue('1Gi')).toBe(1073741824n);
    expect(quantityValue('1e999999999')).toBe(2n ** 63n - 1n);
    expect(quantityMilliValue('0.0001')).toBe(1n);
    expect(quantityMilliValue('1.5')).toBe(1500n);
    expect(quantityToNumber('1.5Ki')).toBe(1536);
  });

  it('rounds up to thousandths, as entries of resource lists are', () => {
    expect(formatQuantity(roundUpToMilli(parseQuantity('0.0001')))).toBe('1m');
    expect(formatQuantity(roundUpToMilli(parseQuantity('-1u')))).toBe('-1m');
    expect(formatQuantity(roundUpToMilli(parseQuantity('1.500')))).toBe('1.500');
  });

  it('is not hung by absurd exponents', () => {
    expect(compareQuantities('1e2147483647', '9Ei')).toBeGreaterThan(0);
    expect(compareQuantities('-1e2147483647', '9Ei')).toBeLessThan(0);
    expect(compareQuantities('1e2147483646', '10e2147483645')).toBe(0);
    expect(exact(addQuantities('1e2147483647', '1'))).toEqual([1n, 2147483647]);
    expect(canonicalQuantity('1e-2147483648')).toBe('1e-9');
    expect(canonicalQuantity('1234567890123456789e2147483')).toBe('123456789012345678900e2147481');
    expect(formatQuantity(quantityOf(2048, 'BinarySI'))).toBe('2Ki');
  });
});

it('reads a long text once', () => {
  for (const text of ['0'.repeat(4000), '1'.repeat(4000), `.${'0'.repeat(4000)}`, '0'.repeat(2000) + '1'.repeat(2000)])
    expect(() => parseQuantity(`${text}!`)).toThrow(QuantityError);
});
