import { describe, expect, test } from 'vitest';
import { accessModes, age, humanDuration } from './printer-columns.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('a duration is shown in two or three figures', () => {
  test.each([
    [-2 * SECOND, '<invalid>'],
    [-1999, '0s'],
    [-1, '0s'],
    [0, '0s'],
    [999, '0s'],
    [119 * SECOND, '119s'],
    [2 * MINUTE, '2m'],
    [2 * MINUTE + 5 * SECOND, '2m5s'],
    [9 * MINUTE + 59 * SECOND, '9m59s'],
    [10 * MINUTE + 59 * SECOND, '10m'],
    [179 * MINUTE, '179m'],
    [3 * HOUR, '3h'],
    [3 * HOUR + MINUTE, '3h1m'],
    [8 * HOUR + 59 * MINUTE, '8h'],
    [47 * HOUR, '47h'],
    [2 * DAY, '2d'],
    [2 * DAY + HOUR, '2d1h'],
    [8 * DAY + 23 * HOUR, '8d'],
    [729 * DAY, '729d'],
    [730 * DAY, '2y'],
    [731 * DAY, '2y1d'],
    [8 * 365 * DAY + 100 * DAY, '8y'],
  ])('%d ms: %s', (milliseconds, shown) => expect(humanDuration(milliseconds)).toBe(shown));
});

test('an age without a timestamp is unknown', () => {
  expect(age(undefined, 0)).toBe('<unknown>');
  expect(age(null, 0)).toBe('<unknown>');
  expect(age('1970-01-01T00:00:00.500000Z', 61_000)).toBe('60s');
});

test('access modes are shown once, in one order, and unknown ones not at all', () => {
  expect(accessModes(['ReadWriteOncePod', 'ReadWriteMany', 'ReadOnlyMany', 'ReadWriteOnce', 'ReadWriteOnce', 'Odd'])).toBe('RWO,ROX,RWX,RWOP');
  expect(accessModes(undefined)).toBe('');
});
