import { crc32 } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { SimulatedDisk } from '../../sim/world/disk.ts';
import { put, remove, type Store, StoreError } from '../contract.ts';
import { openEmbeddedStore } from './embedded-store.ts';

/** What a crash leaves is cut off; what no crash leaves is reported, with the file and the offset, and left as it is. test/store/damage.test.ts goes through all kinds. */
const directory = '/data';
let disk: SimulatedDisk;
beforeEach(() => {
  disk = new SimulatedDisk();
});

const open = (options: { segmentBytes?: number; rewriteBytes?: number } = {}): Promise<Store> => openEmbeddedStore({ directory, disk, ...options });

async function write(store: Store, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await store.transact({
      compares: [],
      writes: [put(`/k/${i % 7}`, new TextEncoder().encode(`value ${i}`)), put('/last', new TextEncoder().encode(`${i}`))],
    });
  }
}

async function logs(): Promise<string[]> {
  return (await disk.list(directory)).filter((name) => name.startsWith('log-')).map((name) => `${directory}/${name}`);
}

async function flip(path: string, offset: number): Promise<void> {
  const [byte = 0] = await disk.read(path, offset, 1);
  disk.damage(path, offset, Uint8Array.of(byte ^ 0x10));
}

async function failure(): Promise<StoreError> {
  try {
    await (await open()).close();
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
  throw new Error('the store opened');
}

describe('the log', () => {
  test('one flipped bit, wherever it is, is found', async () => {
    const store = await open();
    await write(store, 5);
    await store.close();
    const [path = ''] = await logs();
    const size = await disk.size(path);
    for (let offset = 0; offset < size; offset++) {
      await flip(path, offset);
      const error = await failure();
      expect(error, `offset ${offset}`).toMatchObject({ code: 'corrupt' });
      expect(error.message).toMatch(/^\/data\/log-0000000000000001 is corrupt at offset \d+: /);
      await flip(path, offset);
    }
    await (await open()).close();
  });

  test('of a process that was killed has zeros behind it, which are no damage; one flipped bit before them is found', async () => {
    const killed = await open();
    await write(killed, 5);
    const { diskBytes } = killed.stats();
    disk = disk.kill();
    const [path = ''] = await logs();
    expect(await disk.size(path)).toBeGreaterThan(diskBytes);
    for (let offset = 0; offset < diskBytes; offset++) {
      await flip(path, offset);
      expect(await failure(), `offset ${offset}`).toMatchObject({ code: 'corrupt' });
      await flip(path, offset);
    }
    const store = await open();
    expect(store.revision()).toBe(6);
    await write(store, 1);
    await store.close();
    expect(await disk.size(path)).toBe(store.stats().diskBytes);
    const again = await open();
    expect(again.revision()).toBe(7);
    await again.close();
  });

  test('a log of which only its zeros got to the disk was never begun, unless the manifest lists it', async () => {
    const store = await open({ segmentBytes: 200 });
    await write(store, 3);
    await store.close();
    const log = (revision: number): string => `${directory}/log-${String(revision).padStart(16, '0')}`;
    await (await disk.openAppend(log(4))).append([new Uint8Array(100)]);
    const again = await open();
    expect(again.revision()).toBe(4);
    await again.close();
    expect(await logs()).not.toContain(log(4));
    const [path = ''] = (await logs()).slice(-1);
    disk.damage(path, 0, new Uint8Array(await disk.size(path)));
    expect(await failure()).toMatchObject({ code: 'corrupt', message: expect.stringContaining(`${path} is damaged: expected a log, found`) });
  });

  test('cut off at any byte after a clean stop, it is refused with the number of revisions that are missing', async () => {
    const store = await open();
    const sizes = [64];
    for (let i = 0; i < 5; i++) {
      await write(store, 1);
      sizes.push(store.stats().diskBytes);
    }
    const [path = ''] = await logs();
    await store.close();
    const whole = sizes.at(-1) ?? 0;
    for (let size = whole - 1; size >= 64; size--) {
      await disk.truncate(path, size);
      const missing = sizes.filter((complete) => complete > size).length;
      const found = sizes.findLast((complete) => complete <= size);
      expect((await failure()).message).toBe(
        `${path} is damaged: expected at least ${whole} bytes, up to revision 6, found ${found} bytes, up to revision ${6 - missing}; at least ${missing} acknowledged ${missing === 1 ? 'revision is' : 'revisions are'} missing`,
      );
    }
    for (let size = 63; size >= 0; size--) {
      await disk.truncate(path, size);
      const found = size === 0 ? 'an empty file' : `${size} bytes, cut within the header`;
      expect((await failure()).message).toBe(`${path} is damaged: expected a log, found ${found}; at least 5 acknowledged revisions are missing`);
    }
  });

  test('goes on behind a torn write as if it had never been', async () => {
    let store = await open();
    await write(store, 3);
    const { diskBytes } = store.stats();
    await write(store, 1);
    disk = disk.kill();
    const [path = ''] = await logs();
    await disk.truncate(path, diskBytes + 20);
    store = await open();
    await write(store, 2);
    await store.close();
    store = await open();
    expect(store.revision()).toBe(6);
    await store.close();
  });

  test('sectors that read as zeros at its end are a torn write, zeros before a sound frame are not', async () => {
    let store = await open();
    await write(store, 3);
    const { diskBytes } = store.stats();
    await store.transact({ compares: [], writes: [put('/big', new Uint8Array(5000).fill(7))] });
    disk = disk.kill();
    const [path = ''] = await logs();
    disk.damage(path, 2048, new Uint8Array(512));
    store = await open();
    expect(store.revision()).toBe(4);
    expect(store.stats().diskBytes).toBe(diskBytes);
    await store.transact({ compares: [], writes: [put('/big', new Uint8Array(5000).fill(7))] });
    await write(store, 1);
    await store.close();
    disk.damage(path, 2048, new Uint8Array(512));
    expect(await failure()).toMatchObject({
      code: 'corrupt',
      message: expect.stringContaining(`${path} is corrupt at offset ${diskBytes}: a frame fails its checksum, and a sound frame follows at offset`),
    });
  });

  test('a file that is missing, or torn before the last one, is reported', async () => {
    const store = await open({ segmentBytes: 200 });
    await write(store, 12);
    await store.close();
    const [first = '', second = ''] = await logs();
    const secondSize = await disk.size(second);
    await disk.truncate(second, secondSize - 1);
    expect(await failure()).toMatchObject({ code: 'corrupt', message: expect.stringContaining(`${second} is damaged: expected at least ${secondSize} bytes`) });
    await disk.remove(second);
    expect((await failure()).message).toMatch(`${second} is damaged: expected the log after revision`);
    expect((await failure()).message).toMatch(/found no file; at least \d+ acknowledged revisions are missing$/);
    await disk.remove(first);
    expect((await failure()).message).toBe(
      `${first} is damaged: expected the log after revision 1, found no file; at least 12 acknowledged revisions are missing`,
    );
  });

  test('of a newer format is left alone', async () => {
    const store = await open();
    await write(store, 3);
    await store.close();
    const [path = ''] = await logs();
    const header = Buffer.from(await disk.read(path, 0, 32));
    header.writeUInt32LE(3, 8);
    header.writeUInt32LE(crc32(header.subarray(0, 28)), 28);
    disk.damage(path, 0, header);
    const before = await disk.read(path, 0, 1 << 20);
    expect(await failure()).toMatchObject({
      code: 'newer-version',
      message: '/data/log-0000000000000001 was written by a newer Mooring: its format is 3, this one reads up to 2',
    });
    expect(await disk.read(path, 0, 1 << 20)).toEqual(before);
  });
});

describe('the snapshot', () => {
  async function withSnapshot(): Promise<string> {
    const store = await open({ segmentBytes: 200, rewriteBytes: 0 });
    await write(store, 40);
    await store.transact({ compares: [], writes: [remove('/k/1')] });
    await write(store, 1);
    await store.compact(store.revision());
    await expect.poll(async () => (await disk.list(directory)).filter((name) => /^snapshot-\d+$/.test(name)).length, { interval: 1 }).toBe(1);
    await store.close();
    return `${directory}/${(await disk.list(directory)).find((name) => name.startsWith('snapshot-'))}`;
  }

  test('stands for the log before it', async () => {
    await withSnapshot();
    const store = await open();
    expect([store.revision(), store.compactedRevision()]).toEqual([43, 43]);
    const { entries } = await store.range({ from: '/', to: '0' });
    expect(entries.map(({ key, createRevision, modRevision }) => `${key} ${createRevision}..${modRevision}`)).toEqual(
      ['/k/0 2..43', '/k/2 4..39', '/k/3 5..40', '/k/4 6..41', '/k/5 7..35', '/k/6 8..36', '/last 2..43'].map((line) =>
        expect.stringMatching(line.replace(/\d+$/, '\\d+')),
      ),
    );
    await store.close();
  });

  test('one flipped bit, wherever it is, is found', async () => {
    const path = await withSnapshot();
    const size = await disk.size(path);
    for (let offset = 0; offset < size; offset++) {
      await flip(path, offset);
      expect(await failure(), `offset ${offset}`).toMatchObject({ code: 'corrupt', message: expect.stringContaining(path) });
      await flip(path, offset);
    }
    await (await open()).close();
  });

  test('cut off at any byte, it is reported', async () => {
    const path = await withSnapshot();
    for (let size = (await disk.size(path)) - 1; size >= 0; size--) {
      await disk.truncate(path, size);
      expect(await failure(), `size ${size}`).toMatchObject({ code: 'corrupt', message: expect.stringContaining(path) });
    }
  });
});
