import { beforeAll, describe, expect, test, vi } from 'vitest';
import { SimulatedDisk } from '../../src/sim/world/disk.ts';
import { Prng } from '../../src/sim/world/prng.ts';
import { StoreError } from '../../src/store/contract.ts';
import { planRepair, repairStore } from '../../src/store/embedded/repair.ts';
import {
  asFormat1,
  cluster,
  contentOf,
  directory,
  diskWith,
  filesOf,
  killedAfter,
  manualTimers,
  open,
  otherCluster,
  worldWith,
  write,
} from './damaged-disks.ts';

/**
 * Every kind of damage to every file of a real store: the store opens with all that was acknowledged, or is refused. Never is it
 * silently smaller. A repair then keeps a prefix of the history, says what is lost, and keeps a copy.
 */
const WRITES = 40;

/** With a snapshot, several logs, and a clean stop. */
async function soundStore(newClusterId = cluster): Promise<{ files: Map<string, Buffer>; history: Map<number, string> }> {
  const disk = new SimulatedDisk();
  const store = await open(disk, { newClusterId });
  const history = new Map([[1, '']]);
  for (let i = 0; i < WRITES; i++) {
    await write(store, i, i + 1);
    history.set(store.revision(), await contentOf(store));
    if (i === 29) await store.compact(store.revision() - 2);
  }
  await vi.waitUntil(async () => (await disk.list(directory)).some((name) => /^snapshot-\d+$/.test(name)), { interval: 1 });
  await store.close();
  return { files: await filesOf(disk), history };
}

let files: Map<string, Buffer>;
let history: Map<number, string>;
let foreign: Map<string, Buffer>;
beforeAll(async () => {
  ({ files, history } = await soundStore());
  ({ files: foreign } = await soundStore(otherCluster));
});

/** The message of the refusal; undefined: it opened, and holds everything. */
async function refusal(damaged: ReadonlyMap<string, Buffer>): Promise<string | undefined> {
  const disk = await diskWith(damaged);
  try {
    const store = await open(disk);
    expect(store.revision()).toBe(WRITES + 1);
    expect(await contentOf(store)).toBe(history.get(WRITES + 1));
    await store.close();
    return undefined;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    expect(['corrupt', 'newer-version']).toContain(error.code);
    expect(error.message.split('\n')).toHaveLength(1);
    expect(error.message).toContain(directory);
    expect(await filesOf(disk), 'a refused store is left as it is').toEqual(new Map([...damaged].sort(([a], [b]) => (a < b ? -1 : 1))));
    return error.message;
  }
}

const changed = (name: string, bytes: Buffer | undefined): Map<string, Buffer> => {
  const copy = new Map(files);
  if (bytes === undefined) copy.delete(name);
  else copy.set(name, bytes);
  return copy;
};

const names = (): string[] => [...files.keys()];
/** Each byte of the small files; of the others so many that all parts of a frame are met. */
const stepOf = (name: string): number => (name === 'progress' ? 1 : 5);
/** All notes of the progress may be lost in a crash, its header may not. */
const mayLose = (name: string, size: number): boolean => name === 'progress' && size >= 64;

