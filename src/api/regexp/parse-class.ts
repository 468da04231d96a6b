/** What stands in brackets. */
import { anyOf, not, perlClasses, posixClasses, range, unicodeClass } from './characters.ts';
import { parseEscape } from './parse-escape.ts';
import { type CharacterTest, PatternError } from './syntax.ts';

interface Parsed {
  readonly test: CharacterTest;
  readonly end: number;
}

/** `[a-z]`, `[^[:alpha:]\d]`. The first `]` is a character if nothing stands before it. */
export function parseClass(text: string, start: number): Parsed {
  let at = start + 1;
  const negated = text[at] === '^';
  if (negated) at++;
  const first = at;
  const tests: CharacterTest[] = [];
  while (at === first || text[at] !== ']') {
    if (at >= text.length) throw new PatternError('missing closing ]', text.slice(start));
    const { test, end } = parsePosixClass(text, at) ?? parseUnicodeClass(text, at) ?? parsePerlClass(text, at) ?? parseRange(text, { start, at });
    tests.push(test);
    at = end;
  }
  return { test: negated ? not(anyOf(tests)) : anyOf(tests), end: at + 1 };
}

function parsePosixClass(text: string, at: number): Parsed | undefined {
  if (!text.startsWith('[:', at)) return undefined;
  const close = text.indexOf(':]', at + 2);
  if (close < 0) return undefined;
  const name = text.slice(at + 2, close);
  const known = posixClasses.get(name.replace(/^\^/, ''));
  if (known === undefined) throw new PatternError('invalid character class range', text.slice(at, close + 2));
  return { test: name.startsWith('^') ? not(known) : known, end: close + 2 };
}

/** `\pL`, `\p{Greek}`, `\P{^Lu}`. */
export function parseUnicodeClass(text: string, at: number): Parsed | undefined {
  const found = /^\\([pP])(?:\{(\^?)([^}]*)\}|(.))/su.exec(text.slice(at, at + LONGEST));
  if (found === null) {
    if (/^\\[pP]/.test(text.slice(at, at + 2))) throw new PatternError('invalid character class range', text.slice(at));
    return undefined;
  }
  const [whole, letter, caret = '', name, single = ''] = found;
  const known = unicodeClass(name ?? single);
  if (known === undefined) throw new PatternError('invalid character class range', whole);
  return { test: (letter === 'P') !== (caret === '^') ? not(known) : known, end: at + whole.length };
}

const LONGEST = 80;

function parsePerlClass(text: string, at: number): Parsed | undefined {
  const known = text[at] === '\\' ? perlClasses.get(text[at + 1] ?? '') : undefined;
  return known === undefined ? undefined : { test: known, end: at + 2 };
}

/** One character, or all from one to another. */
function parseRange(text: string, { start, at }: { start: number; at: number }): Parsed {
  const low = parseCharacter(text, { start, at });
  if (text[low.end] !== '-' || low.end + 1 >= text.length || text[low.end + 1] === ']') return { test: range(low.codePoint, low.codePoint), end: low.end };
  const high = parseCharacter(text, { start, at: low.end + 1 });
  if (high.codePoint < low.codePoint) throw new PatternError('invalid character class range', text.slice(at, high.end));
  return { test: range(low.codePoint, high.codePoint), end: high.end };
}

function parseCharacter(text: string, { start, at }: { start: number; at: number }): { codePoint: number; end: number } {
  const codePoint = text.codePointAt(at);
  if (codePoint === undefined) throw new PatternError('missing closing ]', text.slice(start));
  return text[at] === '\\' ? parseEscape(text, at) : { codePoint, end: at + String.fromCodePoint(codePoint).length };
}
