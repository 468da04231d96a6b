import { expect, test } from 'vitest';
import { GenerationCache } from './generation-cache.ts';

test('an entry in use survives any number of others, one that is not is dropped', () => {
  const cache = new GenerationCache<string>(8);
  cache.set('used', '1');
  cache.set('unused', '2');
  for (let i = 0; i < 100; i++) {
    cache.set(`other-${i}`, String(i));
    expect(cache.get('used')).toBe('1');
  }
  expect(cache.get('unused')).toBeUndefined();
  expect(Array.from({ length: 100 }, (_, i) => cache.get(`other-${i}`)).filter((value) => value !== undefined).length).toBeLessThanOrEqual(8);
});
