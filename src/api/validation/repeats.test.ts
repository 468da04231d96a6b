import { expect, test } from 'vitest';
import { repeats } from './repeats.ts';

test('an item that was there before is repeated, the first one is not', () => {
  expect(repeats(['a', 'b', 'a', 'a', 1, '1', 1])).toEqual([false, false, true, true, false, false, true]);
});
