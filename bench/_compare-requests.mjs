#!/usr/bin/env node
// Processor time of the server for one request, in two versions at once: node bench/_compare-requests.mjs OLD-CHECKOUT, both built.
// Rounds alternate between the two servers; the first is for warming up.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { quantile, rate, startServer } from './_server.mjs';

const old = process.argv[2];
if (old === undefined) {
  console.error('usage: node bench/_compare-requests.mjs OLD-CHECKOUT');
  process.exit(2);
}
const n = 2_000;
const maps = '/api/v1/namespaces/default/configmaps';
const map = (i, value) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `m-${i}` }, data: { key: value } });
const work = {
  create: ({ request }, i) => request('POST', maps, map(i, 'x'.repeat(1000))),
  get: ({ request }, i) => request('GET', `${maps}/m-${i}`),
  update: ({ request }, i) => request('PUT', `${maps}/m-${i}`, map(i, 'y')),
  delete: ({ request }, i) => request('DELETE', `${maps}/m-${i}`),
};

const { startServer: startOld } = await import(pathToFileURL(path.resolve(old, 'bench/_server.mjs')));
const servers = { old: await startOld(), new: await startServer() };
const figures = {};
for (let round = 0; round <= 5; round++) {
  for (const side of round % 2 === 0 ? ['old', 'new'] : ['new', 'old']) {
    for (const [what, send] of Object.entries(work)) {
      const before = servers[side].cpuMs();
      await rate(n, (i) => send(servers[side].client, round * n + i));
      if (round > 0) ((figures[what] ??= { old: [], new: [] })[side] ??= []).push(((servers[side].cpuMs() - before) * 1000) / n);
    }
  }
}
for (const [what, sides] of Object.entries(figures)) {
  const [before, after] = [quantile(sides.old, 0.5), quantile(sides.new, 0.5)];
  console.log(`${what.padEnd(10)} old ${before.toFixed(0).padStart(5)} µs   new ${after.toFixed(0).padStart(5)} µs   new/old ${(after / before).toFixed(2)}`);
}
for (const server of Object.values(servers)) {
  await server.stop();
  server.remove();
}
process.exit(0);
