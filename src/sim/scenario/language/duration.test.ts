import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDuration, parseDuration } from './duration.ts';

test.each([
  ['0s', 0],
  ['90s', 90_000],
  ['6m30s', 390_000],
  ['1h', 3_600_000],
  ['1.5s', 1500],
  ['250ms', 250],
  ['2d', 172_800_000],
  ['30', 30_000],
  ['', undefined],
  ['soon', undefined],
  ['5 m', undefined],
  ['-5m', undefined],
  ['5x', undefined],
])('%s', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test('whole seconds are written as they are read', () => {
  fc.assert(fc.property(fc.nat(10_000_000), (seconds) => parseDuration(formatDuration(seconds * 1000)) === seconds * 1000));
});

test('short times show tenths', () => {
  expect([1, 1234, 9999, 10_001, 3_600_000, 3_661_000].map(formatDuration)).toEqual(['0s', '1.2s', '9.9s', '10s', '1h', '1h1m1s']);
});
