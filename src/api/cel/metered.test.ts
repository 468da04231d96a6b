import { beforeAll, expect, test } from 'vitest';
import { type Cel, loadCel, type Run } from './environment.ts';
import { CostLimitExceeded } from './metered.ts';

let cel: Cel;
beforeAll(async () => {
  cel = await loadCel();
});

const run = (text: string, self: unknown = null): Run => cel.compile(text).run({ self });
const numbers = (count: number): bigint[] => Array.from({ length: count }, (_, i) => BigInt(i));

test('an expression costs what it does: names, fields and calls one each, lists and maps more', () => {
  expect(run('true').cost).toBe(0);
  expect(run('self', 1n).cost).toBe(1);
  expect(run('self.a.b', { a: { b: 1n } }).cost).toBe(3);
  expect(run('1 + 2').cost).toBe(1);
  expect(run('[1, 2]').cost).toBe(10);
  expect(run("{'a': 1}").cost).toBe(30);
});

test('what grows with its arguments costs by them (v1.36.4: a tenth for each character)', () => {
  expect(run('self == self', 'x'.repeat(1_000)).cost).toBe(2 + 100);
  expect(run("self.matches('^x+$')", 'x'.repeat(999)).cost).toBe(1 + 100);
  expect(run('5 in self', numbers(1_000)).cost).toBe(1 + 1_000);
});

test('only evaluated parts of an expression cost', () => {
  expect(run('false && self.a.b.c == 1').cost).toBe(0);
  expect(run('self.all(x, x < 0)', numbers(1_000)).cost).toBeLessThan(20);
});

test('every element of a list costs, also in nested lists; the limit ends the evaluation', () => {
  const pairs = 'self.all(x, self.all(y, x + y >= 0))';
  expect(run(pairs, numbers(10)).cost).toBeGreaterThan(300);
  const { value, error } = run(pairs, numbers(2_000));
  expect(value).toBeUndefined();
  expect(error).toBeInstanceOf(CostLimitExceeded);
});

test('nothing takes an expression past its limit, not even operators that ignore errors', () => {
  expect(run('self.all(x, self.all(y, x + y >= 0)) || true', numbers(2_000)).error).toBeInstanceOf(CostLimitExceeded);
  expect(run('self.exists(x, (self.all(y, x + y >= 0) || true) && x < 0)', numbers(2_000)).error).toBeInstanceOf(CostLimitExceeded);
});

test('one expression after another starts anew', () => {
  run('self.all(x, self.all(y, x + y >= 0))', numbers(2_000));
  expect(run('self.a', { a: 1n })).toEqual({ value: 1n, cost: 2 });
});

test("matches() is Go's: with its errors, and in linear time", () => {
  expect(run("self.matches('(a+)+$')", `${'a'.repeat(5_000)}!`).value).toBe(false);
  expect(run("self.matches('(?=a)')", 'a').error?.message).toContain('error parsing regexp: invalid or unsupported Perl syntax: `(?=`');
  expect(run("matches(self, '^[[:lower:]]+$')", 'abc').value).toBe(true);
});
