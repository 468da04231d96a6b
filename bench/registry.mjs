// The API below HTTP with the memory store: the processor time of one request, without network, encoding and disk.
import { allKinds } from '../dist/api/kinds/index.js';
import { parseRequestInfo } from '../dist/api/request-info.js';
import { createRealWorld } from '../dist/host/world.js';
import { createApi } from '../dist/apiserver/create-api.js';
import { openMemoryStore } from '../dist/store/memory/memory-store.js';

const N = 20_000;
const maps = '/api/v1/namespaces/default/configmaps';
const user = { name: 'bench', groups: ['system:masters'] };
const noQuery = new URLSearchParams();
const json = (value) => ({ type: 'bytes', contentType: 'application/json', bytes: Buffer.from(JSON.stringify(value)) });

export async function run() {
  const store = openMemoryStore();
  const api = createApi({ store, kinds: allKinds, world: createRealWorld({ logLevel: 'warn' }) });
  const send = (method, path, body = { type: 'none' }, query = noQuery) =>
    api.handle({ info: parseRequestInfo(method, path, query), query, user, userAgent: 'bench', body });
  await send('POST', '/api/v1/namespaces', json({ metadata: { name: 'default' } }));
  const object = (i) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `map-${i}`, labels: { app: 'bench', i: String(i) } },
    data: { payload: 'x'.repeat(900) },
  });
  const bodies = Array.from({ length: N }, (_, i) => json(object(i)));
  const patch = { type: 'bytes', contentType: 'application/merge-patch+json', bytes: Buffer.from('{"data":{"touched":"yes"}}') };

  const figures = {};
  const measure = async (what, count, one) => {
    const began = process.cpuUsage();
    for (let i = 0; i < count; i++) await one(i);
    const { user: u, system } = process.cpuUsage(began);
    figures[what] = ((u + system) / count).toFixed(1);
  };
  // Warm up until the code is compiled.
  for (let i = 0; i < N; i++) await send('POST', maps, json(object(`warm-${i}`)));
  for (let i = 0; i < N; i++) await send('GET', `${maps}/map-warm-${i}`);
  for (let i = 0; i < N; i++) await send('PATCH', `${maps}/map-warm-${i}`, patch);
  for (let i = 0; i < N; i++) await send('DELETE', `${maps}/map-warm-${i}`);
  await measure('create 1 KB, µs CPU', N, async (i) => (await send('POST', maps, bodies[i])).stored.json());
  await measure('get, µs CPU', N, async (i) => (await send('GET', `${maps}/map-${i}`)).stored.json());
  await measure('merge patch, µs CPU', N, async (i) => (await send('PATCH', `${maps}/map-${i}`, patch)).stored.json());
  const list = async (query) => {
    const began = performance.now();
    const { items } = await send('GET', maps, { type: 'none' }, new URLSearchParams(query));
    let bytes = 0;
    for (const item of items) bytes += item.json().length;
    return { ms: performance.now() - began, bytes };
  };
  const lists = [];
  for (let i = 0; i < 9; i++) lists.push((await list('limit=10000')).ms);
  figures['list of 10,000 x 1 KB, median ms'] = lists.sort((a, b) => a - b)[4].toFixed(1);
  figures['list of 10,000 by label, first time, ms'] = (await list('labelSelector=app=bench&limit=10000')).ms.toFixed(1);
  figures['list of 10,000 by label, again, ms'] = (await list('labelSelector=app=bench&limit=10000')).ms.toFixed(1);
  await measure('delete, µs CPU', N, (i) => send('DELETE', `${maps}/map-${i}`));
  const watchers = await watch1000(send);
  await api.stop();
  await store.close();
  return { ...figures, ...watchers };
}

async function watch1000(send) {
  let events = 0;
  const sink = { events: (batch) => void (events += batch.length), end: () => undefined };
  const { start } = await send('GET', maps, { type: 'none' }, new URLSearchParams('watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan'));
  const watches = Array.from({ length: 1_000 }, () => start(sink));
  const began = process.cpuUsage();
  for (let i = 0; i < 100; i++) await send('POST', maps, json({ metadata: { name: `watched-${i}` } }));
  const { user: u, system } = process.cpuUsage(began);
  for (const watch of watches) watch.stop();
  return { 'create seen by 1,000 watchers, µs CPU': ((u + system) / 100).toFixed(0), 'events delivered': events };
}
