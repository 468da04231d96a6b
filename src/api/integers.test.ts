import { expect, test } from 'vitest';
import { int32, int64, readInteger, uint64 } from './integers.ts';

test.each([
  ['0', 0n],
  ['-0', 0n],
  ['+7', 7n],
  ['0007', 7n],
  [`${'0'.repeat(1_000_000)}7`, 7n],
  ['9223372036854775807', 2n ** 63n - 1n],
  ['-9223372036854775808', -(2n ** 63n)],
  ['9223372036854775808', 'range'],
  ['9'.repeat(3_000_000), 'range'],
  ['', 'syntax'],
  ['-', 'syntax'],
  ['1e3', 'syntax'],
  ['0x10', 'syntax'],
  [' 1', 'syntax'],
] as const)('an integer of 64 bits: %.20s', (text, value) => expect(readInteger(text, int64)).toBe(value));

test('the range is that of the type', () => {
  expect(readInteger('2147483648', int32)).toBe('range');
  expect(readInteger('18446744073709551615', uint64)).toBe(2n ** 64n - 1n);
  expect(readInteger('18446744073709551616', uint64)).toBe('range');
  expect(readInteger('-1', uint64)).toBe('range');
});
