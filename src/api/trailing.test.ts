import { expect, test } from 'vitest';
import { withoutTrailing } from './trailing.ts';

test.each([
  ['/a//', '/', '/a'],
  ['a-.-', '-.', 'a'],
  ['***', '*', ''],
  ['', '*', ''],
  ['a', '*', 'a'],
])('%j without %j at its end is %j', (text, characters, rest) => expect(withoutTrailing(text, characters)).toBe(rest));
