import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Argument, inside, listOf, resultOf, type Step } from '../../node/runtimes/sandbox/init/program.ts';
import { errorText, programOf, type Report, reportReader } from '../../node/runtimes/sandbox/init/reports.ts';
import { anonymousFile } from './anonymous-file.ts';
import { assemble } from './assemble.ts';
import { bytesOf, machineCodes } from './machine-code.ts';
import type { InitArchitecture } from './system-calls.ts';

const print = (text: string): Step => ({ call: 'write', args: [1, text, text.length] });
const exit = (code: number): Step => ({ call: 'exit_group', args: [code] });
const execute = (file: string, args: Argument[] = []): Step => ({ call: 'execve', args: [file, ...args] });

/** What the steps do on this machine. */
function run(steps: readonly Step[]): { readonly code: number | null; readonly output: string; readonly reports: readonly Report[] } {
  const { file, stepAt } = assemble(programOf(steps), process.arch as InitArchitecture);
  const executable = anonymousFile(file);
  try {
    const { status, output } = spawnSync(`/proc/self/fd/${executable}`, [], { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
    const reports: Report[] = [];
    reportReader(stepAt, (report) => reports.push(report))(output[3] as Buffer);
    return { code: status, output: output[1]?.toString() ?? '', reports };
  } finally {
    closeSync(executable);
  }
}

test('steps follow one another, and a result leads to the next one', () => {
  expect(run([print('a'), { ...print('b'), onPositive: 'd' }, print('c'), { ...print('d'), label: 'd' }, exit(7)])).toEqual({
    code: 7,
    output: 'abd',
    reports: [],
  });
  const missing = { call: 'chdir', args: ['/no/such/directory'] } as const;
  expect(run([{ ...missing, onError: 'there' }, exit(1), { ...exit(2), label: 'there' }]).code).toBe(2);
  expect(run([{ ...missing, allows: [20, 2], onZero: 'there' }, exit(1), { ...exit(2), label: 'there' }]).code).toBe(2);
});

test('a step that fails is reported, and ends the process', () => {
  const failing: Step = { call: 'chdir', args: ['/no/such/directory'], allows: [20, 13], failure: 'it is needed' };
  const { code, output, reports } = run([print('a'), failing, print('b')]);
  expect([code, output]).toEqual([128, 'a']);
  expect(reports).toEqual([{ type: 'failed', failure: { step: failing, error: 2 } }]);
  expect(errorText(2)).toBe('no such file or directory');
});

test('an error above 63 is not taken for an allowed one', () => {
  // EAFNOSUPPORT is 97.
  const { code } = run([{ call: 'socket', args: [1000, 2, 0], allows: [97 - 64] }, exit(0)]);
  expect(code).toBe(128);
  expect(() => run([{ ...exit(0), allows: [97] }])).toThrow('only errors below 64 can be allowed');
});

test('results are arguments of later steps, memory is shared, and lists are pointers', () => {
  const bytes = Buffer.from('xyz');
  const steps: readonly Step[] = [
    { call: 'openat', args: [-100, '/proc/self/comm', 0, 0], result: 'file' },
    { call: 'read', args: [resultOf('file'), inside(bytes, 1), 1] },
    { call: 'write', args: [1, bytes, 3] },
    execute('/bin/sh', [listOf(['sh', '-c', 'echo " $A $0"', 'b']), listOf(['A=a'])]),
  ];
  // The process is named after its executable, a number in /proc/self/fd.
  expect(run(steps)).toMatchObject({ code: 0, output: expect.stringMatching(/^x\dz a b\n$/) });
});

test('an argument without a result has its own value', () => {
  expect(
    run([
      { call: 'exit_group', args: [resultOf('none', 5)] },
      { ...exit(1), result: 'none' },
    ]).code,
  ).toBe(5);
});

test('mistakes in a program are found when it is assembled', () => {
  expect(() => run([{ ...exit(0), onZero: 'nowhere' }])).toThrow('nothing is called nowhere');
  expect(() => run([{ ...exit(0), result: 'unused' }])).toThrow('nothing is called unused');
  expect(() =>
    run([
      { ...exit(0), label: 'a' },
      { ...exit(0), label: 'a' },
    ]),
  ).toThrow('two steps have the label a');
  expect(() => run([execute('/bin/sh\0ell')])).toThrow('a text with a zero byte');
});

test('the executable cannot be changed', () => {
  const file = anonymousFile(Buffer.from('content'));
  try {
    expect(() => openSync(`/proc/self/fd/${file}`, 'w')).toThrow(/EPERM|ETXTBSY|EACCES/);
    expect(readFileSync(`/proc/self/fd/${file}`, 'utf8')).toBe('content');
  } finally {
    closeSync(file);
  }
});

test('the machine code for 64-bit ARM jumps where its listing says', () => {
  const { code, first, last } = machineCodes.arm64;
  const lines = code.trim().split('\n');
  const offsets = lines.reduce<number[]>((all, line) => [...all, (all.at(-1) ?? 0) + bytesOf(line).length], [0]);
  const labels = new Map(lines.map((line, number) => [/(\w+):/.exec(line)?.[1] ?? `line ${number}`, offsets[number] ?? 0]));
  expect([labels.get('first'), labels.get('last')]).toEqual([first, last]);
  const jumps = lines.flatMap((line, number) => {
    const target = labels.get(/\b(loop|compare|error|zero|first|last)$/.exec(line)?.[1] ?? '');
    return target === undefined ? [] : [{ line, word: bytesOf(line).readUInt32LE(), distance: (target - (offsets[number] ?? 0)) / 4 }];
  });
  expect(jumps).toHaveLength(9);
  for (const { line, word, distance } of jumps) {
    const found = word >>> 26 === 0b000101 ? (word << 6) >> 6 : word >>> 24 === 0x36 ? (word >>> 5) & 0x3fff : (word << 8) >> 13;
    expect(`${line}: ${found}`).toBe(`${line}: ${distance}`);
  }
});

test('an executable for 64-bit ARM has its header and both segments', () => {
  const { file } = assemble(programOf([exit(0)]), 'arm64');
  expect(file.subarray(0, 4).toString('latin1')).toBe('\x7fELF');
  expect(file.readUInt16LE(18)).toBe(183);
  const segments = [64, 120].map((at) => ({
    offset: file.readBigUInt64LE(at + 8),
    address: file.readBigUInt64LE(at + 16),
    align: file.readBigUInt64LE(at + 48),
  }));
  for (const { offset, address, align } of segments) expect(address % align).toBe(offset % align);
});
