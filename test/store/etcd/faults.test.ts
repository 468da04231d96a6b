/** What a server does when etcd refuses, is away, or is not what it should be. */
import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { TxnRequestSchema } from '../../../src/grpc/generated/etcd.ts';
import { SimulatedEtcd } from '../../../src/sim/etcd/simulated-etcd.ts';
import { SimulatedChannel } from '../../../src/sim/world/grpc-channel.ts';
import { perfectNetwork, SimulatedNetwork } from '../../../src/sim/world/network.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import { bytes, expectCode, record, text, write } from '../../../src/store/conformance/expectations.ts';
import { absent, put, remove } from '../../../src/store/contract.ts';
import { openEtcdStore } from '../../../src/store/etcd/etcd-store.ts';
import { networkWith, openSimulatedStore } from './simulated-store.ts';

function putInto(etcd: SimulatedEtcd, key: string, value: string): void {
  etcd.state.txn(create(TxnRequestSchema, { success: [{ request: { case: 'requestPut', value: { key: bytes(key), value: bytes(value) } } }] }), 1);
}

describe('opening', () => {
  const refusal = (seed: number, prepare: (etcd: SimulatedEtcd) => void) =>
    simulate(seed, async (world) => {
      const etcd = new SimulatedEtcd(world);
      prepare(etcd);
      return openSimulatedStore(world, etcd).then(
        () => undefined,
        (error: unknown) => error,
      );
    });

  test('foreign data under the prefix is refused', async () => {
    expect(await refusal(1, (etcd) => putInto(etcd, '/mooring/registry/pods', 'x'))).toMatchObject({
      code: 'foreign',
      message: expect.stringMatching(/1 keys under \/mooring\/ .* choose another --etcd-prefix/),
    });
    expect(await refusal(1, (etcd) => putInto(etcd, '/mooring/format', 'x'))).toMatchObject({ code: 'foreign' });
    expect(await refusal(1, (etcd) => putInto(etcd, '/mooring-other/registry/pods', 'x'))).toBeUndefined();
  });

  test('data of a newer Mooring is refused', async () => {
    const newer = await refusal(2, (etcd) => putInto(etcd, '/mooring/format', JSON.stringify({ format: 3, clusterId: 'x' })));
    expect(newer).toMatchObject({ code: 'newer-version' });
  });

  test('an etcd that is too old is refused', async () => {
    const old = await refusal(3, (etcd) => (etcd.version = '3.3.27'));
    expect(old).toMatchObject({ code: 'unsupported', message: expect.stringContaining('etcd 3.3.27 is too old: Mooring needs 3.4.0') });
  });

  test('an etcd that cannot be reached, and one without a leader', async () => {
    const away = await refusal(4, (etcd) => etcd.members.forEach((member) => member.crash()));
    expect(away).toMatchObject({ code: 'unavailable', message: expect.stringContaining('connection refused') });
    const leaderless = await refusal(5, (etcd) => (etcd.hasQuorum = false));
    expect(leaderless).toMatchObject({ code: 'unavailable' });
  });

  test('servers of two etcd clusters are refused', () =>
    simulate(6, async (world) => {
      const network = new SimulatedNetwork(world, perfectNetwork);
      const [one, other] = [new SimulatedEtcd(world), new SimulatedEtcd(world, { clusterId: 7n })];
      const members = [...one.members.slice(0, 1), ...other.members.slice(0, 1)];
      const endpoints = members.map((member, i) => ({ url: `http://etcd-${i}:2379`, channel: new SimulatedChannel(member, network) }));
      const store = await openEtcdStore({ endpoints, prefix: '/mooring', world, newClusterId: 'x', compactionIntervalMs: 0 });
      one.members[0]?.crash();
      await expect(store.get('/a')).rejects.toMatchObject({
        code: 'foreign',
        message: expect.stringContaining('http://etcd-1:2379 belongs to another etcd cluster'),
      });
    }));

  test('two servers that begin together share one store', () =>
    simulate(7, async (world) => {
      const etcd = new SimulatedEtcd(world);
      const network = networkWith(world, {});
      const [a, b] = await Promise.all([openSimulatedStore(world, etcd, { network }), openSimulatedStore(world, etcd, { network })]);
      expect(a.clusterId).toBe(b.clusterId);
      await write(a, { '/a': '1' });
      expect(text(await b.get('/a'))).toBe('1');
    }));
});

