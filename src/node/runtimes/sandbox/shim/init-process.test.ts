import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { followInit } from './init-process.ts';
import { childrenOf, descendantsOf, signal } from './processes.ts';

/** A process with two children; the test writes the reports. */
let parent: ChildProcess;
/** A child that is no process of the container. */
let outside: number | undefined;
beforeEach(async () => {
  outside = undefined;
  parent = spawn('sh', ['-c', 'sleep 1000 & sleep 1000 & echo up; wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
  if (parent.stdout !== null) await once(parent.stdout, 'data');
});
afterEach(() => {
  for (const each of descendantsOf(parent.pid ?? 0)) signal(each, 'SIGKILL');
});

const types = { failed: 1, waiting: 2, executing: 3, executed: 4 } as const;
const report = (type: keyof typeof types, pid = 0): Buffer => {
  const bytes = Buffer.alloc(40);
  bytes.writeBigUInt64LE(BigInt(types[type]));
  bytes.writeBigUInt64LE(BigInt(pid), 8);
  return bytes;
};

/** What the listener is told. The channel carries what is written to it in both directions: no answer is given. */
async function told(waitsItself: boolean, ...reports: readonly Buffer[]): Promise<readonly string[]> {
  const channel = new PassThrough();
  const child = { pid: parent.pid, stdin: undefined, stdout: undefined, stderr: undefined, channel, hasEnded: false, onClose: () => undefined };
  const heard: string[] = [];
  const stepAt = (): never => {
    throw new Error('there is no such step');
  };
  followInit(
    { child, stepAt },
    {
      waitsItself,
      onWaiting: (pid) => {
        heard.push(`waiting ${pid}`);
        return new Promise<boolean>(() => undefined);
      },
      isInside: (pid) => pid !== outside,
      onProgram: (pid) => heard.push(`program ${pid}`),
      onExecuted: () => heard.push('executed'),
      onEnd: () => undefined,
    },
  );
  const read = once(channel, 'data');
  channel.write(Buffer.concat([...reports]));
  await read;
  if (channel.destroyed) heard.push('closed');
  return heard;
}

test('a program is a child of the init, and not the one that waited', async () => {
  const [second = 0, third = 0] = childrenOf(parent.pid ?? 0);
  const before = [report('waiting', second), report('executing')];
  expect(await told(false, ...before, report('executed', third))).toEqual([`waiting ${second}`, `program ${third}`, 'executed']);
  for (const forged of [1, process.pid, second, 0]) expect(await told(false, ...before, report('executed', forged))).toEqual([`waiting ${second}`]);
  outside = third;
  expect(await told(false, ...before, report('executed', third))).toEqual([`waiting ${second}`]);
  expect(await told(true, ...before, report('executed'))).toEqual([`waiting ${second}`, `program ${second}`, 'executed']);
  expect(await told(true, ...before, report('executed', third))).toEqual([`waiting ${second}`]);
});

test('nothing is believed twice', async () => {
  const [second = 0, third = 0] = childrenOf(parent.pid ?? 0);
  const all = [report('waiting', second), report('waiting', 1), report('executing'), report('executed', third), report('executed', third)];
  expect(await told(false, ...all)).toEqual([`waiting ${second}`, `program ${third}`, 'executed']);
  expect(await told(false, report('executed', third))).toEqual([]);
});

test('what is no report ends the init, not the shim', async () => {
  expect(await told(false, Buffer.alloc(40, 0xff))).toEqual(['closed']);
  expect(await told(false, report('failed', 12_345))).toEqual(['closed']);
});
