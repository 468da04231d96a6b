import { expect, test } from 'vitest';
import { RecentMap } from './recent-map.ts';

test('what was not used for longest is forgotten first, and no more than that', () => {
  const map = new RecentMap<string, number>(3);
  for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3 })) map.set(key, value);
  expect(map.get('a')).toBe(1);
  map.set('d', 4);
  map.set('e', 5);
  expect(['a', 'b', 'c', 'd', 'e'].map((key) => map.get(key))).toEqual([1, undefined, undefined, 4, 5]);
  map.set('a', 6);
  map.set('f', 7);
  expect(map.size).toBe(3);
  expect(['a', 'd', 'e', 'f'].map((key) => map.get(key))).toEqual([6, undefined, 5, 7]);
});
