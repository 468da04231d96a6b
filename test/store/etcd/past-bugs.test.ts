/** Bugs that etcd had, by the number of their issue at etcd-io/etcd: a server on such an etcd is right, or says that it cannot be. */
import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { RangeRequestSchema, TxnRequestSchema } from '../../../src/grpc/generated/etcd.ts';
import type { EtcdBugs } from '../../../src/sim/etcd/etcd-bugs.ts';
import { SimulatedEtcd, type SimulatedEtcdOptions } from '../../../src/sim/etcd/simulated-etcd.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';
import { bytes, record, text, write } from '../../../src/store/conformance/expectations.ts';
import { at, put, remove } from '../../../src/store/contract.ts';
import { networkWith, openSimulatedStore } from './simulated-store.ts';

/** Two servers on one etcd. */
async function twoServers(world: SimulatedWorld, options: SimulatedEtcdOptions = {}) {
  const etcd = new SimulatedEtcd(world, options);
  const network = networkWith(world, {});
  const a = await openSimulatedStore(world, etcd, { network });
  const b = await openSimulatedStore(world, etcd, { network });
  return { etcd, a, b, network };
}

/** The watches of all servers are resumed at other members. */
function cutWatches(etcd: SimulatedEtcd): void {
  for (const member of etcd.members) member.cutConnections();
}

/** How many reads on one server do not show what another has acknowledged before. */
async function staleReads(world: SimulatedWorld, version: string): Promise<number> {
  const { a, b } = await twoServers(world, { version, bugs: { progressBeforeEvents: true } });
  let stale = 0;
  for (let i = 0; i < 20; i++) {
    await write(a, { '/a': `${i}` });
    if (text(await b.get('/a')) !== `${i}`) stale++;
  }
  return stale;
}

test('#15220: progress ahead of events is not believed of an etcd that has this bug', async () => {
  const staleReadsOf = (version: string) => simulate(1, (world) => staleReads(world, version));
  expect(await staleReadsOf('3.5.12')).toBe(0);
  expect(await staleReadsOf('3.4.23')).toBe(0);
  // The scenario finds it: an etcd with the bug and the version of one without it deceives its readers.
  expect(await staleReadsOf('3.5.13')).toBeGreaterThan(0);
});

test.each([
  ['#15271: a watch that goes back in time', 0],
  ['#20221: a watch from a future revision that gets old events', 1],
])('%s delivers each revision once', (_, ahead) =>
  simulate(2, async (world) => {
    const { etcd, a, b } = await twoServers(world, { bugs: { eventsFromThePast: true } });
    const seen = record(b, '/', b.revision());
    for (let i = 0; i < 6; i++) {
      const { revision } = await write(a, { '/a': `${i}`, [`/b/${i}`]: 'x' });
      if (ahead === 1) await seen.until(revision);
      cutWatches(etcd);
      await world.sleep(200);
    }
    const lines = await seen.until(a.revision());
    expect(lines.map((line) => line.replace(/^\d+: /, ''))).toEqual(
      Array.from({ length: 6 }, (__, i) => `put /a=${i}${i > 0 ? ` was ${i - 1}` : ''}, put /b/${i}=x`),
    );
    expect(text(await b.get('/a'))).toBe('5');
  }),
);

test.each([
  ['#17780: a revision that decreases after a crash', 2],
  ['#14370: a single member that loses its last write in a crash', 1],
])('%s stops the store', (_, lost) =>
  simulate(3, async (world) => {
    const { etcd, a } = await twoServers(world);
    for (const value of ['1', '2', '3']) await write(a, { '/a': value });
    const seen = record(a, '/', a.revision());
    etcd.state.lose(lost);
    await expect(a.get('/a')).rejects.toMatchObject({ code: 'failed', message: expect.stringContaining('lost acknowledged writes') });
    await expect(write(a, { '/a': '4' })).rejects.toMatchObject({ code: 'failed' });
    expect(await seen.ended).toMatchObject({ code: 'failed' });
    expect(a.writeProblem()).toContain('lost acknowledged writes');
  }),
);

test('#14370: a write that gets a revision twice stops the store', () =>
  simulate(4, async (world) => {
    const { etcd, a } = await twoServers(world);
    await write(a, { '/a': '1' });
    etcd.state.lose(1);
    await expect(write(a, { '/a': '2' })).rejects.toMatchObject({ code: 'failed' });
  }));