describe('one file', () => {
  test('the store has all kinds of files', () => {
    expect(names().map((name) => name.replace(/-\d+$/, ''))).toEqual(expect.arrayContaining(['log', 'manifest.json', 'progress', 'snapshot']));
    expect(names().filter((name) => name.startsWith('log-')).length).toBeGreaterThan(3);
  });

  test('missing: refused, with its name', async () => {
    for (const name of names()) expect(await refusal(changed(name, undefined)), name).toContain(`${directory}/${name}`);
  });

  test('cut at any byte, or empty: refused, with its name', async () => {
    for (const [name, bytes] of files) {
      for (let size = 0; size < bytes.length; size += stepOf(name)) {
        const message = await refusal(changed(name, bytes.subarray(0, size)));
        if (!mayLose(name, size)) expect(message, `${name} cut to ${size}`).toContain(`${directory}/${name}`);
      }
    }
  });

  test('with any byte changed: refused', async () => {
    for (const [name, bytes] of files) {
      for (let offset = 0; offset < bytes.length; offset += stepOf(name)) {
        const copy = Buffer.from(bytes);
        copy.writeUInt8(copy.readUInt8(offset) ^ (1 << (offset % 8)), offset);
        const message = await refusal(changed(name, copy));
        if (!mayLose(name, offset)) expect(message, `${name} at ${offset}`).toContain(directory);
      }
    }
  });

  test('of another cluster: refused, and both are named', async () => {
    for (const [name, bytes] of foreign) {
      const message = await refusal(changed(name, bytes));
      expect(message, name).toContain(directory);
      if (name !== 'manifest.json') expect(message, name).toContain(`of cluster ${otherCluster}`);
    }
  });

  test('an older version of the manifest or of a log: refused', async () => {
    const disk = await diskWith(files);
    const store = await open(disk);
    await write(store, 0, 12);
    await store.close();
    const later = await filesOf(disk);
    const newest = names().findLast((name) => name.startsWith('log-')) ?? '';
    for (const name of ['manifest.json', newest]) {
      const old = files.get(name);
      if (old === undefined) throw new Error(name);
      await expect(open(await diskWith(new Map([...later, [name, old]]))), name).rejects.toMatchObject({ code: 'corrupt' });
    }
  });
});

describe('several files', () => {
  test('two of them swapped, or one in place of another: refused', async () => {
    for (const a of names()) {
      for (const b of names()) {
        const [atA, atB] = [files.get(a), files.get(b)];
        if (a === b || atA === undefined || atB === undefined) continue;
        expect(await refusal(changed(b, atA)), `${a} as ${b}`).toContain(directory);
        expect(await refusal(new Map([...files, [a, atB], [b, atA]])), `${a} and ${b} swapped`).toContain(directory);
      }
    }
  });

  test('a log more, with writes of its own: refused', async () => {
    const [last = ''] = names()
      .filter((name) => name.startsWith('log-'))
      .slice(-1);
    const copy = files.get(last);
    if (copy === undefined) throw new Error('no log');
    expect(await refusal(new Map([...files, [`log-${String(WRITES + 5).padStart(16, '0')}`, copy]]))).toContain('log-');
  });

  test('any part of them missing: refused, unless all are', async () => {
    const every = names();
    const random = new Prng(7);
    for (let round = 0; round < 200; round++) {
      const left = new Map([...files].filter(() => random.chance(0.5)));
      if (left.size === every.length || left.size === 0) continue;
      expect(await refusal(left), [...left.keys()].join(' ')).toContain(directory);
    }
  });

  test('a store that should be there and is not: refused', async () => {
    await expect(open(new SimulatedDisk(), { expectedClusterId: cluster })).rejects.toMatchObject({
      message: `/data/manifest.json is damaged: expected the manifest of cluster ${cluster}, found no file`,
    });
    await expect(open(await diskWith(foreign), { expectedClusterId: cluster })).rejects.toMatchObject({
      message: `/data/manifest.json is damaged: expected the manifest of cluster ${cluster}, found the one of cluster ${otherCluster}`,
    });
  });
});

