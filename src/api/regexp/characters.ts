/** Sets of characters: what classes, escapes and case folding mean. */
import type { CharacterTest } from './syntax.ts';

export const any: CharacterTest = () => true;
export const anyButNewline: CharacterTest = (codePoint) => codePoint !== NEWLINE;
export const NEWLINE = 10;

export const range =
  (low: number, high: number): CharacterTest =>
  (codePoint) =>
    codePoint >= low && codePoint <= high;

export const not =
  (test: CharacterTest): CharacterTest =>
  (codePoint) =>
    !test(codePoint);

export const anyOf =
  (tests: readonly CharacterTest[]): CharacterTest =>
  (codePoint) =>
    tests.some((test) => test(codePoint));

/** 'a-z' 'A-Z' '_': a range each. */
const ranges = (...texts: readonly string[]): CharacterTest => anyOf(texts.map((text) => range(text.charCodeAt(0), text.charCodeAt(text.length - 1))));

const digit = ranges('0-9');
const space = ranges('\t-\n', '\f-\r', ' ');
export const isWordCharacter = ranges('0-9', 'A-Z', 'a-z', '_');

/** By the letter behind a backslash. */
export const perlClasses: ReadonlyMap<string, CharacterTest> = new Map([
  ['d', digit],
  ['D', not(digit)],
  ['s', space],
  ['S', not(space)],
  ['w', isWordCharacter],
  ['W', not(isWordCharacter)],
]);

/** By the name in `[:alpha:]`. */
export const posixClasses: ReadonlyMap<string, CharacterTest> = new Map([
  ['alnum', ranges('0-9', 'A-Z', 'a-z')],
  ['alpha', ranges('A-Z', 'a-z')],
  ['ascii', range(0, 0x7f)],
  ['blank', ranges('\t', ' ')],
  ['cntrl', anyOf([range(0, 0x1f), range(0x7f, 0x7f)])],
  ['digit', digit],
  ['graph', ranges('!-~')],
  ['lower', ranges('a-z')],
  ['print', ranges(' -~')],
  ['punct', ranges('!-/', ':-@', '[-`', '{-~')],
  ['space', ranges('\t-\r', ' ')],
  ['upper', ranges('A-Z')],
  ['word', isWordCharacter],
  ['xdigit', ranges('0-9', 'A-F', 'a-f')],
]);

const categories = /^(C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)$/;

/** A general category or a script, e.g. 'Lu', 'Greek'; undefined if there is none of that name. */
export function unicodeClass(name: string): CharacterTest | undefined {
  if (name === 'Any') return any;
  if (!/^\w+$/.test(name)) return undefined;
  const property = categories.test(name) ? name : `Script=${name}`;
  try {
    // One character at a time is matched with it: there is nothing to go back to.
    const expression = new RegExp(`^\\p{${property}}$`, 'u');
    return (codePoint) => expression.test(String.fromCodePoint(codePoint));
  } catch {
    return undefined;
  }
}

/** Whatever the case: a character is meant if any of its forms is. */
export function ignoringCase(test: CharacterTest): CharacterTest {
  return (codePoint) => test(codePoint) || otherCases(codePoint).some(test);
}

/** Letters that fold to ASCII ones without being these in another case: the signs of Kelvin, and the long s. */
const foldsToAscii: ReadonlyMap<number, readonly number[]> = new Map([
  [0x4b, [0x6b, 0x212a]],
  [0x6b, [0x4b, 0x212a]],
  [0x212a, [0x4b, 0x6b]],
  [0x53, [0x73, 0x17f]],
  [0x73, [0x53, 0x17f]],
  [0x17f, [0x53, 0x73]],
]);

function otherCases(codePoint: number): readonly number[] {
  const special = foldsToAscii.get(codePoint);
  if (special !== undefined) return special;
  const text = String.fromCodePoint(codePoint);
  const [upper, lower] = [text.toUpperCase(), text.toLowerCase()];
  return [upper, lower, upper.toLowerCase(), lower.toUpperCase()].flatMap((form) => {
    const other = form.codePointAt(0) ?? codePoint;
    // Beyond ASCII nothing folds into it: 'İ'.toLowerCase() begins with an i, and is none.
    return form.length === String.fromCodePoint(other).length && other < 128 === codePoint < 128 ? [other] : [];
  });
}
