import https from 'node:https';
import { describe, expect, test } from 'vitest';
import type { LimitResponse } from '../../src/api/generated/types.ts';
import type { ApiRequest } from '../../src/apiserver/api.ts';
import { FlowConfiguration } from '../../src/apiserver/flow-control/flow-configuration.ts';
import { type Reply, send, until } from './client.ts';
import { startWireServer, type WireServer } from './wire-server.ts';

const collection = '/api/v1/namespaces/default/configmaps';

const as = (wire: WireServer, token: string, path = `${collection}/a`): Promise<Reply> =>
  send(wire, path, { as: 'anonymous', headers: { authorization: `Bearer ${token}` } });

/** A server whose API answers no request until told to. */
async function startHeld(limits: Parameters<typeof startWireServer>[0] = {}) {
  const wire = await startWireServer(limits);
  wire.api.put('default', 'a', {});
  const held: { request: ApiRequest; go: () => void }[] = [];
  wire.api.before = (request) => new Promise((go) => held.push({ request, go }));
  const users = (): string[] => held.map(({ request }) => request.user.name);
  const waiting = (): number => Number(/mooring_requests_waiting (\d+)/.exec(wire.metrics.text())?.[1]);
  const releaseAll = (): void => {
    wire.api.before = () => Promise.resolve();
    for (const { go } of held) go();
  };
  return { wire, held, users, waiting, releaseAll };
}

describe('a user with more requests than the server takes at once', () => {
  test('waits behind themselves: others are served meanwhile', async () => {
    const { wire, users, waiting, releaseAll } = await startHeld({ limits: { seats: 8 } });
    await using _server = wire;
    const greedy = Array.from({ length: 20 }, () => as(wire, 'user:greedy'));
    await until('as many are under way as one user gets, and the rest waits', () => users().length === 6 && waiting() === 14);
    const modest = as(wire, 'user:modest');
    await until('the other one is worked for', () => users().includes('modest'));
    expect(users().filter((name) => name === 'greedy')).toHaveLength(6);
    releaseAll();
    expect((await Promise.all([...greedy, modest])).map(({ code }) => code)).toEqual(Array.from({ length: 21 }, () => 200));
    expect(waiting()).toBe(0);
  });

  test('is told to come back once the queue is full, and loses their place to others', async () => {
    const { wire, users, waiting, releaseAll } = await startHeld({ limits: { seats: 1, requestsWaiting: 3 } });
    await using _server = wire;
    const greedy: Promise<Reply>[] = [];
    for (let i = 0; i < 4; i++) {
      greedy.push(as(wire, 'user:greedy'));
      await until('it has its place', () => users().length + waiting() === i + 1);
    }
    const modest = as(wire, 'user:modest');
    const last = await greedy[3];
    expect(last).toMatchObject({ code: 429, headers: { 'retry-after': '1' } });
    expect(JSON.parse(last?.text ?? '')).toMatchObject({ kind: 'Status', reason: 'TooManyRequests', details: { retryAfterSeconds: 1 } });
    releaseAll();
    expect(await modest).toMatchObject({ code: 200 });
    expect(await Promise.all(greedy.slice(0, 3))).toMatchObject([{ code: 200 }, { code: 200 }, { code: 200 }]);
  });
});

describe('a PriorityLevelConfiguration', () => {
  const metadata = (name: string) => ({ apiVersion: 'flowcontrol.apiserver.k8s.io/v1', metadata: { name }, status: {} });
  const level = (name: string, shares: number, limitResponse: LimitResponse) => ({
    ...metadata(name),
    kind: 'PriorityLevelConfiguration',
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: shares, limitResponse } },
  });
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] };
  const schema = {
    ...metadata('robots'),
    kind: 'FlowSchema',
    spec: {
      priorityLevelConfiguration: { name: 'robots' },
      matchingPrecedence: 100,
      rules: [{ subjects: [{ kind: 'User', user: { name: 'robot' } }], resourceRules: [everything] }],
    },
  };

  test('limits the requests that its FlowSchemas give it, and no others', async () => {
    const limitResponse = { type: 'Queue', queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } };
    const configuration = new FlowConfiguration([schema], [level('robots', 50, limitResponse), level('others', 50, limitResponse)]);
    const { wire, users, waiting, releaseAll } = await startHeld({ limits: { seats: 2 }, flowConfiguration: () => configuration });
    await using _server = wire;
    const first = as(wire, 'user:robot');
    await until('it has the one seat', () => users().length === 1);
    const second = as(wire, 'user:robot');
    await until('the next one waits', () => waiting() === 1);
    expect(await as(wire, 'user:robot')).toMatchObject({ code: 429 });
    const other = as(wire, 'user:jane');
    await until('another user is worked for', () => users().includes('jane'));
    releaseAll();
    expect(await Promise.all([first, second, other])).toMatchObject([{ code: 200 }, { code: 200 }, { code: 200 }]);
  });

  test('keeps its seats, and the requests that hold them, when another object changes; a change of its own gives it new ones', async () => {
    const limitResponse = { type: 'Queue', queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } };
    const configure = (robots: number, others: number): FlowConfiguration =>
      new FlowConfiguration([schema], [level('robots', robots, limitResponse), level('others', others, limitResponse)]);
    let configuration = configure(50, 50);
    const { wire, users, waiting, releaseAll } = await startHeld({ limits: { seats: 2 }, flowConfiguration: () => configuration });
    await using _server = wire;
    const requests = [as(wire, 'user:robot')];
    await until('it has the one seat', () => users().length === 1);
    configuration = configure(50, 50);
    requests.push(as(wire, 'user:robot'));
    await until('the next one waits', () => waiting() === 1);
    expect(users()).toEqual(['robot']);
    configuration = configure(75, 25);
    requests.push(as(wire, 'user:robot'));
    await until('it has a new seat', () => users().length === 2);
    releaseAll();
    expect(await Promise.all(requests)).toMatchObject([{ code: 200 }, { code: 200 }, { code: 200 }]);
  });
});

