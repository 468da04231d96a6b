// The embedded store alone, on the disk of the temporary directory: durable commits, reads, start with 100,000 keys.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { realDisk } from '../dist/host/disk.js';
import { openEmbeddedStore } from '../dist/store/embedded/embedded-store.js';

const KEYS = 100_000;
const VALUE_BYTES = 1024;
const keyOf = (i) => `/registry/persistentvolumeclaims/default/claim-${String((i * 7919) % KEYS).padStart(6, '0')}`;
const world = {
  log: { debug() {}, info() {}, warn: console.warn, error: console.error },
  timers: {
    soon: (callback) => void setImmediate(() => callback()),
    after: (ms, callback) => {
      const timer = setTimeout(callback, ms).unref();
      return () => clearTimeout(timer);
    },
  },
};

/** Sequential. */
async function syncs(file) {
  const times = [];
  for (let i = 0; i < 400; i++) {
    const began = performance.now();
    await file.append([Buffer.alloc(3000, 'x')]);
    await file.sync();
    times.push(performance.now() - began);
  }
  await file.close();
  times.sort((a, b) => a - b);
  return `${times[200].toFixed(2)} / ${times[388].toFixed(2)}`;
}

export async function run() {
  const directory = mkdtempSync(path.join(tmpdir(), 'mooring-bench-store-'));
  const open = (name) => openEmbeddedStore({ directory: path.join(directory, name), disk: realDisk, world });
  try {
    const writing = await open('writing');
    const few = await commits(writing, { writers: 32, seconds: 2 });
    const many = await commits(writing, { writers: 256, seconds: 2 });
    await writing.close();

    const reading = await open('reading');
    await fill(reading);
    const gets = await getsPerSecond(reading);
    const scans = await scanPerSecond(reading);
    await reading.close();

    const opened = [1, 2, 3].map(() => measureOpen(path.join(directory, 'reading'))).sort((a, b) => a.ms - b.ms);
    const appended = await syncs(await realDisk.openAppend(path.join(directory, 'appended')));
    const ahead = await syncs(await realDisk.openPreallocated(path.join(directory, 'ahead'), 1 << 20));
    return {
      'append and sync of 3 KB that makes the file longer, p50 / p97 ms': appended,
      'the same where zeros were written before, p50 / p97 ms': ahead,
      'durable commits/s, 32 writers of 1 KB': Math.round(few.perSecond),
      'durable commits/s, 256 writers of 1 KB': Math.round(many.perSecond),
      'main thread µs per commit, 256 writers': many.busyMicroseconds.toFixed(1),
      'gets/s': Math.round(gets),
      'keys/s scanned': Math.round(scans),
      [`open with ${KEYS.toLocaleString('en')} keys of 1 KB, ms (median of 3)`]: Math.round(opened[1].ms),
      'memory MB for them, heap and buffers': Math.round(opened[1].bytes / 1e6),
      'disk MB for them': Math.round(opened[1].diskBytes / 1e6),
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** In its own process, as at a start. */
function measureOpen(directory) {
  const script = fileURLToPath(new URL('_open-store.mjs', import.meta.url));
  return JSON.parse(execFileSync(process.execPath, ['--expose-gc', script, directory], { encoding: 'utf8' }));
}

async function commits(store, { writers, seconds }) {
  const end = performance.now() + seconds * 1000;
  const began = performance.now();
  const idleBefore = performance.eventLoopUtilization();
  let done = 0;
  const writer = async (w) => {
    for (let i = 0; performance.now() < end; i++) {
      // Its own buffer without slack, as the server allocates it.
      const value = new Uint8Array(VALUE_BYTES).fill(i);
      await store.transact({ compares: [], writes: [{ type: 'put', key: keyOf(w * 100 + (i % 100)), value }] });
      done++;
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, w) => writer(w)));
  const elapsed = performance.now() - began;
  const { active } = performance.eventLoopUtilization(idleBefore);
  return { perSecond: (done / elapsed) * 1000, busyMicroseconds: (active * 1000) / done };
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
