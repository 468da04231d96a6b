// Opens a store in its own process, and prints how long that took and its statistics: node --expose-gc _open-store.mjs DIRECTORY
import { realDisk } from '../dist/host/disk.js';
import { openEmbeddedStore } from '../dist/store/embedded/embedded-store.js';

const memory = () => {
  globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};
const before = memory();
const began = performance.now();
const store = await openEmbeddedStore({ directory: process.argv[2], disk: realDisk });
const ms = performance.now() - began;
console.log(JSON.stringify({ ms, bytes: memory() - before, ...store.stats() }));
await store.close();
