import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { feed } from './feed.ts';

/** The input of a program that reads when it is told to. */
function slowProgram() {
  const reads: (() => void)[] = [];
  const stdin = new Writable({ highWaterMark: 10, write: (_chunk, _encoding, done) => void reads.push(done) });
  const readAll = () => {
    for (let read = reads.shift(); read !== undefined; read = reads.shift()) read();
  };
  return { stdin, readAll };
}

test('a client waits while the program does not read', () => {
  const [client, { stdin, readAll }] = [new PassThrough(), slowProgram()];
  feed(client, stdin, Buffer.alloc(5));
  expect(client.isPaused()).toBe(false);
  for (const _ of [1, 2, 3]) feed(client, stdin, Buffer.alloc(10));
  expect(client.isPaused()).toBe(true);
  expect(stdin.listenerCount('drain')).toBe(1);
  return new Promise<void>((resolve) => {
    client.on('resume', () => {
      expect([stdin.listenerCount('drain'), stdin.listenerCount('close')]).toEqual([0, 0]);
      resolve();
    });
    readAll();
    setImmediate(readAll);
  });
});

test('a client goes on when the program has closed its input', async () => {
  const [client, { stdin }] = [new PassThrough(), slowProgram()];
  feed(client, stdin, Buffer.alloc(100));
  expect(client.isPaused()).toBe(true);
  await new Promise<void>((resolve) => {
    client.on('resume', resolve);
    stdin.destroy();
  });
  feed(client, stdin, Buffer.alloc(100));
  feed(client, undefined, Buffer.alloc(100));
  expect(client.isPaused()).toBe(false);
});
