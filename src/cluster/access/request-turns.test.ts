import { expect, test } from 'vitest';
import type { RequestInfo } from '../../api/request-info.ts';
import type { Transport, TransportRequest } from '../../client/transport.ts';
import { RequestTurns } from './request-turns.ts';

const requestFor = (resource: string): TransportRequest => {
  const info: RequestInfo = { type: 'resource', verb: 'create', group: '', version: 'v1', resource, subresource: '', namespace: 'a', name: '' };
  return { info, query: new URLSearchParams() };
};

/** Each request takes a millisecond, and turns are made by hand. */
function setUp() {
  let now = 0;
  const sent: string[] = [];
  const turns: (() => void)[] = [];
  const world = {
    clock: { now: () => now, monotonic: () => now },
    timers: { after: () => () => undefined, soon: (callback: () => void) => void turns.push(callback) },
  };
  const transport: Transport = {
    send: async ({ info }) => {
      now += 1;
      sent.push(info.type === 'resource' ? info.resource : '');
      return { type: 'unreachable', error: new Error('not asked') };
    },
    watch: () => ({ close: () => undefined }),
  };
  const limited = new RequestTurns(world).limit(transport);
  const endTurn = async () => {
    for (const callback of turns.splice(0)) callback();
    await new Promise((resolve) => setImmediate(resolve));
    return sent.splice(0);
  };
  return { limited, endTurn, sentNow: () => sent.splice(0) };
}

test('requests beyond the share of a turn are sent in later turns, in their order, and leases and events at once', async () => {
  const { limited, endTurn, sentNow } = setUp();
  for (let i = 0; i < 20; i++) void limited.send(requestFor(`r${i}`));
  for (const resource of ['leases', 'events']) void limited.send(requestFor(resource));
  expect(sentNow()).toEqual(['r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'leases', 'events']);
  expect(await endTurn()).toEqual(['r6', 'r7', 'r8', 'r9', 'r10', 'r11', 'r12', 'r13']);
  void limited.send(requestFor('late'));
  expect(await endTurn()).toEqual(['r14', 'r15', 'r16', 'r17', 'r18', 'r19', 'late']);
  await endTurn();
  void limited.send(requestFor('now'));
  expect(sentNow()).toEqual(['now']);
});
