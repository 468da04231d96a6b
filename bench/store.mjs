// The embedded store alone, on the disk of the temporary directory: durable commits, reads, start with 100,000 keys.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { realDisk } from '../dist/main/real-disk.js';
import { openEmbeddedStore } from '../dist/store/embedded/embedded-store.js';

const KEYS = 100_000;
const VALUE_BYTES = 1024;
const keyOf = (i) => `/registry/persistentvolumeclaims/default/claim-${String((i * 7919) % KEYS).padStart(6, '0')}`;
const world = {
  log: { debug() {}, info() {}, warn: console.warn, error: console.error },
  timers: { soon: (callback) => void setImmediate(() => callback()) },
};

export async function run() {
  const directory = mkdtempSync(path.join(tmpdir(), 'mooring-bench-store-'));
  const open = () => openEmbeddedStore({ directory, disk: realDisk, world });
  try {
    let store = await open();
    const few = await commits(store, { writers: 32, seconds: 2 });
    const many = await commits(store, { writers: 256, seconds: 2 });
    await fill(store);
    await store.compact(store.revision());
    const gets = await getsPerSecond(store);
    const scans = await scanPerSecond(store);
    await store.close();

    const before = process.memoryUsage();
    const began = performance.now();
    store = await open();
    const openMs = performance.now() - began;
    globalThis.gc?.();
    const after = process.memoryUsage();
    const { keys, diskBytes } = store.stats();
    await store.close();
    return {
      'durable commits/s, 32 writers of 1 KB': Math.round(few.perSecond),
      'durable commits/s, 256 writers of 1 KB': Math.round(many.perSecond),
      'main thread µs per commit, 256 writers': many.cpuMicroseconds.toFixed(1),
      'gets/s': Math.round(gets),
      'keys/s scanned': Math.round(scans),
      [`open with ${keys} keys, ms`]: Math.round(openMs),
      'disk MB': Math.round(diskBytes / 1e6),
      'heap and buffers MB, with --expose-gc': Math.round((after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / 1e6),
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function commits(store, { writers, seconds }) {
  const end = performance.now() + seconds * 1000;
  const began = performance.now();
  const idleBefore = performance.eventLoopUtilization();
  let done = 0;
  const writer = async (w) => {
    for (let i = 0; performance.now() < end; i++) {
      // A tight buffer of its own, as the server makes it.
      const value = new Uint8Array(VALUE_BYTES).fill(i);
      await store.transact({ compares: [], writes: [{ type: 'put', key: keyOf(w * 100 + (i % 100)), value }] });
      done++;
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, w) => writer(w)));
  const elapsed = performance.now() - began;
  const { active } = performance.eventLoopUtilization(idleBefore);
  return { perSecond: (done / elapsed) * 1000, cpuMicroseconds: (active * 1000) / done };
}

async function fill(store) {
  for (let i = 0; i < KEYS; i += 1000) {
    const values = Array.from({ length: 1000 }, (_, j) => [keyOf(i + j), new Uint8Array(VALUE_BYTES).fill(j)]);
    await Promise.all(values.map(([key, value]) => store.transact({ compares: [], writes: [{ type: 'put', key, value }] })));
  }
}

async function getsPerSecond(store) {
  const began = performance.now();
  for (let i = 0; i < 300_000; i++) await store.get(keyOf(i));
  return (300_000 / (performance.now() - began)) * 1000;
}

async function scanPerSecond(store) {
  const began = performance.now();
  let seen = 0;
  while (performance.now() - began < 1000) seen += (await store.range({ from: '/registry/', to: '/registry0' })).entries.length;
  return (seen / (performance.now() - began)) * 1000;
}
