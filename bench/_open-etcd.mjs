// Opens a store on etcd in its own process and prints how long that took, its memory, and how many reads a second it answers for so many seconds:
// node --expose-gc _open-etcd.mjs URL SECONDS
import { createRealWorld } from '../dist/host/world.js';
import { etcdEndpoints } from '../dist/store/etcd/endpoints.js';
import { openEtcdStore } from '../dist/store/etcd/etcd-store.js';

const READERS = 64;
const [url, seconds] = process.argv.slice(2);
const world = createRealWorld({ logLevel: 'silent' });
const memory = () => {
  globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};
const before = memory();
const began = performance.now();
const endpoints = etcdEndpoints([url], { tls: {}, timers: world.timers });
const store = await openEtcdStore({ endpoints, prefix: '/bench', world, newClusterId: 'bench', compactionIntervalMs: 0 });
const ms = performance.now() - began;
const bytes = memory() - before;
// Warm: a server that has just begun reads from etcd itself until it is compared with it.
const read = () => store.get('/registry/persistentvolumeclaims/default/claim-000001');
let isDirect = true;
store.observe(({ type }) => (isDirect ||= type === 'direct-read'));
while (isDirect) {
  isDirect = false;
  await read();
  if (isDirect) await new Promise((resolve) => setTimeout(resolve, 100));
}
const end = performance.now() + Number(seconds) * 1000;
let reads = 0;
const reader = async () => {
  for (; performance.now() < end; reads++) await read();
};
await Promise.all(Array.from({ length: READERS }, reader));
console.log(JSON.stringify({ ms, bytes, readsPerSecond: reads / Number(seconds), ...store.stats() }));
await store.close();
process.exit(0);
