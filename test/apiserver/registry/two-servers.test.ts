/** Two API servers on one etcd: what a client gets from one holds on the other. */
import { expect, test } from 'vitest';
import { SimulatedEtcd } from '../../../src/sim/etcd/simulated-etcd.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import { networkWith, openSimulatedStore } from '../../store/etcd/simulated-store.ts';
import { ApiUnderTest } from '../api-under-test.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const map = (name: string, value = '1') => ({ metadata: { name }, data: { value } });

async function twoServers(world: SimulatedWorld) {
  const etcd = new SimulatedEtcd(world);
  const network = networkWith(world, { delayMs: 20 });
  const open = () => openSimulatedStore(world, etcd, { network, compactionIntervalMs: 60_000 });
  const [a, b] = [new ApiUnderTest(world, await open()), new ApiUnderTest(world, await open())];
  await a.namespace('default');
  return { etcd, a, b };
}

test('what one server has acknowledged, the other shows at once', () =>
  simulate(1, async (world) => {
    const { a, b } = await twoServers(world);
    for (let i = 0; i < 10; i++) {
      const [one, other] = i % 2 === 0 ? [a, b] : [b, a];
      const { code, body } = await one.create(maps, map(`m-${i}`));
      expect(code).toBe(201);
      expect(await other.send('GET', `${maps}/m-${i}`)).toMatchObject({ code: 200, body: { metadata: { uid: body.metadata.uid } } });
      expect((await other.send('GET', maps)).body['items']).toHaveLength(i + 1);
    }
  }));

test('a resourceVersion of one server is honoured by the other, also one that no change has', () =>
  simulate(2, async (world) => {
    const { etcd, a, b } = await twoServers(world);
    const { body } = await a.create(maps, map('first'));
    const query = `resourceVersion=${body.metadata.resourceVersion}&resourceVersionMatch=NotOlderThan`;
    expect((await b.send('GET', maps, { query })).body['items']).toHaveLength(1);
    // The servers agree on a compaction: a revision without an object.
    await world.sleep(61_000);
    const { revision } = etcd.state;
    const begin = world.clock.monotonic();
    const listed = await b.send('GET', maps, { query: `resourceVersion=${revision}&resourceVersionMatch=NotOlderThan` });
    expect(Number(listed.body.metadata.resourceVersion)).toBeGreaterThanOrEqual(revision);
    expect(world.clock.monotonic() - begin).toBeLessThan(1_000);
    expect(await b.send('GET', maps, { query: `resourceVersion=${revision + 1_000}` })).toMatchObject({ code: 504, body: { reason: 'Timeout' } });
  }));

test('a watch that begins at one server is continued at the other', () =>
  simulate(3, async (world) => {
    const { a, b } = await twoServers(world);
    const { body } = await a.create(maps, map('first'));
    const watched = await b.watch(maps, `resourceVersion=${body.metadata.resourceVersion}`);
    await a.create(maps, map('second'));
    await b.send('DELETE', `${maps}/first`);
    await world.sleep(1_000);
    expect(watched.lines.map((line) => line.replace(/@.*/, ''))).toEqual(['ADDED second', 'DELETED first']);
  }));

test('of two clients that create the same, or update the same revision, at two servers, one succeeds', () =>
  simulate(4, async (world) => {
    const { a, b } = await twoServers(world);
    for (let i = 0; i < 5; i++) {
      const created = await Promise.all([a, b].map((server, n) => server.create(maps, map(`m-${i}`, `${n}`))));
      expect(new Set(created.map(({ code }) => code))).toEqual(new Set([201, 409]));
      const { body } = await a.send('GET', `${maps}/m-${i}`);
      const updated = await Promise.all([a, b].map((server, n) => server.send('PUT', `${maps}/m-${i}`, { body: { ...body, data: { value: `${n}+` } } })));
      expect(new Set(updated.map(({ code }) => code))).toEqual(new Set([200, 409]));
    }
  }));

test('a quota holds for both servers together', () =>
  simulate(5, async (world) => {
    const { a, b } = await twoServers(world);
    const quota = { metadata: { name: 'maps' }, spec: { hard: { 'count/configmaps': '3' } } };
    await a.create('/api/v1/namespaces/default/resourcequotas', quota);
    const status = { status: { hard: quota.spec.hard, used: { 'count/configmaps': '0' } } };
    const path = '/api/v1/namespaces/default/resourcequotas/maps/status';
    expect(await a.send('PATCH', path, { body: status, contentType: 'application/merge-patch+json' })).toMatchObject({ code: 200 });
    const created = await Promise.all(Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? a : b).create(maps, map(`m-${i}`))));
    expect(created.filter(({ code }) => code === 201)).toHaveLength(3);
    expect(created.filter(({ code }) => code === 403)).toHaveLength(5);
  }));
