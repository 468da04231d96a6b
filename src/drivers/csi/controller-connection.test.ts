import { expect, test } from 'vitest';
import { Identity } from '../../grpc/generated/csi.ts';
import { failed } from '../contract.ts';
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
