/** Reads RE2's syntax as Go does (package regexp/syntax, flags Perl), with Go's words for what is wrong. */
import { any, anyButNewline, ignoringCase, perlClasses, range } from './characters.ts';
import { parseClass, parseUnicodeClass } from './parse-class.ts';
import { parseEscape } from './parse-escape.ts';
import { type Assertion, type CharacterTest, type Node, PatternError } from './syntax.ts';

export function parsePattern(text: string): Node {
  return new Parser(text).parse();
}

interface Flags {
  readonly ignoreCase: boolean;
  /** ^ and $ are about lines. */
  readonly multiLine: boolean;
  readonly dotMatchesNewline: boolean;
  /** x* takes as little as it can, x*? as much. */
  readonly lazy: boolean;
}

const MAX_DEPTH = 1_000;
const MAX_REPEAT = 1_000;
const UNBOUNDED = Number.POSITIVE_INFINITY;

class Parser {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  #flags: Flags = { ignoreCase: false, multiLine: false, dotMatchesNewline: false, lazy: false };
  readonly #names = new Set<string>();

  constructor(text: string) {
    this.#text = text;
  }

  parse(): Node {
    const node = this.#choice();
    if (this.#at < this.#text.length) throw new PatternError('unexpected )', this.#text);
    return node;
  }

  #choice(): Node {
    if (++this.#depth > MAX_DEPTH) throw new PatternError('expression nests too deeply', this.#text);
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    this.#depth--;
    return options.length === 1 ? (options[0] ?? empty) : { type: 'choice', options };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    let repeatedAt: number | undefined;
    while (this.#at < this.#text.length && this.#peek() !== '|' && this.#peek() !== ')') {
      const start = this.#at;
      const times = this.#repetition();
      if (times === undefined) {
        for (const part of this.#atom()) parts.push(part);
        repeatedAt = undefined;
        continue;
      }
      const operator = this.#text.slice(start, this.#at);
      if (repeatedAt !== undefined) throw new PatternError('invalid nested repetition operator', this.#text.slice(repeatedAt, this.#at));
      const of = parts.pop();
      if (of === undefined) throw new PatternError('missing argument to repetition operator', operator.replace(/(?<=.)\?$/, ''));
      parts.push(this.#repeat(of, times, operator));
      repeatedAt = start;
    }
    return parts.length === 1 ? (parts[0] ?? empty) : { type: 'sequence', parts };
  }

  #repeat(of: Node, { min, max, lazy }: Times, operator: string): Node {
    if (min > MAX_REPEAT || (max !== UNBOUNDED && (max > MAX_REPEAT || max < min))) throw new PatternError('invalid repeat count', operator);
    const node: Node = { type: 'repeat', of, min, max, greedy: lazy === this.#flags.lazy };
    if (Math.max(min, max === UNBOUNDED ? min : max) >= 2 && copiesOf(node) > MAX_REPEAT) throw new PatternError('invalid repeat count', operator);
    return node;
  }

  /** `*`, `+`, `?`, `{2,3}`; a brace that counts nothing is a character like any other. */
  #repetition(): Times | undefined {
    const found = repetition.exec(this.#text.slice(this.#at, this.#at + LONGEST_REPETITION));
    if (found === null) return undefined;
    this.#at += found[0].length;
    const [, sign, least = '', comma, most = ''] = found;
    const lazy = found[0].length > 1 && found[0].endsWith('?');
    if (sign === '*') return { min: 0, max: UNBOUNDED, lazy };
    if (sign === '+') return { min: 1, max: UNBOUNDED, lazy };
    if (sign === '?') return { min: 0, max: 1, lazy };
    const min = Number(least);
    return { min, max: comma === undefined ? min : most === '' ? UNBOUNDED : Number(most), lazy };
  }

  /** What a repetition may follow; nothing for flags. */
  #atom(): readonly Node[] {
    const character = this.#peek();
    switch (character) {
      case '(':
        return this.#group();
      case '[': {
        const { test, end } = parseClass(this.#text, this.#at);
        this.#at = end;
        return [this.#characters(test)];
      }
      case '.':
        this.#at++;
        return [{ type: 'character', accepts: this.#flags.dotMatchesNewline ? any : anyButNewline }];
      case '^':
        return this.#assertion(this.#flags.multiLine ? 'line-start' : 'text-start', 1);
      case '$':
        return this.#assertion(this.#flags.multiLine ? 'line-end' : 'text-end', 1);
      case '\\':
        return this.#escape();
      default:
        return [this.#literal(this.#next())];
    }
  }

  #group(): readonly Node[] {
    const rest = this.#text.slice(this.#at);
    const before = this.#flags;
    if (rest.startsWith('(?')) {
      const name = /^\(\?P?</.exec(rest);
      if (name !== null) this.#name(rest);
      else if (!this.#setFlags(rest)) return [];
    } else this.#at++;
    const inside = this.#choice();
    if (!this.#take(')')) throw new PatternError('missing closing )', this.#text);
    this.#flags = before;
    return [inside];
  }

  /** Names of groups are checked, and mean nothing: nobody asks what a group matched. */
  #name(rest: string): void {
    const end = rest.indexOf('>');
    const whole = end < 0 ? rest : rest.slice(0, end + 1);
    const name = /^\(\?P?<(\w+)>$/.exec(whole)?.[1];
    if (name === undefined) throw new PatternError('invalid named capture', whole);
    if (this.#names.has(name)) throw new PatternError('duplicate capture group name', name);
    this.#names.add(name);
    this.#at += whole.length;
  }

  /** @returns whether a group follows: `(?i:` rather than `(?i)` */
  #setFlags(rest: string): boolean {
    const found = /^\(\?([imsU]*)(-[imsU]+)?([:)])/.exec(rest);
    if (found === null) throw new PatternError('invalid or unsupported Perl syntax', /^\(\?[imsU]*-?[imsU]*[^]?/u.exec(rest)?.[0] ?? rest);
    const [whole, on = '', off = '', end] = found;
    const set = (letter: string, now: boolean): boolean => (off.includes(letter) ? false : on.includes(letter) || now);
    const { ignoreCase, multiLine, dotMatchesNewline, lazy } = this.#flags;
    this.#flags = {
      ignoreCase: set('i', ignoreCase),
      multiLine: set('m', multiLine),
      dotMatchesNewline: set('s', dotMatchesNewline),
      lazy: set('U', lazy),
    };
    this.#at += whole.length;
    return end === ':';
  }

  #escape(): readonly Node[] {
    const letter = this.#text[this.#at + 1] ?? '';
    const assertion = assertions.get(letter);
    if (assertion !== undefined) return this.#assertion(assertion, 2);
    if (letter === 'Q') return this.#quoted();
    const known = perlClasses.get(letter);
    if (known !== undefined) {
      this.#at += 2;
      return [this.#characters(known)];
    }
    const unicode = parseUnicodeClass(this.#text, this.#at);
    if (unicode !== undefined) {
      this.#at = unicode.end;
      return [this.#characters(unicode.test)];
    }
    const { codePoint, end } = parseEscape(this.#text, this.#at);
    this.#at = end;
    return [this.#literal(codePoint)];
  }

  /** `\Q…\E`, or to the end. */
  #quoted(): readonly Node[] {
    const end = this.#text.indexOf('\\E', this.#at + 2);
    const words = this.#text.slice(this.#at + 2, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#text.length : end + 2;
    return Array.from(words, (character) => this.#literal(character.codePointAt(0) ?? 0));
  }

  #assertion(assertion: Assertion, length: number): readonly Node[] {
    this.#at += length;
    return [{ type: 'assertion', assertion }];
  }

  #literal(codePoint: number): Node {
    return this.#characters(range(codePoint, codePoint));
  }

  #characters(test: CharacterTest): Node {
    return { type: 'character', accepts: this.#flags.ignoreCase ? ignoringCase(test) : test };
  }

  #peek(): string {
    return this.#text[this.#at] ?? '';
  }

  #next(): number {
    const codePoint = this.#text.codePointAt(this.#at) ?? 0;
    this.#at += String.fromCodePoint(codePoint).length;
    return codePoint;
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }
}

interface Times {
  readonly min: number;
  readonly max: number;
  readonly lazy: boolean;
}

const empty: Node = { type: 'empty' };

const repetition = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/;
const LONGEST_REPETITION = 40;

const assertions: ReadonlyMap<string, Assertion> = new Map([
  ['A', 'text-start'],
  ['z', 'text-end'],
  ['b', 'word-boundary'],
  ['B', 'no-word-boundary'],
]);

/** How often the innermost thing is written down in the end: repetitions inside each other multiply. */
function copiesOf(node: Node): number {
  switch (node.type) {
    case 'repeat':
      return Math.max(node.min, node.max === UNBOUNDED ? node.min : node.max, 1) * copiesOf(node.of);
    case 'sequence':
      return most(node.parts);
    case 'choice':
      return most(node.options);
    default:
      return 1;
  }
}

const most = (nodes: readonly Node[]): number => nodes.reduce((copies, node) => Math.max(copies, copiesOf(node)), 1);
