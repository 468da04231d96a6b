import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ContainerRoot } from '../../node/runtimes/sandbox/container-root.ts';
import { ContainerRootThreads } from './container-root-threads.ts';

/** The threads of this test: for pid 1 they block, for pid 2 they end, for all others they answer with their thread id. */
const thread = `
  import { parentPort, threadId } from 'node:worker_threads';
  parentPort.on('message', ({ pid }) => {
    if (pid === 1) for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    if (pid === 2) throw new Error('lost');
    parentPort.postMessage('thread ' + threadId);
  });
  parentPort.postMessage('');`;

let directory = '';
const program = (): string => path.join(directory, 'thread.mjs');
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'moor-threads-'));
  writeFileSync(program(), thread);
});
afterAll(() => rmSync(directory, { recursive: true }));

const root = {} as ContainerRoot;
/** Timers that the test fires. */
function clockwork() {
  const due = new Set<() => void>();
  const after = (_ms: number, callback: () => void) => {
    due.add(callback);
    return () => due.delete(callback);
  };
  const pass = (): void => {
    const now = [...due];
    due.clear();
    for (const callback of now) callback();
  };
  return { timers: { after, soon: (callback: () => void) => void setImmediate(callback) }, pass };
}

test('one thread serves all requests in order', async () => {
  const threads = new ContainerRootThreads(program(), clockwork().timers);
  const answers = await Promise.all([3, 4, 5].map((pid) => threads.make(pid, root)));
  expect(answers[0]).toMatch(/^thread \d+$/);
  expect(new Set(answers).size).toBe(1);
});

test('a request behind a blocked one gets another thread', async () => {
  const { timers, pass } = clockwork();
  const threads = new ContainerRootThreads(program(), timers);
  const before = await threads.make(3, root);
  void threads.make(1, root);
  const behind = threads.make(4, root);
  pass();
  expect(await behind).not.toBe(before);
});

test('a thread that ends fails its own request, and no other', async () => {
  const threads = new ContainerRootThreads(program(), clockwork().timers);
  const [lost, next] = [threads.make(2, root), threads.make(3, root)];
  expect(await lost).toBe('Error: lost');
  expect(await next).toMatch(/^thread \d+$/);
});

test('where no thread can start, requests fail', async () => {
  const threads = new ContainerRootThreads(path.join(directory, 'not-there.mjs'), clockwork().timers);
  expect(await threads.make(3, root)).toContain('not-there.mjs');
  expect(await threads.make(3, root)).toContain('not-there.mjs');
});
