import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { type Call, readTrace } from './trace.ts';

/**
 * Durable means: before an acknowledgement leaves the process, fdatasync has returned for the bytes of its transaction,
 * and the name of their file was synced before that. The kernel's view of the process shows whether it is so.
 */
const writers = fileURLToPath(new URL('writers.mjs', import.meta.url));

test('fdatasync returned before each acknowledgement', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'moor-trace-'));
  try {
    const trace = join(directory, 'trace');
    const traced = 'trace=openat,close,write,pwrite64,writev,pwritev,fsync,fdatasync';
    const node = [process.execPath, writers, join(directory, 'data'), '12'];
    // Without io_uring, which strace cannot see.
    const env = { ...process.env, UV_USE_IO_URING: '0' };
    await promisify(execFile)('strace', ['-f', '-xx', '-s', '4096', '-o', trace, '-e', traced, ...node], { env, maxBuffer: 16 << 20 });
    const { acknowledgements, syncs, files } = prove(readTrace(await readFile(trace, 'latin1')), join(directory, 'data'));
    expect(acknowledgements).toBe(16 * 12);
    // Writers share their syncs, and the log was continued in several files: the proof covers both.
    expect(syncs).toBeGreaterThan(5);
    expect(syncs).toBeLessThan(acknowledgements);
    expect(files).toBeGreaterThan(1);
  } finally {
    await rm(directory, { recursive: true });
  }
});

interface LogFile {
  readonly path: string;
  /** When each append began and ended, and the first revision in it. */
  readonly appends: { readonly end: number; readonly firstRevision: number }[];
  readonly syncs: { readonly begin: number; readonly end: number }[];
  readonly created: number;
}

/** Follows the calls of a process and fails at the first acknowledgement that was not durable. */
function prove(calls: readonly Call[], directory: string): { acknowledgements: number; syncs: number; files: number } {
  const open = new Map<number, string>();
  const logs = new Map<string, LogFile>();
  const directorySyncs: { begin: number; end: number }[] = [];
  let acknowledgements = 0;
  for (const call of [...calls].sort((a, b) => a.end - b.end)) {
    const path = call.fd === undefined ? undefined : open.get(call.fd);
    const log = path === undefined ? undefined : logs.get(path);
    if (call.name === 'openat' && call.result >= 0) {
      open.set(call.result, call.path);
      const isLog = /\/log-\d+$/.test(call.path) && call.text.includes('O_WRONLY');
      if (isLog && !logs.has(call.path)) logs.set(call.path, { path: call.path, appends: [], syncs: [], created: call.end });
    }
    if (call.name === 'close' && call.fd !== undefined) open.delete(call.fd);
    if (call.name === 'fsync' && path === directory) directorySyncs.push(call);
    if (call.name === 'fdatasync' && call.result === 0) log?.syncs.push(call);
    if (call.data !== undefined && log !== undefined) log.appends.push({ end: call.end, firstRevision: firstRevisionOf(call) });
    if (call.fd === 1 && call.data !== undefined) {
      for (const [, revision] of call.data.toString('latin1').matchAll(/^ack \d+ \d+ (\d+)$/gm)) {
        acknowledgements++;
        expectDurable(Number(revision), call, { logs: [...logs.values()], directorySyncs });
      }
    }
  }
  const syncs = [...logs.values()].reduce((sum, { syncs: made }) => sum + made.length, 0);
  return { acknowledgements, syncs, files: logs.size };
}

function expectDurable(
  revision: number,
  acknowledgement: Call,
  seen: { logs: readonly LogFile[]; directorySyncs: readonly { begin: number; end: number }[] },
): void {
  // The append that holds a revision is the last one that does not start after it.
  const appends = seen.logs.flatMap((log) => log.appends.map((append) => ({ log, append })));
  const { log, append } = appends.filter((candidate) => candidate.append.firstRevision <= revision).at(-1) ?? {};
  if (log === undefined || append === undefined) throw new Error(`revision ${revision} was acknowledged but never written`);
  const synced = log.syncs.some(({ begin, end }) => begin > append.end && end < acknowledgement.begin);
  expect(synced, `revision ${revision} was acknowledged before it was synced`).toBe(true);
  const named = seen.directorySyncs.some(({ begin, end }) => begin > log.created && end < acknowledgement.begin);
  expect(named, `revision ${revision} was acknowledged before the name of ${log.path} was synced`).toBe(true);
}

/** See src/store/embedded/format.ts: a frame starts with its header, and its payload with a revision. */
function firstRevisionOf({ data }: Call): number {
  if (data === undefined || data.subarray(0, 4).toString('latin1') !== 'FRAM') return Number.POSITIVE_INFINITY;
  return data.readDoubleLE(16);
}
