import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { loadPatterns, Pattern, patternOf } from './pattern.ts';

beforeAll(loadPatterns);

const problemOf = (source: string): string => {
  const made = patternOf(source);
  return made instanceof Error ? made.message : 'none';
};

test.each([
  ['a(b', 'missing closing ): `a(b`'],
  ['a)b', 'unexpected ): `a)b`'],
  ['a[b', 'missing closing ]: `[b`'],
  ['a[', 'missing closing ]: `[`'],
  ['[z-a]', 'invalid character class range: `z-a`'],
  ['[[:word:][:foo:]]', 'invalid character class range: `[:foo:]`'],
  ['*a', 'missing argument to repetition operator: `*`'],
  ['a|*', 'missing argument to repetition operator: `*`'],
  ['(?i)*', 'missing argument to repetition operator: `*`'],
  ['a**', 'invalid nested repetition operator: `**`'],
  ['a*+', 'invalid nested repetition operator: `*+`'],
  ['a??*', 'invalid nested repetition operator: `??*`'],
  ['a{1001}', 'invalid repeat count: `{1001}`'],
  ['a{3,2}', 'invalid repeat count: `{3,2}`'],
  ['((a{100}){100}){100}', 'invalid repeat count: `{100}`'],
  ['a\\', 'trailing backslash at end of expression: ``'],
  ['\\1', 'invalid escape sequence: `\\1`'],
  ['\\8', 'invalid escape sequence: `\\8`'],
  ['\\C', 'invalid escape sequence: `\\C`'],
  ['\\Z', 'invalid escape sequence: `\\Z`'],
  ['[\\b]', 'invalid escape sequence: `\\b`'],
  ['[a-\\d]', 'invalid escape sequence: `\\d`'],
  ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['(?!a)', 'invalid or unsupported Perl syntax: `(?!`'],
  ['(?<=a)', 'invalid named capture: `(?<=a)`'],
  ['(?P<1 2>a)', 'invalid named capture: `(?P<1 2>`'],
  ['\\p{Klingon}', 'invalid character class range: `\\p{Klingon}`'],
])('%s is no pattern: %s', (source, problem) => {
  expect(problemOf(source)).toBe(`error parsing regexp: ${problem}`);
});

test('patterns that nest too deeply, or grow too large, are refused before they cost anything', () => {
  const deep = '('.repeat(1_001) + ')'.repeat(1_001);
  expect(problemOf(deep)).toBe(`error parsing regexp: expression nests too deeply: \`${deep}\``);
  const large = `(${'a'.repeat(3_000)}){1000}`;
  expect(problemOf(large)).toBe(`error parsing regexp: expression too large: \`${large}\``);
  expect(problemOf('a'.repeat(10_001))).toBe('error parsing regexp: expression too large');
  expect(problemOf('(x{1000}){1000}')).toBe('error parsing regexp: invalid repeat count: `{1000}`');
  expect(problemOf('a'.repeat(10_000))).toBe('none');
});

const cases: readonly (readonly [pattern: string, matching: readonly string[], other: readonly string[]])[] = [
  ['^a$', ['a'], ['a\n', '\na', 'ab']],
  ['(?m)^a$', ['a', 'b\na\nb'], ['ab']],
  ['a.b', ['a-b', 'a\rb', 'a😀b'], ['a\nb', 'ab']],
  ['(?s)a.b', ['a\nb'], []],
  ['^\\s$', [' ', '\t', '\f'], ['\v', '\u00a0', '']],
  ['^[[:space:]]$', ['\v', ' '], ['a']],
  ['^[^[:alpha:]\\d]+$', ['-_-'], ['a', '1']],
  ['^[]a-]+$', [']a-'], ['b']],
  ['^[^]a]$', ['b', '\n'], [']', 'a']],
  ['^[a\\-z]+$', ['a-z'], ['b']],
  ['^\\Qa.*b\\E*$', ['a.*', 'a.*bbb'], ['axb']],
  ['^a{,2}$', ['a{,2}'], ['aa']],
  ['^a{2,}$', ['aa', 'aaaa'], ['a']],
  ['^(?i)straße|K$', ['STRAßE', 'k', '\u212a'], ['x']],
  ['^(?i:a)b$', ['Ab', 'ab'], ['AB']],
  ['^(?i:a(?-i)b)$', ['Ab'], ['AB']],
  ['^\\p{Lu}\\pL*$', ['Ärger'], ['ärger', '1']],
  ['^\\p{Greek}+$', ['λόγος'], ['logos']],
  ['^[\\x41\\x{1F600}\\101]$', ['A', '😀'], ['B']],
  ['\\bfoo\\b', ['a foo b', 'foo'], ['foobar', 'äfoox']],
  ['^.$', ['😀', 'ä'], ['ab']],
  ['^(?P<year>\\d{4})-(?<month>\\d\\d)$', ['2026-11'], ['20261']],
  ['', ['', 'anything'], []],
  ['^(|a)+$', ['', 'aaa'], ['b']],
];

