/** What an init writes to its report channel: a socket to the shim. Reports have the same length: a number for the type, and four words. */
import { getSystemErrorMap } from 'node:util';
import { type InitProgram, inside, type Step } from './program.ts';

export type Report =
  /** A process, by its id on the host, that has its namespaces and waits. */
  | { readonly type: 'waiting'; readonly pid: number }
  | { readonly type: 'failed'; readonly failure: InitFailure }
  /** The program is about to be executed. */
  | { readonly type: 'executing' }
  /** The program has been executed, or the process has ended before. The process, by its id on the host; 0: the one that waited. */
  | { readonly type: 'executed'; readonly pid: number }
  /** The exit code is 128 + signal if a signal ended the program. Its process is reaped once the channel is closed. */
  | { readonly type: 'ended'; readonly exitCode: number };

export interface InitFailure {
  readonly step: Step;
  /** The error's number. */
  readonly error: number;
}

const types = { failed: 1, waiting: 2, executing: 3, executed: 4, ended: 5 } as const;
const length = 40;

/** The descriptor of the report channel. */
export const reportChannel = 3;

/** The exit code of a process that could not set itself up. */
const failedExitCode = 128;

export interface ReportMemory {
  readonly bytes: Uint8Array;
  readonly step: Step;
}

/** A step that writes a report, and its memory: the words begin at `reportWords`. */
export function reporting(type: keyof typeof types, more: Partial<Step> = {}): ReportMemory {
  const bytes = Buffer.alloc(length);
  bytes.writeBigUInt64LE(BigInt(types[type]));
  return { bytes, step: { call: 'write', args: [reportChannel, bytes, length], failure: 'cannot report', ...more } };
}
export const reportWords = 8;

/** A program whose processes report the step that failed, and end. */
export function programOf(steps: readonly Step[]): InitProgram {
  const [onError, exit] = ['(failed)', '(exit)'];
  const { bytes, step } = reporting('failed', { label: onError, onError: exit });
  return {
    steps: [...steps, step, { call: 'exit_group', args: [failedExitCode], label: exit, onError: exit }],
    onError,
    last: inside(bytes, reportWords),
  };
}

/** Calls back with every report. `stepAt`: the step at an address. */
export function reportReader(stepAt: (address: number) => Step, onReport: (report: Report) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (; rest.length >= length; rest = rest.subarray(length)) onReport(parse(rest, stepAt));
  };
}

function parse(bytes: Buffer, stepAt: (address: number) => Step): Report {
  const type = Number(bytes.readBigUInt64LE());
  const word = (number: number): bigint => bytes.readBigInt64LE(reportWords + 8 * number);
  switch (type) {
    case types.failed:
      return { type: 'failed', failure: { step: stepAt(Number(word(0))), error: Number(-word(1)) } };
    case types.waiting:
      return { type: 'waiting', pid: Number(word(0)) };
    case types.executing:
      return { type: 'executing' };
    case types.executed:
      return { type: 'executed', pid: Number(word(0)) };
    case types.ended:
      return { type: 'ended', exitCode: exitCodeOf(bytes.readInt32LE(reportWords + 8), bytes.readInt32LE(reportWords + 24)) };
    default:
      throw new Error(`a report of the type ${type}`);
  }
}

/** By the fields `si_code` and `si_status` of waitid(2). */
const exitCodeOf = (code: number, status: number): number => (code === exited ? status : 128 + status);
const exited = 1;

/** As Go's syscall package says it. */
export function errorText(error: number): string {
  const [, text] = getSystemErrorMap().get(-error) ?? [];
  return goTexts[error] ?? text ?? `errno ${error}`;
}
const goTexts: Readonly<Record<number, string>> = { 8: 'exec format error' };

/** What could not be done, and why. */
export const failureOf = ({ step: { call, failure = call }, error }: InitFailure): string => `${failure}: ${errorText(error)}`;