test('#18089, #19179: a deletion that compaction took from the events is found by comparing', () =>
  simulate(5, async (world) => {
    const { etcd, a, b } = await twoServers(world, { bugs: { noDeletesAtCompaction: true } });
    await write(a, { '/gone': '1', '/kept': '1' });
    await b.get('/gone');
    const seen = record(b, '/', b.revision());
    // The watches are interrupted, another server deletes the key, and etcd is compacted before they are resumed.
    cutWatches(etcd);
    const request = create(TxnRequestSchema, { success: [{ request: { case: 'requestDeleteRange', value: { key: bytes('/mooring/data/gone') } } }] });
    etcd.state.txn(request, 1);
    etcd.state.compact(etcd.state.revision);
    expect(await b.get('/gone')).toBeUndefined();
    expect(await seen.ended).toMatchObject({ code: 'compacted' });
    expect(await b.get('/gone')).toBeUndefined();
    expect(text(await b.get('/kept'))).toBe('1');
    expect(await a.get('/gone')).toBeUndefined();
  }));

test.each(['3.5.30', '3.5.12'])('#17529: events that are lost on a slow stream of etcd %s are found, by the next event of the key or by comparing', (version) =>
  simulate(6, async (world) => {
    const etcd = new SimulatedEtcd(world, { version });
    const options = { network: networkWith(world, {}), compactionIntervalMs: 300_000 };
    const a = await openSimulatedStore(world, etcd, options);
    const b = await openSimulatedStore(world, etcd, options);
    await b.get('/0');
    etcd.bugs = { lostEvents: 0.3 } satisfies EtcdBugs;
    for (let i = 0; i < 40; i++) {
      await a.transact({ compares: [], writes: i % 3 === 2 ? [remove(`/${(i - 1) % 7}`)] : [put(`/${i % 7}`, bytes(`${i}`))] }).catch(() => undefined);
    }
    etcd.bugs = {};
    await world.sleep(601_000);
    const everything = create(RangeRequestSchema, { key: bytes('/mooring/data/'), rangeEnd: bytes('/mooring/data0') });
    const { versions } = etcd.state.range(everything);
    for (const store of [a, b]) {
      const { entries } = await store.range({ from: '/', to: '0' });
      expect(entries.map(({ modRevision }) => modRevision)).toEqual(versions.map(({ modRevision }) => modRevision));
      // Of the older version, reads go to etcd. What is in memory shows here.
      expect(store.stats()).toMatchObject({ keys: versions.length, liveBytes: versions.reduce((sum, { value }) => sum + value.length, 0) });
    }
  }),
);

test.each([
  ['is noticed with versions that have this bug', '3.5.12', ['compacted']],
  // The scenario finds it: nothing shows the gap in the events of an etcd that is not asked.
  ['would not be noticed otherwise', '3.5.13', []],
])('#17529: an update that is lost right before a deletion %s', (_, version, ends) =>
  simulate(9, async (world) => {
    const { etcd, a, b } = await twoServers(world, { version });
    await write(a, { '/a': 'old' });
    await world.sleep(1_000);
    const seen: string[] = [];
    b.watch({ prefix: '/', after: b.revision() }, { changes: () => undefined, end: ({ code }) => void seen.push(code) });
    etcd.bugs = { lostEvents: 1 };
    void write(a, { '/a': 'new' }).catch(() => undefined);
    await world.sleep(100);
    etcd.bugs = {};
    void a.transact({ compares: [], writes: [remove('/a')] }).catch(() => undefined);
    await world.sleep(1_000);
    expect(seen).toEqual(ends);
    expect(await b.get('/a')).toBeUndefined();
  }),
);

test('#17529: a conflict that the mirror has no event of is a lost event: all objects are read again', () =>
  simulate(8, async (world) => {
    const { etcd, a, b } = await twoServers(world);
    const { revision: old } = await write(a, { '/a': 'old' });
    await b.get('/a');
    etcd.bugs = { lostEvents: 1 };
    void write(a, { '/a': 'new' }).catch(() => undefined);
    await world.sleep(100);
    etcd.bugs = {};
    // The mirror passes the lost revision, and nothing shows that it was one.
    await write(b, { '/b': 'x' });
    expect(text(await b.get('/a'))).toBe('old');
    const seen = record(b, '/', b.revision());
    expect(await b.transact({ compares: [at('/a', old)], writes: [put('/a', bytes('mine'))] })).toMatchObject({ ok: false, conflicts: [{ key: '/a' }] });
    expect(await seen.ended).toMatchObject({ code: 'compacted' });
    expect(text(await b.get('/a'))).toBe('new');
  }));

test('#20418: a member that was paused and answers with the past takes no server back behind what it has seen', () =>
  simulate(7, async (world) => {
    const { etcd, a } = await twoServers(world);
    for (const value of ['1', '2', '3']) await write(a, { '/a': value });
    etcd.bugs = { staleReads: 2 };
    for (let i = 0; i < 5; i++) expect(text(await a.get('/a'))).toBe('3');
    const { modRevision = 0 } = (await a.get('/a')) ?? {};
    expect(await a.transact({ compares: [at('/a', modRevision)], writes: [put('/a', bytes('4'))] })).toMatchObject({ ok: true });
    expect(text(await a.get('/a'))).toBe('4');
  }));
