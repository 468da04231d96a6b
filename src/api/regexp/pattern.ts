import { findMatch, hasMatch } from './match.ts';
import { parsePattern } from './parse.ts';
import { compile, type Instruction } from './program.ts';
import { PatternError } from './syntax.ts';

/**
 * A regular expression as Go (RE2) has it: no references to groups, nothing that looks ahead; and no text on which it takes more than its length times
 * the pattern's. Whoever writes definitions or objects writes patterns and texts.
 */
export class Pattern {
  readonly #program: readonly Instruction[];

  /** @throws PatternError in Go's words */
  constructor(source: string) {
    this.#program = compile(parsePattern(source), source);
  }

  /** Whether it matches anywhere. */
  test(text: string): boolean {
    return hasMatch(this.#program, text);
  }

  /** The leftmost match. */
  find(text: string): string | undefined {
    const span = findMatch(this.#program, text, 0);
    return span === undefined ? undefined : text.slice(span.start, span.end);
  }

  /** Matches that do not overlap, from left to right; none that is empty stands right behind another. */
  findAll(text: string, limit = Number.POSITIVE_INFINITY): string[] {
    const found: string[] = [];
    let lastEnd = -1;
    for (let at = 0; found.length < limit && at <= text.length; ) {
      const span = findMatch(this.#program, text, at);
      if (span === undefined) break;
      const { start, end } = span;
      if (end > start || start !== lastEnd) found.push(text.slice(start, end));
      at = end > at ? end : at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
      lastEnd = end;
    }
    return found;
  }
}

/** Compiled once for each text, and what is kept is bounded: they come from outside. */
const compiled = new Map<string, Pattern | PatternError>();
const MAX_COMPILED = 10_000;

export function patternOf(source: string): Pattern | PatternError {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  const made = attempt(source);
  compiled.set(source, made);
  return made;
}

function attempt(source: string): Pattern | PatternError {
  try {
    return new Pattern(source);
  } catch (error) {
    if (error instanceof PatternError) return error;
    throw error;
  }
}
