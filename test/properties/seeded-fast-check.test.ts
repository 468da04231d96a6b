import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertySeed } from './seeded-fast-check.ts';

test('property tests draw from the seed of the run', () => {
  const drawn: number[] = [];
  const property = fc.property(fc.integer(), (each) => {
    drawn.push(each);
  });
  fc.assert(property, { numRuns: 20 });
  fc.assert(property, { numRuns: 20, seed: propertySeed });
  expect(drawn.slice(0, 20)).toEqual(drawn.slice(20));
});
