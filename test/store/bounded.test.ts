import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realDisk } from '../../src/host/disk.ts';
import { put, remove, type Store } from '../../src/store/contract.ts';
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts';

/** Updates without end of a few keys, compacted now and then: disk and memory stay within fixed limits. */
const KEYS = 20;
const VALUE_BYTES = 1000;
const UPDATES_PER_ROUND = 1000;
const ROUNDS = 40;
const SEGMENT_BYTES = 256 << 10;
const REWRITE_BYTES = 512 << 10;

test('endless updates need no endless room', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'moor-bounded-'));
  const open = (): Promise<Store> => openEmbeddedStore({ directory, disk: realDisk, segmentBytes: SEGMENT_BYTES, rewriteBytes: REWRITE_BYTES });
  let store = await open();
  // What one round writes, what may lie about unused, and two snapshots while one replaces the other.
  const round = UPDATES_PER_ROUND * (VALUE_BYTES + 200);
  const limit = 2 * round + REWRITE_BYTES + 2 * SEGMENT_BYTES + 5 * KEYS * VALUE_BYTES;
  let [mostHistory, written] = [0, 0];
  try {
    for (let n = 0; n < ROUNDS; n++) {
      await update(store, n);
      written += UPDATES_PER_ROUND * VALUE_BYTES;
      mostHistory = Math.max(mostHistory, store.stats().historyBytes);
      await store.compact(store.revision());
      // Files are rewritten and removed beside the writing.
      await expect.poll(() => sizeOf(directory), { interval: 1 }).toBeLessThan(limit);
      if (n % 10 === 9) {
        await store.close();
        store = await open();
      }
    }
    expect(limit * 5).toBeLessThan(written);
    expect(mostHistory).toBeLessThan(3 * round);
    await expect.poll(() => store.stats(), { interval: 5 }).toMatchObject({ keys: KEYS, liveBytes: KEYS * VALUE_BYTES, historyRevisions: 0, historyBytes: 0 });
  } finally {
    await store.close();
    await rm(directory, { recursive: true });
  }
});

/** Every key is overwritten many times; others come and go. */
async function update(store: Store, round: number): Promise<void> {
  const value = new Uint8Array(VALUE_BYTES).fill(round);
  await Promise.all(
    Array.from({ length: UPDATES_PER_ROUND }, (_, i) => {
      const passing = `/passing/${round}-${i - (i % 2)}`;
      return store.transact({
        compares: [],
        writes: [put(`/kept/${i % KEYS}`, value), i % 2 === 0 ? put(passing, new Uint8Array(10)) : remove(passing)],
      });
    }),
  );
}

async function sizeOf(directory: string): Promise<number> {
  let size = 0;
  for (const name of await readdir(directory)) {
    // A file may be removed while we look.
    size += await stat(join(directory, name)).then(
      (found) => found.size,
      () => 0,
    );
  }
  return size;
}
