/** `moor fuzz --jobs`: seeds spread over processes. The processes of these tests run no worlds. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runSeedsInProcesses } from '../../src/commands/fuzz-jobs.ts';
import { runMoor } from '../moor-process.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'mooring-jobs-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function program(name: string, onSeed: string): string {
  const file = path.join(directory, `${name}.mjs`);
  writeFileSync(file, `process.on('message', ({ seed }) => { ${onSeed} });\nprocess.on('disconnect', () => process.exit());\n`);
  return file;
}

async function run(file: string, jobs: number) {
  const [texts, counts]: [string[], number[]] = [[], []];
  const failed = await runSeedsInProcesses({
    from: 11,
    to: 20,
    jobs,
    program: file,
    onFailure: (text) => texts.push(text),
    onProgress: ({ done }) => counts.push(done),
  });
  return { failed, texts: texts.sort(), counts };
}

test('every seed is run once, the process that is done first gets the next one, and failures are reported', async () => {
  const file = program('fails', "process.send(seed % 4 === 0 ? { failure: 'seed ' + seed + ' by ' + process.pid } : {})");
  const { failed, texts, counts } = await run(file, 3);
  expect(failed).toEqual([12, 16, 20]);
  expect(texts.map((text) => text.split(' by ')[0])).toEqual(['seed 12', 'seed 16', 'seed 20']);
  expect(counts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('there are as many processes as asked for, and no more than seeds', async () => {
  const file = program('who', 'process.send({ failure: String(process.pid) })');
  const pids = async (jobs: number) => new Set((await run(file, jobs)).texts).size;
  expect(await pids(1)).toBe(1);
  expect(await pids(64)).toBe(10);
});

test('a process that dies is an error that names its seed, and none is left', async () => {
  const file = program('dies', "seed === 13 ? process.kill(process.pid, 'SIGKILL') : seed < 13 ? process.send({}) : undefined");
  await expect(run(file, 2)).rejects.toThrow('the process that ran seed 13 ended (SIGKILL)');
  await expect(run(program('ends', 'process.exit(3)'), 1)).rejects.toThrow('the process that ran seed 11 ended (exit code 3)');
});

test('an error reports that no process can be started', async () => {
  const { execPath } = process;
  process.execPath = path.join(directory, 'missing');
  try {
    await expect(run(program('never', ''), 2)).rejects.toThrow(/^cannot start a process \(.*ENOENT.*\); a smaller --jobs needs fewer$/);
  } finally {
    process.execPath = execPath;
  }
});

test('the command prints its result in one line', async () => {
  expect(await runMoor('sim', '--seeds', '1..3', '--jobs', '2')).toMatchObject({ code: 0, stdout: '3 seeds, 0 violations\n' });
  const { code, stderr } = await runMoor('fuzz', '--jobs', '0');
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--jobs must be a whole number from 1 to 256, not "0"') as string });
});
