/** Regular expressions as Go (RE2) has them, by re2js. The patterns come from users: docs/decisions/0015-regular-expressions.md. */
import { LRUCache } from 'lru-cache';
import type { RE2JS } from 're2js';
import { patternCost } from './pattern-cost.ts';

/** In the words of Go's regexp/syntax. */
export class PatternError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PatternError';
  }
}

/** A pattern of this cost takes some fifty milliseconds to compile. re2js needs 7 seconds and 800 MB to find that one of 3 MB is too large. */
export const maxPatternCost = 10_000;

type Engine = typeof import('re2js');

let engine: Engine | undefined;
let loading: Promise<Engine> | undefined;

/** Loaded with CEL: most servers never see a pattern. */
export async function loadPatterns(): Promise<void> {
  engine = await (loading ??= import('re2js'));
}

export class Pattern {
  readonly #compiled: RE2JS;

  /** @throws PatternError */
  constructor(source: string) {
    this.#compiled = compile(source);
  }

  /** Whether it matches anywhere. */
  test(text: string): boolean {
    return this.#compiled.test(text);
  }

  /** The leftmost match. */
  find(text: string): string | undefined {
    return this.findAll(text, 1)[0];
  }

  /** Matches that do not overlap, from left to right. As in Go, an empty match right behind another does not count. */
  findAll(text: string, limit = Number.POSITIVE_INFINITY): string[] {
    const found: string[] = [];
    const matcher = this.#compiled.matcher(text);
    for (let lastEnd = -1; found.length < limit && matcher.find(); lastEnd = matcher.end()) {
      if (matcher.end() > matcher.start() || matcher.start() !== lastEnd) found.push(matcher.group() ?? '');
    }
    return found;
  }
}

const tooLarge = 'error parsing regexp: expression too large';

function compile(source: string): RE2JS {
  if (engine === undefined) throw new Error('loadPatterns() has not finished');
  const { cost, isRefused } = patternCost(source, maxPatternCost);
  if (cost > maxPatternCost && !isRefused) throw new PatternError(source.length > maxPatternCost ? tooLarge : quoted(tooLarge, source));
  try {
    return engine.RE2JS.compile(source);
  } catch (error) {
    if (!(error instanceof engine.RE2JSException)) throw error;
    throw new PatternError(quoted(error.message, source));
  }
}

/** Go quotes after every problem: the whole expression, or the rest of it, also if nothing is left. */
function quoted(problem: string, source: string): string {
  if (problem.endsWith('trailing backslash at end of expression')) return `${problem}: \`\``;
  return problem.endsWith('expression nests too deeply') || problem.endsWith('expression too large') ? `${problem}: \`${source}\`` : problem;
}

/** Bounded by the length of the sources too: a compiled pattern takes some ten bytes for each character, and hostile ones far more. */
const compiled = new LRUCache<string, Pattern | PatternError>({ max: 10_000, maxSize: 1_000_000, sizeCalculation: (_, source) => source.length + 1 });

export function patternOf(source: string): Pattern | PatternError {
  let known = compiled.get(source);
  if (known === undefined) {
    known = attempt(source);
    compiled.set(source, known);
  }
  return known;
}

function attempt(source: string): Pattern | PatternError {
  try {
    return new Pattern(source);
  } catch (error) {
    if (error instanceof PatternError) return error;
    throw error;
  }
}
