import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { realSockets } from './sockets.ts';

test('a directory that cannot be read says nothing about its sockets', async () => {
  const root = mkdtempSync(path.join(tmpdir(), 'moor-sockets-'));
  const directory = path.join(root, 'plugins_registry');
  const waiting: { readonly ms: number; readonly run: () => void }[] = [];
  const timers = {
    after(ms: number, run: () => void) {
      waiting.push({ ms, run });
      return () => undefined;
    },
    soon: queueMicrotask,
  };
  const seen: number[] = [];
  const unwatch = realSockets(timers).watch(directory, (sockets) => seen.push(sockets.size));
  const server = createServer();
  onTestFinished(async () => {
    unwatch();
    server.close();
    // A last reading may be under way, and make the directory once more.
    await expect.poll(() => rmSync(root, { recursive: true, force: true })).toBe(undefined);
  });
  const ran: number[] = [];
  const passed = (): void => {
    for (const { ms, run } of waiting.splice(0)) {
      ran.push(ms);
      run();
    }
  };
  const seenLast = (): number | undefined => {
    passed();
    return seen.at(-1);
  };
  await expect.poll(seenLast).toBe(0);
  await new Promise<void>((resolve) => server.listen(path.join(directory, 'a.sock'), resolve));
  await expect.poll(seenLast).toBe(1);
  renameSync(directory, `${directory}.moved`);
  writeFileSync(directory, '');
  // It could not be read, and is tried again after a second.
  await expect
    .poll(() => {
      passed();
      return ran;
    })
    .toContain(1000);
  expect(seen).toEqual([0, 1]);
  rmSync(directory);
  renameSync(`${directory}.moved`, directory);
  rmSync(path.join(directory, 'a.sock'));
  await expect.poll(seenLast).toBe(0);
});
