import { expect, test } from 'vitest';
import { loadCel } from './environment.ts';

const self = { list: [{ a: 1n }, {}], map: { x: { a: { b: 1n } } } };

test.each([
  ['has(self.list[0].a)', true],
  ['has(self.list[1].a)', false],
  ['has(self.map["x"].a.b)', true],
  ['has(self.map["x"].a.c)', false],
  ['self.list.exists(one, has(one.a))', true],
  ['has(self.list.filter(one, has(one.a))[0].a)', true],
  ['has(self.map.x.a)', true],
  ['!has(self.list[1].a) || self.list[1].a == 1', true],
])('%s is %s', async (text, expected) => {
  expect((await loadCel()).compile(text).evaluate({ self })).toBe(expected);
});

test('an element that does not exist is an error, and so is has() of no field', async () => {
  const cel = await loadCel();
  expect(() => cel.compile('has(self.list[7].a)').evaluate({ self })).toThrow();
  expect(() => cel.compile('has(self.map.y.a.b)').evaluate({ self })).toThrow();
  expect(() => cel.compile('has(self.list[0])')).toThrow('has() invalid argument');
  expect(() => cel.compile('has(unknown[0].a)')).toThrow();
});

test('the parts of an operand cost as much as elsewhere', async () => {
  const cel = await loadCel();
  const long = { list: Array.from({ length: 500 }, () => ({ a: 1n })) };
  const { cost } = cel.compile('has(self.list.filter(one, one.a == 1)[0].a)').run({ self: long });
  expect(cost).toBeGreaterThan(500);
});
