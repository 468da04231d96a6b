import { expect, test } from 'vitest';
import { patternCost } from './pattern-cost.ts';

const cost = (source: string): number => patternCost(source, 1_000_000).cost;

test('repeats are unrolled, also within each other', () => {
  expect(cost('a{10}')).toBe(10);
  expect(cost('a{2,10}b')).toBe(11);
  expect(cost('a{10,}')).toBe(10);
  expect(cost('(a{10}){10}')).toBe(300);
  expect(cost('((a{10}){10}){10}')).toBe(3_200);
  expect(cost('{')).toBe(1);
  expect(cost('a{x}')).toBe(4);
});

test('classes cost more than letters', () => {
  expect(cost('\\pL')).toBeGreaterThan(cost('[a-z]'));
  expect(cost('\\d')).toBeGreaterThan(cost('a'));
  expect(cost('\\(')).toBe(1);
});

test('what is not balanced is counted as well', () => {
  expect(cost('))))')).toBe(4);
  expect(cost('(((a{1000}')).toBe(1_000);
});

test('what RE2 refuses by itself is left to it', () => {
  expect(patternCost('((a{100}){100}){100}', 10_000).isRefused).toBe(true);
  expect(patternCost('('.repeat(5_000), 100_000).isRefused).toBe(true);
  expect(patternCost('(a{1000}b){2}', 10_000).isRefused).toBe(true);
  expect(patternCost('(a{10}){10}', 10_000).isRefused).toBe(false);
});

test('counting stops at the limit', () => {
  expect(patternCost('a'.repeat(3_000_000), 10_000)).toEqual({ cost: 10_001, isRefused: false });
  expect(patternCost(`(${'a'.repeat(3_000)}){1000}`, 10_000)).toEqual({ cost: 10_001, isRefused: false });
});
