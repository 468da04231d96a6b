import { isWordCharacter, NEWLINE } from './characters.ts';
import { type Assertion, type CharacterTest, type Node, PatternError } from './syntax.ts';

/**
 * What a pattern becomes, as in Thompson's construction: `a*b` is
 *
 *     0 split 1 3
 *     1 read 'a'
 *     2 jump 0
 *     3 read 'b'
 *     4 match
 */
export type Instruction =
  | { readonly type: 'read'; readonly accepts: CharacterTest }
  | { readonly type: 'assert'; readonly holds: AssertionTest }
  /** The first is preferred. */
  | { readonly type: 'split'; first: number; second: number }
  | { readonly type: 'jump'; to: number }
  | { readonly type: 'match' };

/** Of the characters on both sides of a place; -1 where the text begins or ends. */
export type AssertionTest = (before: number, after: number) => boolean;

/** Every copy that a repetition asks for is written out, and every character of a text may meet every instruction. Go allows more. */
const MAX_INSTRUCTIONS = 100_000;

export function compile(node: Node, source: string): readonly Instruction[] {
  const writer = new Writer(source);
  writer.write(node);
  writer.emit({ type: 'match' });
  return writer.program;
}

/** Whatever is written leads to what is written next. */
class Writer {
  readonly program: Instruction[] = [];
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  get #here(): number {
    return this.program.length;
  }

  emit<I extends Instruction>(instruction: I): I {
    if (this.program.length >= MAX_INSTRUCTIONS) throw new PatternError('expression too large', this.#source);
    this.program.push(instruction);
    return instruction;
  }

  write(node: Node): void {
    switch (node.type) {
      case 'empty':
        return;
      case 'character':
        this.emit({ type: 'read', accepts: node.accepts });
        return;
      case 'assertion':
        this.emit({ type: 'assert', holds: assertionTests[node.assertion] });
        return;
      case 'sequence':
        for (const part of node.parts) this.write(part);
        return;
      case 'choice':
        this.#choice(node.options);
        return;
      case 'repeat':
        this.#repeat(node);
        return;
    }
  }

  #choice(options: readonly Node[]): void {
    const jumps = options.slice(0, -1).map((option) => {
      const split = this.emit({ type: 'split', first: this.#here + 1, second: 0 });
      this.write(option);
      const jump = this.emit({ type: 'jump', to: 0 });
      split.second = this.#here;
      return jump;
    });
    const last = options.at(-1);
    if (last !== undefined) this.write(last);
    for (const jump of jumps) jump.to = this.#here;
  }

  #repeat({ of, min, max, greedy }: Extract<Node, { type: 'repeat' }>): void {
    for (let i = 0; i < min; i++) this.write(of);
    if (max === Number.POSITIVE_INFINITY) return this.#anyNumber(of, greedy);
    const splits = Array.from({ length: max - min }, () => {
      const split = this.emit({ type: 'split', first: this.#here + 1, second: this.#here + 1 });
      this.write(of);
      return split;
    });
    for (const split of splits) this.#leave(split, greedy);
  }

  #anyNumber(of: Node, greedy: boolean): void {
    const start = this.#here;
    const split = this.emit({ type: 'split', first: start + 1, second: start + 1 });
    this.write(of);
    this.emit({ type: 'jump', to: start });
    this.#leave(split, greedy);
  }

  /** One way of a split goes on behind all that has been written. */
  #leave(split: Extract<Instruction, { type: 'split' }>, greedy: boolean): void {
    if (greedy) split.second = this.#here;
    else split.first = this.#here;
  }
}

const isWord = (codePoint: number): boolean => codePoint >= 0 && isWordCharacter(codePoint);

const assertionTests: Readonly<Record<Assertion, AssertionTest>> = {
  'text-start': (before) => before < 0,
  'text-end': (_, after) => after < 0,
  'line-start': (before) => before < 0 || before === NEWLINE,
  'line-end': (_, after) => after < 0 || after === NEWLINE,
  'word-boundary': (before, after) => isWord(before) !== isWord(after),
  'no-word-boundary': (before, after) => isWord(before) === isWord(after),
};
