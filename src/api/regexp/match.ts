/**
 * Pike's machine: all ways through a program are followed at once, one character at a time, in the order of their preference. The time that takes is
 * bounded by the length of the text times the length of the program, whatever the two are: no text makes a pattern go back and try again.
 */
import type { Instruction } from './program.ts';

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The leftmost match from a place on, and of those the preferred one. */
export function findMatch(program: readonly Instruction[], text: string, from: number): Span | undefined {
  return new Machine(program, text).run(from, 'preferred');
}

export function hasMatch(program: readonly Instruction[], text: string): boolean {
  return new Machine(program, text).run(0, 'any') !== undefined;
}

/** Where the ways stand: at which instruction, and where in the text each began. In the order of their preference, each instruction once. */
class Ways {
  readonly instructions: Int32Array;
  readonly starts: Int32Array;
  count = 0;
  /** At which step an instruction was last added: nothing has to be cleared. */
  readonly #addedAt: Int32Array;
  #step = 0;

  constructor(size: number) {
    this.instructions = new Int32Array(size);
    this.starts = new Int32Array(size);
    this.#addedAt = new Int32Array(size);
  }

  clear(): void {
    this.count = 0;
    this.#step++;
  }

  /** @returns whether nobody has been there in this step */
  visit(instruction: number): boolean {
    if (this.#addedAt[instruction] === this.#step) return false;
    this.#addedAt[instruction] = this.#step;
    return true;
  }

  add(instruction: number, start: number): void {
    this.instructions[this.count] = instruction;
    this.starts[this.count] = start;
    this.count++;
  }
}

class Machine {
  readonly #program: readonly Instruction[];
  readonly #text: string;
  readonly #stack: number[] = [];

  constructor(program: readonly Instruction[], text: string) {
    this.#program = program;
    this.#text = text;
  }

  run(from: number, wanted: 'preferred' | 'any'): Span | undefined {
    let now = new Ways(this.#program.length);
    let next = new Ways(this.#program.length);
    now.clear();
    let before = from === 0 ? -1 : codePointBefore(this.#text, from);
    let found: Span | undefined;
    for (let at = from; ; ) {
      const after = this.#text.codePointAt(at) ?? -1;
      // A way that begins later is worse than any that has begun, and than a match.
      if (found === undefined) this.#follow(now, { instruction: 0, start: at, before, after });
      if (now.count === 0 && found !== undefined) return found;
      next.clear();
      const width = after > 0xffff ? 2 : 1;
      const following = after < 0 ? -1 : (this.#text.codePointAt(at + width) ?? -1);
      const match = this.#step(now, next, { at, after, following });
      if (match !== undefined) found = match;
      if (after < 0 || (found !== undefined && wanted === 'any')) return found;
      [now, next] = [next, now];
      at += width;
      before = after;
    }
  }

  /** Reads one character. @returns a match that ends before it, which ends all ways that are worse */
  #step(now: Ways, next: Ways, { at, after, following }: { at: number; after: number; following: number }): Span | undefined {
    for (let i = 0; i < now.count; i++) {
      const index = now.instructions[i] ?? 0;
      const start = now.starts[i] ?? 0;
      const instruction = this.#program[index];
      if (instruction?.type === 'match') return { start, end: at };
      if (after >= 0 && instruction?.type === 'read' && instruction.accepts(after)) {
        this.#follow(next, { instruction: index + 1, start, before: after, after: following });
      }
    }
    return undefined;
  }

  /** Goes on to all instructions that read or match, the preferred ones first. */
  #follow(ways: Ways, { instruction: first, start, before, after }: { instruction: number; start: number; before: number; after: number }): void {
    const stack = this.#stack;
    stack.push(first);
    for (let index = stack.pop(); index !== undefined; index = stack.pop()) {
      if (!ways.visit(index)) continue;
      const instruction = this.#program[index];
      switch (instruction?.type) {
        case 'jump':
          stack.push(instruction.to);
          break;
        case 'split':
          stack.push(instruction.second, instruction.first);
          break;
        case 'assert':
          if (instruction.holds(before, after)) stack.push(index + 1);
          break;
        default:
          ways.add(index, start);
      }
    }
  }
}

function codePointBefore(text: string, at: number): number {
  const unit = text.charCodeAt(at - 1);
  const isLow = unit >= 0xdc00 && unit <= 0xdfff && at >= 2;
  const pair = isLow ? (text.codePointAt(at - 2) ?? unit) : unit;
  return pair > 0xffff ? pair : unit;
}
