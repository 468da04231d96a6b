// The store etcd against bare etcd (one member, data on the disk of the temporary directory): guarded creates, consistent reads, a second server,
// and a start with 100,000 objects beside the embedded store. Ratios are of rounds in turn in one run. Needs etcd (scripts/setup).
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Compare_CompareResult, Compare_CompareTarget } from '../dist/grpc/generated/etcd.js';
import { realDisk } from '../dist/host/disk.js';
import { createRealWorld } from '../dist/host/world.js';
import { openEmbeddedStore } from '../dist/store/embedded/embedded-store.js';
import { EtcdClient } from '../dist/store/etcd/client.js';
import { etcdEndpoints } from '../dist/store/etcd/endpoints.js';
import { openEtcdStore } from '../dist/store/etcd/etcd-store.js';

const KEYS = Number(process.env.KEYS ?? 100_000);
const VALUE_BYTES = 1024;
const WRITERS = 64;
const READERS = 64;
const ROUNDS = 3;
const ROUND_MS = 2_000;
const address = '127.77.9.1';
const url = `http://${address}:2379`;
const keyOf = (i) => `/registry/persistentvolumeclaims/default/claim-${String(i).padStart(6, '0')}`;
const world = createRealWorld({ logLevel: 'silent' });
const endpoints = () => etcdEndpoints([url], { tls: {}, timers: world.timers });
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const ratio = (a, b) => `${(a / b).toFixed(2)}x (${Math.round(a).toLocaleString('en')} and ${Math.round(b).toLocaleString('en')} a second)`;

async function startEtcd(directory) {
  const program = fileURLToPath(new URL('../.tools/bin/etcd', import.meta.url));
  const args = ['--data-dir', path.join(directory, 'etcd'), '--listen-client-urls', url, '--advertise-client-urls', url, '--log-level', 'error'];
  const child = spawn(program, [...args, '--listen-peer-urls', `http://${address}:2380`, '--quota-backend-bytes', String(4 * 2 ** 30)], { stdio: 'ignore' });
  const client = new EtcdClient(endpoints(), 2_000);
  while (
    await client.range({ key: new Uint8Array([0]) }).then(
      () => false,
      () => true,
    )
  )
    await new Promise((resolve) => setTimeout(resolve, 100));
  client.close();
  return child;
}

/** How many calls a second, by so many callers at the same time. */
async function perSecond(callers, call) {
  const began = performance.now();
  let done = 0;
  const caller = async () => {
    for (; performance.now() - began < ROUND_MS; done++) await call();
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return (done / (performance.now() - began)) * 1000;
}

let created = 0;
const nextKey = () => `/registry/configmaps/default/created-${created++}`;
const value = () => new Uint8Array(VALUE_BYTES).fill(created);

/** The request that the store would send. */
const bareCreate = (client) => {
  const key = new TextEncoder().encode(`/bare${nextKey()}`);
  return client.txn({
    compare: [{ key, target: Compare_CompareTarget.MOD, result: Compare_CompareResult.EQUAL, targetUnion: { case: 'modRevision', value: 0n } }],
    success: [{ request: { case: 'requestPut', value: { key, value: value() } } }],
    failure: [{ request: { case: 'requestRange', value: { key } } }],
  });
};
const create = (store) => {
  const key = nextKey();
  return store.transact({ compares: [{ key, modRevision: 0 }], writes: [{ type: 'put', key, value: value() }] });
};

async function compare(client, store) {
  const figures = { create: [], bareCreate: [], read: [], bareRead: [] };
  const encoded = new TextEncoder().encode(`/bench/data${keyOf(1)}`);
  for (let round = 0; round < ROUNDS; round++) {
    figures.bareCreate.push(await perSecond(WRITERS, () => bareCreate(client)));
    figures.create.push(await perSecond(WRITERS, () => create(store)));
    figures.bareRead.push(await perSecond(READERS, () => client.range({ key: encoded })));
    figures.read.push(await perSecond(READERS, () => store.get(keyOf(1))));
  }
  return {
    [`guarded creates of 1 KB, ${WRITERS} at a time, the store to bare etcd`]: ratio(median(figures.create), median(figures.bareCreate)),
    [`consistent reads, ${READERS} at a time, the store to bare etcd`]: ratio(median(figures.read), median(figures.bareRead)),
  };
}

async function fill(store) {
  for (let i = 0; i < KEYS; i += 2_000) {
    const puts = Array.from({ length: 20 }, (_, j) =>
      Array.from({ length: 100 }, (__, k) => ({ type: 'put', key: keyOf(i + j * 100 + k), value: new Uint8Array(VALUE_BYTES).fill(k) })),
    );
    await Promise.all(puts.map((writes) => store.transact({ compares: [], writes })));
  }
}

const script = (name) => fileURLToPath(new URL(name, import.meta.url));
const openInProcess = async (seconds) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script('_open-etcd.mjs'), url, String(seconds)]);
  return JSON.parse(stdout);
};

async function openings(directory) {
  const embedded = path.join(directory, 'embedded');
  const store = await openEmbeddedStore({ directory: embedded, disk: realDisk, world });
  await fill(store);
  await store.close();
  const ofEmbedded = JSON.parse(execFileSync(process.execPath, ['--expose-gc', script('_open-store.mjs'), embedded], { encoding: 'utf8' }));
  const one = await openInProcess(4);
  const two = await Promise.all([openInProcess(4), openInProcess(4)]);
  return {
    [`start with ${one.keys.toLocaleString('en')} objects of 1 KB, s`]: (one.ms / 1000).toFixed(2),
    'memory for them to that of the embedded store, by object': `${(one.bytes / one.keys / (ofEmbedded.bytes / ofEmbedded.keys)).toFixed(2)}x (${Math.round(one.bytes / 1e6)} MB)`,
    'consistent reads a second of one server process': Math.round(one.readsPerSecond),
    'consistent reads a second of two': Math.round(two[0].readsPerSecond + two[1].readsPerSecond),
  };
}

export async function run() {
  const directory = mkdtempSync(path.join(tmpdir(), 'mooring-bench-etcd-'));
  const etcd = await startEtcd(directory);
  const client = new EtcdClient(endpoints(), 10_000);
  try {
    const store = await openEtcdStore({ endpoints: endpoints(), prefix: '/bench', world, newClusterId: 'bench', compactionIntervalMs: 0 });
    await fill(store);
    const compared = await compare(client, store);
    await store.close();
    return { ...compared, ...(await openings(directory)) };
  } finally {
    client.close();
    etcd.kill('SIGKILL');
    await once(etcd, 'exit');
    rmSync(directory, { recursive: true });
  }
}