test.each(cases)('%s', (source, matching, other) => {
  const pattern = new Pattern(source);
  for (const text of matching) expect([text, pattern.test(text)]).toEqual([text, true]);
  for (const text of other) expect([text, pattern.test(text)]).toEqual([text, false]);
});

test('what is found is the leftmost, and of those the first that was written', () => {
  expect(new Pattern('a|ab').find('xab')).toBe('a');
  expect(new Pattern('ab|a').find('xab')).toBe('ab');
  expect(new Pattern('a+?').find('aaa')).toBe('a');
  expect(new Pattern('(?U)a+').find('aaa')).toBe('a');
  expect(new Pattern('b').find('a')).toBeUndefined();
});

test('all that is found does not overlap', () => {
  expect(new Pattern('[0-9]+').findAll('1 22 333')).toEqual(['1', '22', '333']);
  expect(new Pattern('[0-9]+').findAll('1 22 333', 2)).toEqual(['1', '22']);
  expect(new Pattern('a*').findAll('baab')).toEqual(['', 'aa', '']);
  expect(new Pattern('^a').findAll('aaa')).toEqual(['a']);
  expect(new Pattern('').findAll('😀')).toEqual(['', '']);
});

/** Patterns that mean the same in both notations: nothing that may be empty is repeated, where the two count iterations differently. */
const { pattern: patterns } = fc.letrec<{ pattern: string; sequence: string; atom: string; solid: string }>((tie) => ({
  pattern: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map((options) => options.join('|')),
  sequence: fc.array(tie('atom'), { maxLength: 4 }).map((parts) => parts.join('')),
  atom: fc.oneof(
    { maxDepth: 2, depthIdentifier: 'nesting' },
    tie('solid'),
    fc.tuple(tie('solid'), fc.constantFrom('*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{0,2}?')).map(([of, times]) => `${of}${times}`),
    tie('pattern').map((inside) => `(${inside})`),
    fc.constantFrom('^', '$', '\\b', '\\B'),
  ),
  solid: fc.oneof(
    fc.constantFrom('a', 'b', '[ab]', '[^a]', '\\w', '\\d', '-'),
    tie('atom').map((inside) => `(?:a${inside})`),
  ),
}));

test('a text matches where it would by going back and trying again', () => {
  fc.assert(
    fc.property(patterns, fc.string({ unit: fc.constantFrom('a', 'b', '-', '1'), maxLength: 8 }), (source, text) => {
      const [ours, theirs] = [new Pattern(source), new RegExp(source, 'u')];
      return ours.test(text) === theirs.test(text) && ours.find(text) === theirs.exec(text)?.[0];
    }),
    { numRuns: 2_000 },
  );
});

test('no text takes long: what would be tried in 2^30 ways is read once', () => {
  const text = 'a'.repeat(20_000);
  for (const source of ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '^([a-z]+)*$', '(.*)*x', '(a?){30}a{30}'])
    expect(new Pattern(source).test(`${text}!`)).toBe(source === '(a?){30}a{30}');
});
