import { PatternError } from './syntax.ts';

const controls: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };
const MAX_CODE_POINT = 0x10ffff;

/** A backslash and what it stands for: one character. */
export function parseEscape(text: string, at: number): { readonly codePoint: number; readonly end: number } {
  const rest = text.slice(at, at + LONGEST);
  if (rest.length === 1) throw new PatternError('trailing backslash at end of expression', '');
  const letter = rest[1] ?? '';
  const control = Object.hasOwn(controls, letter) ? controls[letter] : undefined;
  if (control !== undefined) return { codePoint: control, end: at + 2 };
  // A single digit would be a reference to a group, and there are none.
  const octal = /^\\(0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(rest);
  if (octal !== null) return { codePoint: Number.parseInt(octal[1] ?? '', 8), end: at + octal[0].length };
  const hexadecimal = /^\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})/.exec(rest);
  if (hexadecimal !== null) {
    const codePoint = Number.parseInt(hexadecimal[1] ?? hexadecimal[2] ?? '', 16);
    if (codePoint <= MAX_CODE_POINT) return { codePoint, end: at + hexadecimal[0].length };
  }
  const codePoint = rest.codePointAt(1) ?? 0;
  if (codePoint < 128 && !/[0-9A-Za-z]/.test(letter)) return { codePoint, end: at + 2 };
  const shown = letter === 'x' ? (/^\\x(\{[0-9A-Fa-f]*[^]?|[^]{0,2})/.exec(rest)?.[0] ?? rest) : `\\${String.fromCodePoint(codePoint)}`;
  throw new PatternError('invalid escape sequence', shown);
}

const LONGEST = 80;
