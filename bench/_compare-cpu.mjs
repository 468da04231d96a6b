#!/usr/bin/env node
// Two versions on one machine, in turn, by the server's processor time: node bench/_compare-cpu.mjs OLD-CHECKOUT, both built. ROUNDS=5 of each; medians and their ratio.
// Other programs on the machine change processor time far less than the time that passes.
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [old] = process.argv.slice(2);
if (old === undefined) {
  console.error('usage: node bench/_compare-cpu.mjs OLD-CHECKOUT');
  process.exit(2);
}
const rounds = Number(process.env.ROUNDS ?? 5);
const nodes = Number(process.env.NODES ?? 300);
const pods = Number(process.env.PODS ?? 1_000);
const podsPath = '/api/v1/namespaces/default/pods';

const figures = { old: new Map(), new: new Map() };
for (let round = 0; round < rounds; round++) {
  for (const [side, folder] of Object.entries({ old: path.resolve(old), new: process.cwd() })) {
    for (const [what, value] of Object.entries(await measure(folder))) figures[side].set(what, [...(figures[side].get(what) ?? []), value]);
  }
}
for (const [what, values] of figures.new) {
  const [before, after] = [median(figures.old.get(what)), median(values)];
  console.log(`${what.padEnd(50)} ${before.toFixed(2).padStart(10)} ${after.toFixed(2).padStart(10)}  ${(after / before).toFixed(2)}`);
}
process.exit(0);

async function measure(folder) {
  const { rate, startServer } = await import(pathToFileURL(path.join(folder, 'bench/_server.mjs')));
  const server = await startServer({ args: ['--nodes', String(nodes)] });
  const { client, cpuMs } = server;
  try {
    const found = { [`start with ${nodes} nodes, ms`]: cpuMs(), [`resident with ${nodes} nodes, MB`]: server.residentMb() };
    const perPod = async (prefix, spec) => {
      const [before, all] = [cpuMs(), awaitReady(client, prefix)];
      await rate(pods, (i) => client.request('POST', podsPath, { apiVersion: 'v1', kind: 'Pod', metadata: { name: `${prefix}-${i}` }, spec: spec(i) }));
      await all;
      return (cpuMs() - before) / pods;
    };
    const containers = [{ name: 'app', image: 'nginx' }];
    found['a pod with a node, until it is ready, ms'] = await perPod('placed', (i) => ({ nodeName: `node-${1 + (i % nodes)}`, containers }));
    found['a pod, scheduled, until it is ready, ms'] = await perPod('scheduled', () => ({ containers }));
    return found;
  } finally {
    await server.stop();
    server.remove();
  }
}

/** Resolves when the watch has shown all pods of this prefix ready. */
function awaitReady({ watch }, prefix) {
  const seen = new Set();
  return new Promise((resolve) => {
    const stop = watch(`${podsPath}?watch=true`, (line) => {
      const { object } = JSON.parse(line);
      const isReady = object.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
      if (isReady && object.metadata.name.startsWith(`${prefix}-`)) seen.add(object.metadata.name);
      if (seen.size < pods) return;
      stop();
      resolve();
    });
  });
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