describe('a log that was cut after a kill', () => {
  /** A store that was killed; its notes are of revision 11, and it acknowledged up to 16. */
  async function killed(): Promise<Map<string, Buffer>> {
    const disk = new SimulatedDisk();
    const { timers, elapse, pending } = manualTimers();
    const store = await open(disk, { segmentBytes: 1 << 20, world: worldWith(timers) });
    expect(pending()).toBe(0);
    await write(store, 0, 10);
    expect(pending()).toBe(1);
    elapse();
    await expect.poll(async () => disk.size(`${directory}/progress`), { interval: 1 }).toBeGreaterThan(64);
    expect(pending()).toBe(0);
    await write(store, 10, 15);
    return filesOf(disk.kill());
  }

  test('is refused where notes prove that acknowledged revisions are missing, and goes on where they do not', async () => {
    const left = await killed();
    const name = 'log-0000000000000001';
    const bytes = left.get(name) ?? Buffer.alloc(0);
    const end = bytes.findLastIndex((byte) => byte !== 0) + 1;
    const seen = new Set<number | string>();
    for (let size = end; size > 64; size -= 3) {
      const disk = await diskWith(new Map([...left, [name, bytes.subarray(0, size)]]));
      try {
        const store = await open(disk);
        expect(store.revision()).toBeGreaterThanOrEqual(11);
        expect(await contentOf(store)).toBe(await contentAfter(store.revision() - 1));
        seen.add(store.revision());
        await store.close();
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        const [, found, missing] = /up to revision 11, found \d+ bytes, up to revision (\d+); at least (\d+) acknowledged/.exec(error.message) ?? [];
        expect(Number(found) + Number(missing), error.message).toBe(11);
        seen.add(`missing ${missing}`);
      }
    }
    expect(seen).toEqual(new Set([16, 15, 14, 13, 12, 11, ...Array.from({ length: 10 }, (_, i) => `missing ${i + 1}`)]));
  });

  async function contentAfter(writes: number): Promise<string> {
    const store = await open(new SimulatedDisk());
    await write(store, 0, writes);
    return contentOf(store);
  }
});

describe('a repair', () => {
  /** Damage of each kind to each file. */
  function* damages(): Generator<[string, Map<string, Buffer>]> {
    for (const [name, bytes] of files) {
      yield [`${name} missing`, changed(name, undefined)];
      yield [`${name} empty`, changed(name, Buffer.alloc(0))];
      yield [`${name} cut`, changed(name, bytes.subarray(0, Math.floor(bytes.length * 0.6)))];
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(bytes.length >> 1) ^ 4, bytes.length >> 1);
      yield [`${name} flipped`, changed(name, flipped)];
      const other = foreign.get(name);
      if (other !== undefined) yield [`${name} foreign`, changed(name, other)];
    }
  }

  test('keeps a prefix of the history, uses no revision twice, and keeps a copy of what was there', async () => {
    for (const [what, damaged] of damages()) {
      const disk = await diskWith(damaged);
      const plan = await planRepair(disk, directory);
      if (plan === undefined) continue;
      expect(await filesOf(disk), what).toEqual(new Map([...damaged].sort(([a], [b]) => (a < b ? -1 : 1))));
      expect(await repairStore(disk, directory, { copyTo: '/copy', newClusterId: cluster }), what).toEqual(plan);
      expect(await filesOf(disk, '/copy'), what).toEqual(new Map([...damaged].sort(([a], [b]) => (a < b ? -1 : 1))));
      expect(await planRepair(disk, directory), what).toBeUndefined();
      const store = await open(disk);
      expect(await contentOf(store), what).toBe(history.get(plan.keptRevision));
      expect(store.revision(), what).toBeGreaterThan(WRITES + 1);
      expect(plan.keptRevision + plan.lostRevisions, what).toBeLessThanOrEqual(WRITES + 1);
      if (!/manifest|snapshot/.test(what)) expect(plan.keptRevision + plan.lostRevisions, what).toBe(WRITES + 1);
      await write(store, 0, 3);
      await store.close();
      expect((await open(disk)).revision(), what).toBe(plan.revision + 3);
    }
  });

  test('killed at any operation of the disk is completed by the next one', async () => {
    const name = names().findLast((each) => each.startsWith('log-')) ?? '';
    const damaged = changed(name, (files.get(name) ?? Buffer.alloc(0)).subarray(0, 100));
    for (let operations = 1, finished = false; !finished; operations++) {
      const { before, died } = killedAfter(operations);
      const disk = (await diskWith(damaged)).kill({ before });
      finished = (await Promise.race([repairStore(disk, directory, { copyTo: '/copy', newClusterId: cluster }), died])) !== 'died';
      const after = operations % 2 === 0 ? disk.kill() : disk.crash(new Prng(operations));
      await repairStore(after, directory, { copyTo: '/second', newClusterId: cluster });
      const store = await open(after);
      expect(history.get((await planRepair(await diskWith(damaged), directory))?.keptRevision ?? 0)).toBe(await contentOf(store));
      await store.close();
    }
  });
});