test('health, nodes and leases do not wait for other users', async () => {
  const { wire, users, waiting, releaseAll } = await startHeld({ limits: { seats: 2, requestsWaiting: 4 } });
  await using _server = wire;
  const bulk = Array.from({ length: 6 }, (_, i) => as(wire, `user:u${i}`));
  await until('there is no room', () => users().length === 2 && waiting() === 4);
  expect(await as(wire, 'user:late')).toMatchObject({ code: 429 });
  expect(await send(wire, '/livez')).toMatchObject({ code: 200 });
  const node = as(wire, 'node:worker-1');
  await until('the node is worked for', () => users().includes('system:node:worker-1'));
  releaseAll();
  expect(await node).toMatchObject({ code: 200 });
  await Promise.all(bulk);
});

test('who gives up while waiting is not worked for', async () => {
  const { wire, users, waiting, releaseAll } = await startHeld({ limits: { seats: 1 } });
  await using _server = wire;
  const first = as(wire, 'user:first');
  await until('one is under way', () => users().length === 1);
  expect(await as(wire, 'user:hasty', `${collection}/a?timeout=50ms`)).toMatchObject({ code: 429 });
  expect(waiting()).toBe(0);
  releaseAll();
  expect(await first).toMatchObject({ code: 200 });
  expect(users()).toEqual(['first']);
});

test('a body that does not arrive keeps no seat', async () => {
  await using wire = await startWireServer({ limits: { seats: 1 } });
  wire.api.put('default', 'a', {});
  const slow = https.request(`${wire.server.url}${collection}`, {
    method: 'POST',
    agent: false,
    ca: wire.certificates.authority.certificate,
    headers: { authorization: 'Bearer user:slow', 'content-length': '100' },
  });
  slow.on('error', () => undefined);
  slow.write('{"half":');
  await until('it is under way', () => wire.metrics.text().includes('apiserver_current_inflight_requests 1\n'));
  expect(await as(wire, 'user:quick')).toMatchObject({ code: 200 });
  slow.destroy();
});

test('large bodies have a limit together: what is announced beyond it is not even read', async () => {
  const { wire, users, releaseAll } = await startHeld({ limits: { bodiesBytes: 500_000, bodiesBytesPerUser: 300_000 } });
  await using _server = wire;
  const post = (user: string): Promise<Reply> =>
    send(wire, collection, {
      method: 'POST',
      as: 'anonymous',
      headers: { authorization: `Bearer user:${user}` },
      body: JSON.stringify({ metadata: { name: user }, data: { text: 'x'.repeat(200_000) } }),
    });
  const first = post('ann');
  await until('it is under way', () => users().length === 1);
  expect(await post('ann')).toMatchObject({ code: 429 });
  const second = post('bob');
  await until('another user has room', () => users().length === 2);
  expect(await post('cid')).toMatchObject({ code: 429 });
  releaseAll();
  expect(await Promise.all([first, second])).toMatchObject([{ code: 201 }, { code: 201 }]);
  expect(await post('cid')).toMatchObject({ code: 201 });
});

test('one user cannot open all watches', async () => {
  await using wire = await startWireServer({ limits: { watchesPerUser: 2 } });
  const watch = `${collection}?watch=1`;
  const open = [as(wire, 'user:greedy', watch), as(wire, 'user:greedy', watch)];
  await until('two are open', () => wire.api.openWatches === 2);
  expect(await as(wire, 'user:greedy', watch)).toMatchObject({ code: 429, headers: { 'retry-after': '1' } });
  open.push(as(wire, 'user:modest', watch));
  await until('another user opens one', () => wire.api.openWatches === 3);
  await wire.server.stop();
  expect((await Promise.all(open)).map(({ code }) => code)).toEqual([200, 200, 200]);
});
