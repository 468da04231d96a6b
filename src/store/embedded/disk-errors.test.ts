import { describe, expect, test } from 'vitest';
import { type DiskOperation, SimulatedDisk } from '../../sim/world/disk.ts';
import { absent, at, put, type Transaction } from '../contract.ts';
import { type EmbeddedStore, openEmbeddedStore } from './embedded-store.ts';

const directory = '/data';
const everything = { from: '/', to: '0' };
const one = (key: string, size = 100): Transaction => ({ compares: [], writes: [put(key, new Uint8Array(size).fill(1))] });
/** A write that does not fit into what a log has reserved. */
const moreThanAhead = 2 << 20;
const open = (disk: SimulatedDisk): Promise<EmbeddedStore> => openEmbeddedStore({ directory, disk });

/** A disk whose operations wait, once told to, until they are let go. */
function gated() {
  const operations: DiskOperation[] = [];
  let gate: Promise<void> | undefined;
  let release = (): void => {};
  const disk = new SimulatedDisk({
    before: async (operation) => {
      operations.push(operation);
      await gate;
    },
  });
  return {
    disk,
    count: (name: DiskOperation['name']) => operations.filter((operation) => operation.name === name).length,
    hold: () => {
      gate = new Promise((resolve) => {
        release = resolve;
      });
    },
    letGo: () => {
      gate = undefined;
      release();
    },
  };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

describe('writes that arrive together', () => {
  test('are synced together', async () => {
    const { disk, count } = gated();
    const store = await open(disk);
    const before = count('sync');
    await Promise.all(Array.from({ length: 500 }, (_, i) => store.transact(one(`/${i}`))));
    expect(count('sync') - before).toBe(1);
  });

  test('make up the next batch while one is being synced', async () => {
    const { disk, count, hold, letGo } = gated();
    const store = await open(disk);
    const before = count('sync');
    hold();
    const first = store.transact(one('/first'));
    await settle();
    const rest = Array.from({ length: 100 }, (_, i) => store.transact(one(`/${i}`)));
    await settle();
    expect(store.revision()).toBe(1);
    letGo();
    await Promise.all([first, ...rest]);
    expect(count('sync') - before).toBe(2);
  });

  test('may be larger than what is read at once', async () => {
    const disk = new SimulatedDisk();
    let store = await open(disk);
    const sizes = [3, 1, 9, 0, 3, 5].map((megabytes) => (megabytes << 20) + 17);
    await Promise.all(sizes.map((size, i) => store.transact(one(`/${i}`, size))));
    await store.close();
    store = await open(disk);
    expect((await store.range(everything)).entries.map(({ value }) => value.byteLength)).toEqual(sizes);
    await store.close();
  });
});

test('what was seen of a write that is not durable yet is answered only when it is', async () => {
  const { disk, hold, letGo } = gated();
  const store = await open(disk);
  hold();
  const answers: string[] = [];
  const ask = (name: string, transaction: Transaction): void => void store.transact(transaction).then(({ ok }) => answers.push(`${name} ${ok}`));
  ask('write', one('/a'));
  ask('conflict', { compares: [absent('/a')], writes: [] });
  ask('holds', { compares: [at('/a', 2)], writes: [] });
  ask('elsewhere', { compares: [absent('/b')], writes: [] });
  await settle();
  expect(answers).toEqual(['elsewhere true']);
  expect(await store.get('/a')).toBeUndefined();
  letGo();
  await expect.poll(() => answers, { interval: 1 }).toEqual(['elsewhere true', 'write true', 'conflict false', 'holds true']);
});

describe('a full disk', () => {
  test('refuses writes, not reads, and nothing of a refused write remains', async () => {
    const disk = new SimulatedDisk();
    let store = await open(disk);
    await store.transact(one('/before'));
    const { used } = disk;
    disk.capacity = used + 50;
    const told: number[] = [];
    store.watch({ prefix: '/', after: 2 }, { changes: (revision) => told.push(revision), end: () => {} });
    await expect(store.transact(one('/refused', moreThanAhead))).rejects.toMatchObject({ code: 'full', message: expect.stringContaining(directory) });
    expect(disk.used).toBeLessThanOrEqual(used);
    expect(store.revision()).toBe(2);
    expect((await store.range(everything)).entries.map(({ key }) => key)).toEqual(['/before']);

    disk.capacity = Number.POSITIVE_INFINITY;
    expect(await store.transact({ compares: [absent('/refused')], writes: one('/after').writes })).toMatchObject({ ok: true, revision: 3 });
    expect(told).toEqual([3]);
    await store.close();
    store = await open(disk);
    expect((await store.range(everything)).entries.map(({ key }) => key)).toEqual(['/after', '/before']);
  });

  test('takes what fits into the room that its log has already', async () => {
    const disk = new SimulatedDisk();
    const store = await open(disk);
    await store.transact(one('/before'));
    disk.capacity = disk.used;
    await expect(store.transact(one('/small'))).resolves.toMatchObject({ ok: true });
    expect(disk.used).toBe(disk.capacity);
  });

  test('also refuses what came after and rested on what was refused', async () => {
    const disk = new SimulatedDisk();
    const store = await open(disk);
    disk.capacity = disk.used;
    const results = await Promise.allSettled([
      store.transact(one('/a', moreThanAhead)),
      store.transact({ compares: [at('/a', 2)], writes: [put('/b', new Uint8Array(1))] }),
      store.transact({ compares: [absent('/a')], writes: [] }),
    ]);
    expect(results.map((result) => result.status === 'rejected' && result.reason.code)).toEqual(['full', 'full', 'full']);
    disk.capacity = Number.POSITIVE_INFINITY;
    expect(await store.transact({ compares: [absent('/a')], writes: [put('/b', new Uint8Array(1))] })).toMatchObject({ ok: true, revision: 2 });
  });

  test('is relieved by compaction, if a snapshot fits', async () => {
    const disk = new SimulatedDisk();
    const store = await openEmbeddedStore({ directory, disk, segmentBytes: 1000 });
    for (let i = 0; i < 100; i++) await store.transact(one('/same'));
    disk.capacity = disk.used + 4000;
    await expect(store.transact(one('/same', 6000))).rejects.toMatchObject({ code: 'full' });
    await store.compact(store.revision());
    await expect.poll(() => disk.used, { interval: 1 }).toBeLessThan(5000);
    expect(await store.transact(one('/same', 6000))).toMatchObject({ ok: true });
  });

  test('is reported until there is room again, without a write', async () => {
    const disk = new SimulatedDisk();
    const store = await open(disk);
    expect(store.writeProblem()).toBeUndefined();
    disk.capacity = disk.used + 100;
    expect(store.writeProblem()).toBe('the disk of /data is full: it has room for 100 bytes');
    disk.capacity = disk.used + (3 << 20);
    expect(store.writeProblem()).toBeUndefined();
    await expect(store.transact(one('/large', 8 << 20))).rejects.toMatchObject({ code: 'full' });
    expect(store.writeProblem()).toMatch(/^the disk of \/data is full/);
    disk.capacity = Number.POSITIVE_INFINITY;
    expect(store.writeProblem()).toBeUndefined();
  });

  test('found while starting is reported, and the directory is free again', async () => {
    const disk = new SimulatedDisk({ capacity: 10 });
    await expect(open(disk)).rejects.toMatchObject({ code: 'full' });
    disk.capacity = Number.POSITIVE_INFINITY;
    await (await open(disk)).close();
  });
});

describe('a disk that fails', () => {
  test('to sync: nothing more is written, since it is unknown what is durable; reads still work', async () => {
    let broken = false;
    const disk = new SimulatedDisk({
      before: ({ name }) => {
        if (broken && name === 'sync') throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
      },
    });
    const store = await open(disk);
    await store.transact(one('/before'));
    broken = true;
    await expect(store.transact(one('/lost'))).rejects.toMatchObject({ code: 'failed' });
    broken = false;
    await expect(store.transact(one('/later'))).rejects.toMatchObject({ code: 'failed' });
    await expect(store.compact(2)).rejects.toMatchObject({ code: 'failed' });
    expect((await store.range(everything)).entries.map(({ key }) => key)).toEqual(['/before']);
    await store.close();
  });

  test('to read: opening fails with the reason, and the directory is free again', async () => {
    let broken = false;
    const disk = new SimulatedDisk({
      before: ({ name }) => {
        if (broken && name === 'read') throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
      },
    });
    await (await open(disk)).close();
    broken = true;
    await expect(open(disk)).rejects.toMatchObject({ code: 'failed', message: expect.stringContaining('EIO') });
    broken = false;
    await (await open(disk)).close();
  });
});

test('a directory belongs to one store at a time', async () => {
  const disk = new SimulatedDisk();
  const store = await open(disk);
  await expect(open(disk)).rejects.toMatchObject({ code: 'locked', message: expect.stringContaining(directory) });
  await store.close();
  await (await open(disk)).close();
});

test('revisions, the compacted one and the history after it survive a restart', async () => {
  const disk = new SimulatedDisk();
  let store = await open(disk);
  for (let i = 0; i < 10; i++) await store.transact(one(`/${i % 3}`, i));
  await store.compact(6);
  const past = await store.range({ ...everything, revision: 7 });
  await store.close();
  store = await open(disk);
  expect([store.revision(), store.compactedRevision()]).toEqual([11, 6]);
  expect(await store.range({ ...everything, revision: 7 })).toEqual(past);
  await expect(store.range({ ...everything, revision: 5 })).rejects.toMatchObject({ code: 'compacted' });
  const told: number[] = [];
  store.watch({ prefix: '/', after: 8 }, { changes: (revision) => told.push(revision), end: () => {} });
  expect(told).toEqual([9, 10, 11]);
});
