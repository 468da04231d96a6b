/** Makes an executable of a program of system calls: a static ELF file with the loop of `machine-code.ts` and a table of records. */
import type { Constant, InitProgram, ListOf, Step } from '../../node/runtimes/sandbox/init/program.ts';
import { bytesOf, machineCodes, record } from './machine-code.ts';
import { type InitArchitecture, systemCalls } from './system-calls.ts';

/** The addresses of the two segments. */
const [codeAddress, dataAddress] = [0x40_0000, 0x60_0000];
/** The largest page that an architecture may have. */
const alignment = 0x1_0000;
const [headerLength, segmentLength, segments] = [64, 56, 3];

export interface Executable {
  readonly file: Buffer;
  /** The step at an address. */
  readonly stepAt: (address: number) => Step;
}

export function assemble(program: InitProgram, architecture: InitArchitecture): Executable {
  const { machine, code: listing, first, last } = machineCodes[architecture];
  const code = bytesOf(listing);
  const codeOffset = headerLength + segments * segmentLength;
  const dataOffset = align(codeOffset + code.length);
  const { data, table, last: lastWords } = new Data(dataAddress + dataOffset).lay(program, architecture);
  code.writeBigUInt64LE(BigInt(table), first);
  code.writeBigUInt64LE(BigInt(lastWords), last);
  const header = elfHeader(machine, codeAddress + codeOffset);
  const readExecute = segment({ offset: 0, address: codeAddress, length: codeOffset + code.length, flags: 5 });
  const readWrite = segment({ offset: dataOffset, address: dataAddress + dataOffset, length: data.length, flags: 6 });
  const head = Buffer.concat([header, readExecute, readWrite, stack, code]);
  const stepAt = (address: number): Step => {
    const step = program.steps[(address - table) / record.length];
    if (step === undefined) throw new Error(`there is no step at ${address}`);
    return step;
  };
  return { file: Buffer.concat([head, Buffer.alloc(dataOffset - head.length), data]), stepAt };
}

const align = (offset: number): number => Math.ceil(offset / 8) * 8;

/** The data segment. Its addresses are known as soon as something is laid in it. */
class Data {
  readonly #start: number;
  readonly #parts: { readonly at: number; readonly bytes: Uint8Array }[] = [];
  #length = 0;
  readonly #known = new Map<Uint8Array | string | ListOf, number>();

  constructor(start: number) {
    this.#start = start;
  }

  lay({ steps, onError, last }: InitProgram, architecture: InitArchitecture): { readonly data: Buffer; readonly table: number; readonly last: number } {
    const unused = this.#add(Buffer.alloc(8));
    const table = Buffer.alloc(steps.length * record.length);
    const start = this.#addBytes(table);
    const labels = labelsOf(steps);
    const results = new Map<string, number>();
    for (const [index, step] of steps.entries()) {
      const at = index * record.length;
      const next = (label: string | undefined): number => start + record.length * (label === undefined ? index + 1 : find(labels, label));
      writeWord(table, at + record.call, systemCalls[step.call][architecture]);
      for (const [number, argument] of step.args.entries()) {
        const slot = at + record.args + 8 * number;
        const isResult = typeof argument === 'object' && 'resultOf' in argument;
        if (isResult) results.set(argument.resultOf, start + slot);
        writeWord(table, slot, this.#value(isResult ? argument.otherwise : argument));
      }
      writeWord(table, at + record.onError, next(step.onError ?? onError));
      writeWord(table, at + record.onZero, next(step.onZero));
      writeWord(table, at + record.onPositive, next(step.onPositive));
      for (const error of step.allows ?? []) allow(table, at + record.allows, error);
    }
    for (const [index, { result }] of steps.entries())
      writeWord(table, index * record.length + record.result, result === undefined ? unused : find(results, result));
    const lastAddress = this.#value(last);
    const data = Buffer.alloc(this.#length);
    for (const part of this.#parts) data.set(part.bytes, part.at);
    return { data, table: start, last: lastAddress };
  }

  #value(argument: Constant): number {
    if (typeof argument === 'number') return argument;
    if (typeof argument === 'string' || argument instanceof Uint8Array || 'list' in argument) return this.#add(argument);
    return this.#add(argument.bytes) + argument.offset;
  }

  /** What was laid before keeps its address: steps share memory by sharing bytes. */
  #add(what: string | Uint8Array | ListOf): number {
    const known = this.#known.get(what);
    if (known !== undefined) return known;
    const address = this.#addBytes(typeof what === 'string' ? terminated(what) : 'list' in what ? this.#words(what) : what);
    this.#known.set(what, address);
    return address;
  }

  #words({ list }: ListOf): Buffer {
    const words = Buffer.alloc(8 * (list.length + 1));
    for (const [number, each] of list.entries()) writeWord(words, 8 * number, this.#value(each));
    return words;
  }

  #addBytes(bytes: Uint8Array): number {
    const at = this.#length;
    this.#parts.push({ at, bytes });
    this.#length += align(bytes.length);
    return this.#start + at;
  }
}

