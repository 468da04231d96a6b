/** Each mutation operator finds its places, and what it plants is the bug that its name says. */
import { expect, test } from 'vitest';
import { chosen, mutantsOf, mutate, noted, operatorNames } from '../../scripts/mutate/operators.mjs';

const planted: readonly [operator: string, before: string, after: readonly string[]][] = [
  ['negated condition', 'const a = b ? 1 : 2;', ['const a = !(b) ? 1 : 2;']],
  ['negated condition', 'if (x > 1) f();', ['if (!(x > 1)) f();']],
  ['dropped await', 'async () => { await f(); const x = await g(); };', ['async () => { void f(); const x = await g(); };']],
  ['swapped writes', 'async () => { await f(); g(); h(); };', ['async () => { g(); await f(); h(); };']],
  ['swapped writes', "const all = [{ do: 'a' }, b()];", ["const all = [b(), { do: 'a' }];"]],
  ['swapped writes', 'const all = [a(), b()];', []],
  ['removed precondition', 'function f() { if (x) return 1; return 2; }', ['function f() { ; return 2; }']],
  ['removed precondition', 'remove(x, { preconditions: { uid }, uid });', ['remove(x, { ...{}, uid });', 'remove(x, { preconditions: { ...{} }, uid });']],
  ['revision off by one', 'const is = a.revision < b;', ['const is = (a.revision) <= (b);', 'const is = (a.revision - -1) < b;']],
  ['revision off by one', 'isNewer(a, b);', ['!isNewer(b, a);']],
];

test.each(planted)('%s: %s', (operator, before, after) => {
  const found = mutantsOf('a.ts', before).filter((mutant) => mutant.operator === operator);
  expect(found.map((mutant) => mutate(before, mutant, mutant.replace))).toEqual(after);
});

test('a cached read is the answer of the last one', () => {
  const [mutant] = mutantsOf('a.ts', 'client.get(kind, { name });').filter(({ operator }) => operator === 'cached instead of live read');
  expect(mutant?.replace).toBe('cachedRead(cachedReadsOf(client, kind), JSON.stringify([{ name }]), () => client.get(kind, { name }))');
  expect(mutant?.appended).toContain('function cachedRead');
});

test('every operator is tested here', () => {
  expect([...new Set([...planted.map(([operator]) => operator), 'cached instead of live read'])].sort()).toEqual([...operatorNames].sort());
});

test('a note runs with the place, and changes nothing', () => {
  const before = "const all = f(await g() ? 1 : 2, { preconditions: { uid } }, [{ do: 'a' }, b()]); if (x) throw all;";
  const texts = mutantsOf('a.ts', before).map((mutant) => mutate(before, { start: mutant.start, end: mutant.end }, noted(mutant, 'note()')));
  expect(texts).toHaveLength(6);
  for (const text of texts) {
    expect(text.split('note()')).toHaveLength(2);
    expect(() => mutantsOf('a.ts', text)).not.toThrow();
  }
});

test('both texts are there, and a condition chooses', () => {
  const before = "async () => { await f(); if (x) return [{ do: 'a' }, g({ preconditions: { uid } })]; return x ? 1 : 2; };";
  const mutants = mutantsOf('a.ts', before);
  expect(new Set(mutants.map(({ form }) => form))).toEqual(new Set(['statements', 'expression', 'elements', 'property']));
  for (const mutant of mutants) {
    const text = mutate(before, { start: mutant.start, end: mutant.end }, chosen(mutant, 'is()'));
    expect(text).toContain('is()');
    expect(() => mutantsOf('a.ts', text)).not.toThrow();
  }
});

const probed: readonly [before: string, operator: string, after: string][] = [
  ['const is = a.revision < b;', 'revision off by one', '((a.revision < b) === ((a.revision) <= (b)) ? (a.revision < b) : (note(), (a.revision < b)))'],
  ['const is = next().revision < b;', 'revision off by one', '(note(), next().revision < b)'],
  ['function f() { if (x.has(1)) return 1; return 2; }', 'removed precondition', 'if (x.has(1)) { note(); return 1; }'],
  ['function f() { if (take(x)) return 1; return 2; }', 'removed precondition', '{ note(); if (take(x)) return 1; }'],
];

test.each(probed)('a note of %s runs only if the mutant makes a difference, where that can be told', (before, operator, after) => {
  const mutant = mutantsOf('a.ts', before).find((each) => each.operator === operator);
  expect(mutant === undefined ? undefined : noted(mutant, 'note()')).toBe(after);
});