describe('files of format 1', () => {
  test('are upgraded once, with all that they hold; then an older version refuses them', async () => {
    const disk = await diskWith(asFormat1(files));
    const lines: string[] = [];
    const { timers } = manualTimers();
    const world = { timers, log: { ...worldWith(timers).log, info: (line: string) => void lines.push(line) } };
    const store = await open(disk, { world });
    expect(lines).toEqual(['upgraded the store: it has a manifest now']);
    expect(store.clusterId).toBe(cluster);
    expect(await contentOf(store)).toBe(history.get(WRITES + 1));
    await write(store, 0, 3);
    await store.close();
    const again = await open(disk, { world, expectedClusterId: cluster });
    expect(lines).toHaveLength(1);
    expect(again.revision()).toBe(WRITES + 4);
    await again.close();
    const newest = (await disk.list(directory)).findLast((name) => name.startsWith('log-'));
    expect(Buffer.from(await disk.read(`${directory}/${newest}`, 8, 1))).toEqual(Buffer.from([2]));
    await disk.remove(`${directory}/manifest.json`);
    await expect(open(disk)).rejects.toMatchObject({
      message: expect.stringContaining('manifest.json is damaged: expected a manifest of format 2, found no file'),
    });
  });

  test('killed at any operation of the upgrade, it is done by the next start', async () => {
    for (let operations = 1, finished = false; !finished; operations++) {
      const { before, died } = killedAfter(operations);
      const disk = (await diskWith(asFormat1(files))).kill({ before });
      finished = (await Promise.race([open(disk), died])) !== 'died';
      const store = await open(operations % 2 === 0 ? disk.kill() : disk.crash(new Prng(operations)));
      expect(await contentOf(store)).toBe(history.get(WRITES + 1));
      await store.close();
    }
  });

  test('damage to them is refused as well', async () => {
    const old = asFormat1(files);
    for (const name of old.keys()) {
      const without = new Map(old);
      without.delete(name);
      const isNewest = name === [...old.keys()].findLast((each) => each.startsWith('log-'));
      // Without a manifest, a last log that is missing leaves no trace.
      if (!isNewest) await expect(open(await diskWith(without)), name).rejects.toMatchObject({ code: 'corrupt' });
    }
    const [first = ''] = asFormat1(files).keys();
    const single = new Map([[first, (old.get(first) ?? Buffer.alloc(0)).subarray(0, 20)]]);
    await expect(open(await diskWith(single))).rejects.toMatchObject({ code: 'corrupt' });
  });
});

test('killed at any operation while it is created, rotates and compacts, the store starts without complaint', async () => {
  for (let operations = 1, finished = false; !finished; operations++) {
    for (const power of [false, true]) {
      let acknowledged = 1;
      const { before, died } = killedAfter(operations);
      const disk = new SimulatedDisk({ before });
      const { timers, elapse } = manualTimers();
      const run = async (): Promise<'done'> => {
        const store = await open(disk, { world: worldWith(timers) });
        for (let i = 0; i < 14; i++) {
          await write(store, i, i + 1);
          acknowledged = store.revision();
          if (i % 3 === 2) elapse();
          if (i % 6 === 5) await store.compact(acknowledged - 1);
        }
        await store.close();
        return 'done';
      };
      finished = (await Promise.race([run(), died])) === 'done';
      const store = await open(power ? disk.crash(new Prng(operations)) : disk.kill());
      expect(store.revision(), `killed at operation ${operations}`).toBeGreaterThanOrEqual(acknowledged);
      await store.close();
    }
  }
});
