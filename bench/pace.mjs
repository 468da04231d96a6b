// The ratio of Mooring to the upper limit of this machine: a black-box load (LOAD=FILE, default ../shared/bench/load.mjs) on the comparison server
// (_nothing.mjs) and on `moor up --bare`, alternating, since the speed of a shared machine changes from minute to minute.
//   [ROUNDS=5] [N=10000] npm run bench pace
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startServer } from './_server.mjs';

const load = process.env.LOAD ?? path.join(path.dirname(fileURLToPath(import.meta.url)), '../../shared/bench/load.mjs');
const rounds = Number(process.env.ROUNDS ?? 5);
const n = process.env.N ?? '10000';
const rates = {
  createPerSecond: 'creates a second',
  getPerSecond: 'gets a second',
  patchPerSecond: 'merge patches a second',
  deletePerSecond: 'deletes a second',
};

export async function run() {
  if (!existsSync(load)) return { 'not measured': `there is no load generator at ${load}: name one with LOAD=FILE` };
  const rows = [];
  for (let round = 0; round < rounds; round++) rows.push(await oneRound());
  const figures = {};
  for (const [key, what] of Object.entries(rates)) {
    for (const side of ['nothing', 'moor']) figures[`${side}: ${what}`] = spread(rows.map((row) => row[side][key]));
    figures[`moor / nothing: ${what}`] = spread(rows.map((row) => row.moor[key] / row.nothing[key]));
  }
  figures['moor: list, ms'] = spread(rows.map((row) => row.moor.listAllMs));
  figures['moor: write to watch, p99 ms'] = spread(rows.map((row) => row.moor.writeToWatchMs.p99));
  return figures;
}

async function oneRound() {
  const server = await startServer();
  try {
    const { port, stop } = await server.nothing();
    const elsewhere = path.join(server.dataDir, 'nothing.kubeconfig');
    writeFileSync(elsewhere, readFileSync(server.kubeconfig, 'utf8').replace(/(server: "?https:\/\/[^:]+:)\d+/, `$1${port}`), { mode: 0o600 });
    const nothing = await measure(elsewhere);
    stop();
    return { nothing, moor: await measure(server.kubeconfig) };
  } finally {
    await server.stop();
    server.remove();
  }
}

async function measure(kubeconfig) {
  const { stdout } = await promisify(execFile)(process.execPath, [load, '--kubeconfig', kubeconfig, '--work', 'api', '--n', n]);
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

/** Median, minimum and maximum; ratios with two digits. */
function spread(values) {
  const digits = Math.max(...values) < 10 ? 2 : 1;
  const sorted = values.toSorted((a, b) => a - b);
  const [least, middle, most] = [0, Math.floor(sorted.length / 2), sorted.length - 1].map((at) => Number(sorted[at].toFixed(digits)));
  return `${middle} (${least} to ${most})`;
}