describe('writing', () => {
  test('more operations than etcd takes are refused before anything is sent', () =>
    simulate(10, async (world) => {
      const etcd = new SimulatedEtcd(world);
      const store = await openSimulatedStore(world, etcd);
      const { revision } = etcd.state;
      const keys = Array.from({ length: 129 }, (_, i) => `/${i}`);
      await expectCode(store.transact({ compares: [], writes: keys.map((key) => put(key, bytes('x'))) }), 'too-large');
      await expectCode(store.transact({ compares: keys.map(absent), writes: [] }), 'too-large');
      expect(etcd.state.revision).toBe(revision);
      expect(await store.transact({ compares: [], writes: keys.slice(1).map((key) => put(key, bytes('x'))) })).toMatchObject({ ok: true });
    }));

  test('an etcd without space refuses writes, deletes and goes on reading; the store says so until there is space', () =>
    simulate(11, async (world) => {
      const etcd = new SimulatedEtcd(world);
      const store = await openSimulatedStore(world, etcd);
      await write(store, { '/a': '1', '/b': '1' });
      expect(store.writeProblem()).toBeUndefined();
      etcd.isFull = true;
      await expect(write(store, { '/a': '2' })).rejects.toMatchObject({ code: 'full', message: expect.stringContaining('etcdctl alarm disarm') });
      expect(store.writeProblem()).toContain('out of space');
      expect(text(await store.get('/a'))).toBe('1');
      expect(await store.transact({ compares: [], writes: [remove('/b')] })).toMatchObject({ ok: true });
      const other = await openSimulatedStore(world, etcd);
      expect(other.writeProblem()).toContain('out of space');
      etcd.isFull = false;
      await write(store, { '/a': '3' });
      expect(store.writeProblem()).toBeUndefined();
    }));

  test('a transaction that no member got has not happened', () =>
    simulate(12, async (world) => {
      const etcd = new SimulatedEtcd(world);
      const store = await openSimulatedStore(world, etcd);
      for (const member of etcd.members) member.crash();
      await expectCode(write(store, { '/a': '1' }), 'unavailable');
      await expectCode(store.get('/a'), 'unavailable');
      for (const member of etcd.members) member.start();
      expect(await store.get('/a')).toBeUndefined();
    }));

  test('a transaction that goes to one member after the other happens once', () =>
    simulate(13, async (world) => {
      const etcd = new SimulatedEtcd(world);
      const store = await openSimulatedStore(world, etcd);
      const { revision } = etcd.state;
      etcd.members[0]?.crash();
      etcd.members[1]?.crash();
      expect(await write(store, { '/a': '1' })).toMatchObject({ revision: revision + 1 });
    }));

  test('without a quorum a transaction is undecided, and may happen later', () =>
    simulate(14, async (world) => {
      const etcd = new SimulatedEtcd(world);
      const store = await openSimulatedStore(world, etcd, { requestTimeoutMs: 10_000 });
      etcd.hasQuorum = false;
      await expect(write(store, { '/a': '1' })).rejects.toMatchObject({
        code: 'undecided',
        message: expect.stringContaining('Most members of the etcd cluster'),
      });
      await expectCode(store.get('/a'), 'unavailable');
      etcd.regainQuorum();
      expect(text(await store.get('/a'))).toBe('1');
    }));
});

describe('the watch', () => {
  test('goes on at another member, without a gap', () =>
    simulate(20, async (world) => {
      const etcd = new SimulatedEtcd(world);
      const store = await openSimulatedStore(world, etcd);
      const seen = record(store, '/', store.revision());
      for (let i = 0; i < 9; i++) {
        const down = etcd.members[i % 3];
        down?.crash();
        await write(store, { '/a': `${i}` });
        down?.start();
      }
      const lines = await seen.until(store.revision());
      expect(lines.map((line) => line.replace(/^\d+: put \/a=(\d).*/, '$1')).join('')).toBe('012345678');
    }));

  test('that comes back after a compaction reads everything again, and its watchers begin anew', () =>
    simulate(21, async (world) => {
      const etcd = new SimulatedEtcd(world);
      const [a, b] = [await openSimulatedStore(world, etcd), await openSimulatedStore(world, etcd)];
      await write(a, Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`/${i}`, 'old'])));
      await world.sleep(1_000);
      const kept = await b.get('/7');
      const seen = record(b, '/', b.revision());
      for (const member of etcd.members) member.cutConnections();
      for (let i = 0; i < 3; i++) putInto(etcd, `/mooring/data/${i}`, 'new');
      etcd.state.compact(etcd.state.revision);
      expect(text(await b.get('/1'))).toBe('new');
      expect(await seen.ended).toMatchObject({ code: 'compacted' });
      const { revision } = etcd.state;
      await world.sleep(10_000);
      expect([b.revision(), b.compactedRevision()]).toEqual([revision, revision]);
      // What did not change is the same entry: nothing is decoded again.
      expect(await b.get('/7')).toBe(kept);
    }));
});

test('of two servers, one compacts etcd in each round, to the revision of the round before', () =>
  simulate(30, async (world) => {
    const etcd = new SimulatedEtcd(world);
    const network = networkWith(world, {});
    const open = () => openSimulatedStore(world, etcd, { network, compactionIntervalMs: 300_000 });
    const [a, b] = [await open(), await open()];
    const compacted: number[] = [];
    const newest: number[] = [];
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 10; i++) await write(i % 2 === 0 ? a : b, { '/a': `${i}` });
      newest.push(etcd.state.revision);
      await world.sleep(300_000);
      compacted.push(etcd.state.compacted);
    }
    // One round writes one key, not two.
    expect(etcd.state.revision).toBe(2 + 50 + 5);
    expect(compacted[0]).toBe(0);
    for (let round = 1; round < 5; round++) {
      expect(compacted[round]).toBeGreaterThan(compacted[round - 1] ?? 0);
      expect(compacted[round]).toBeLessThanOrEqual((newest[round - 1] ?? 0) + 1);
    }
    await a.close();
    await b.close();
  }));

test('reads that wait together ask etcd once', () =>
  simulate(31, async (world: SimulatedWorld) => {
    const etcd = new SimulatedEtcd(world);
    const store = await openSimulatedStore(world, etcd);
    await write(store, { '/a': '1' });
    await world.sleep(1_000);
    const before = etcd.ranges;
    const found = await Promise.all(Array.from({ length: 100 }, () => store.get('/a')));
    expect(found.map(text)).toEqual(found.map(() => '1'));
    // The first, and one for all that came while it was under way.
    expect(etcd.ranges - before).toBeLessThanOrEqual(2);
  }));
