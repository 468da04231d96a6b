import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createRealWorld } from './world.ts';

const world = createRealWorld({ logLevel: 'silent' });

test('a timer fires once, not before its time, and not after it was cancelled', async () => {
  let cancelled = 0;
  world.timers.after(1, () => cancelled++)();
  const start = world.clock.monotonic();
  await new Promise<void>((resolve) => {
    setTimeout(resolve, 1000); // a timer of the world alone would not keep the process alive
    world.timers.after(10, resolve);
  });
  expect(world.clock.monotonic() - start).toBeGreaterThanOrEqual(9);
  expect(cancelled).toBe(0);
});

test('a time-out further away than Node can count does not fire at once', async () => {
  let fired = false;
  const cancel = world.timers.after(2 ** 40, () => (fired = true));
  await new Promise((resolve) => setTimeout(resolve, 5));
  cancel();
  expect(fired).toBe(false);
});

test('soon runs after what is running now, its promises included', async () => {
  const order: string[] = [];
  await new Promise<void>((resolve) => {
    world.timers.soon(() => {
      order.push('soon');
      resolve();
    });
    void Promise.resolve()
      .then(() => order.push('promise'))
      .then(() => order.push('its promise'));
    order.push('now');
  });
  expect(order).toEqual(['now', 'promise', 'its promise', 'soon']);
});

test('a log line is JSON with the constant message, the fields and those of its parents', () => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'moor-log-')), 'log');
  const fd = openSync(file, 'w');
  const { log } = createRealWorld({ logLevel: 'info', logTo: fd });
  log.debug('unseen');
  log
    .with({ controller: 'binder' })
    .with({ pass: 7 })
    .warn('write refused', { key: 'default/data', error: new Error('conflict') });
  closeSync(fd);
  const line = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  rmSync(path.dirname(file), { recursive: true });
  expect(line).toMatchObject({ level: 40, controller: 'binder', pass: 7, key: 'default/data', msg: 'write refused', error: { message: 'conflict' } });
});