/** A signed number of at most 53 bits, in 64. */
function writeWord(bytes: Buffer, offset: number, value: number): void {
  if (value === 0) return;
  bytes.writeUInt32LE(value >>> 0, offset);
  bytes.writeUInt32LE(Math.floor(value / 2 ** 32) >>> 0, offset + 4);
}

function terminated(text: string): Buffer {
  if (text.includes('\0')) throw new Error('a text with a zero byte');
  return Buffer.from(`${text}\0`);
}

function find(all: ReadonlyMap<string, number>, name: string): number {
  const found = all.get(name);
  if (found === undefined) throw new Error(`nothing is called ${name}`);
  return found;
}

function labelsOf(steps: readonly Step[]): ReadonlyMap<string, number> {
  const labels = new Map<string, number>();
  for (const [index, { label }] of steps.entries()) {
    if (label === undefined) continue;
    if (labels.has(label)) throw new Error(`two steps have the label ${label}`);
    labels.set(label, index);
  }
  return labels;
}

/** A bit for each error. */
function allow(bytes: Buffer, offset: number, error: number): void {
  if (error < 1 || error > 63) throw new Error('only errors below 64 can be allowed');
  const at = offset + (error >> 3);
  bytes.writeUInt8(bytes.readUInt8(at) | (1 << (error & 7)), at);
}

function elfHeader(machine: number, entry: number): Buffer {
  const header = Buffer.alloc(headerLength);
  header.write('\x7fELF\x02\x01\x01', 'latin1'); // 64 bits, little endian
  header.writeUInt16LE(2, 16); // an executable at fixed addresses
  header.writeUInt16LE(machine, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(entry), 24);
  header.writeBigUInt64LE(BigInt(headerLength), 32);
  header.writeUInt16LE(headerLength, 52);
  header.writeUInt16LE(segmentLength, 54);
  header.writeUInt16LE(segments, 56);
  return header;
}

function segment(of: { readonly offset: number; readonly address: number; readonly length: number; readonly flags: number }): Buffer {
  const bytes = Buffer.alloc(segmentLength);
  bytes.writeUInt32LE(1, 0);
  bytes.writeUInt32LE(of.flags, 4);
  bytes.writeBigUInt64LE(BigInt(of.offset), 8);
  for (const field of [16, 24]) bytes.writeBigUInt64LE(BigInt(of.address), field);
  for (const field of [32, 40]) bytes.writeBigUInt64LE(BigInt(of.length), field);
  bytes.writeBigUInt64LE(BigInt(alignment), 48);
  return bytes;
}

/** PT_GNU_STACK: a stack that cannot be executed. */
const stack = (() => {
  const bytes = Buffer.alloc(segmentLength);
  bytes.writeUInt32LE(0x6474_e551, 0);
  bytes.writeUInt32LE(6, 4);
  return bytes;
})();
