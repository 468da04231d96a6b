import { expect, test } from 'vitest';
import { Controller, Identity } from '../../grpc/generated/csi.ts';
import { done, failed } from '../contract.ts';
import { CsiConnection } from './controller-connection.ts';

const log = { debugs: false, debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined, with: () => log };

test('a driver has at most 100 calls at once, and the others follow', async () => {
  const running: (() => void)[] = [];
  const channel = {
    unary: () => new Promise<Uint8Array>((resolve) => running.push(() => resolve(new Uint8Array()))),
    stream: () => {
      throw new Error('no streams');
    },
    close: () => undefined,
  };
  const connection = new CsiConnection({ channel, log, readSecret: async () => failed('NotFound', 'none') });
  const answers = Array.from({ length: 250 }, () => connection.call(Identity.method.probe, {}));
  const counts: number[] = [];
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setImmediate(resolve));
    counts.push(running.length);
    for (const answer of running.splice(0)) answer();
  }
  expect(counts).toEqual([100, 100, 50]);
  expect((await Promise.all(answers)).every(({ ok }) => ok)).toBe(true);
});

test('a volume has one call at a time: the next one follows the answer, and other volumes do not wait', async () => {
  const running: { readonly volume: string; readonly end: () => void }[] = [];
  const channel = { unary: async () => new Uint8Array(), stream: () => expect.fail('no streams'), close: () => undefined };
  const connection = new CsiConnection({ channel, log, readSecret: async () => failed('NotFound', 'none') });
  const call = (volume: string) =>
    connection.oneAtATime(volume, () => new Promise<typeof done>((resolve) => void running.push({ volume, end: () => resolve(done) })));
  const answers = [call('a'), call('a'), call('b'), call('a')];
  const seen: string[] = [];
  while (running.length > 0) {
    seen.push(running.map(({ volume }) => volume).join(' '));
    for (const { end } of running.splice(0)) end();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(seen).toEqual(['a b', 'a', 'a']);
  expect(await Promise.all(answers)).toEqual([done, done, done, done]);
});

test('a driver of its own timeout has it for the calls that change something, and for no other', async () => {
  const asked: (number | undefined)[] = [];
  const channel = {
    unary: async (_path: string, _request: Uint8Array, options: { readonly timeoutMs?: number } = {}) => {
      asked.push(options.timeoutMs);
      return new Uint8Array();
    },
    stream: () => {
      throw new Error('no streams');
    },
    close: () => undefined,
  };
  const ask = async (timeoutMs?: number) => {
    const connection = new CsiConnection({
      channel,
      log,
      readSecret: async () => failed('NotFound', 'none'),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    await connection.call(Controller.method.createVolume, {}, { leader: { lease: 'a/b', epoch: 1 } });
    await connection.call(Controller.method.createSnapshot, {}, { leader: { lease: 'a/b', epoch: 1 }, timeoutMs: 60_000 });
    await connection.call(Controller.method.listVolumes, {});
  };
  await ask();
  await ask(250_000);
  expect(asked).toEqual([15_000, 60_000, 15_000, 250_000, 250_000, 15_000]);
});
