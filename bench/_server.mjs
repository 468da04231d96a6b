// A `moor up --bare` in its own process, and a client for it, for the benchmarks that measure from outside.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const moor = path.join(path.dirname(fileURLToPath(import.meta.url)), '../dist/main/moor.js');

/** PROFILE=DIR: a CPU profile of each server, written there when it ends. */
const profiled = process.env.PROFILE === undefined ? [] : ['--cpu-prof', '--cpu-prof-interval', '2000', '--cpu-prof-dir', process.env.PROFILE];

/** `bare`: without nodes and StorageClasses, unless `args` ask for them. */
export async function startServer({ dataDir = mkdtempSync(path.join(tmpdir(), 'mooring-bench-')), bare = true, args = [] } = {}) {
  const kubeconfig = path.join(dataDir, 'bench.kubeconfig');
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [
      '--max-semi-space-size=64',
      ...profiled,
      moor,
      'up',
      ...(bare ? ['--bare'] : []),
      '--log-level',
      'warn',
      '--listen',
      '127.0.0.1:0',
      '--data-dir',
      dataDir,
      '--kubeconfig',
      kubeconfig,
      ...args,
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      if (text.includes('Mooring is ready')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`moor ended with ${code}: ${text}`)));
  });
  const readyMs = performance.now() - began;
  return {
    dataDir,
    kubeconfig,
    readyMs,
    residentMb: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024,
    cpuMs: () => cpuMsOf(child.pid),
    client: clientFor(kubeconfig),
    /** The comparison server (_nothing.mjs), with the same client. */
    nothing: () => startNothing(dataDir, kubeconfig),
    stop: () =>
      new Promise((resolve) => {
        child.removeAllListeners('exit');
        child.once('exit', resolve);
        child.kill();
      }),
    remove: () => rmSync(dataDir, { recursive: true, force: true }),
  };
}

/** Processor time of a process. */
export function cpuMsOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10; // in hundredths of a second
}

async function startNothing(dataDir, kubeconfig) {
  const child = spawn(process.execPath, [path.join(path.dirname(fileURLToPath(import.meta.url)), '_nothing.mjs'), dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = Number(await new Promise((resolve) => child.stdout.once('data', resolve)));
  return { port, client: clientFor(kubeconfig, port), stop: () => child.kill() };
}

function clientFor(kubeconfig, otherPort) {
  const config = parse(readFileSync(kubeconfig, 'utf8'));
  const { cluster } = config.clusters[0];
  const { user } = config.users[0];
  const decode = (text) => (text ? Buffer.from(text, 'base64') : undefined);
  const tls = { ca: decode(cluster['certificate-authority-data']), cert: decode(user['client-certificate-data']), key: decode(user['client-key-data']) };
  const { hostname, port: ownPort } = new URL(cluster.server);
  const port = otherPort ?? ownPort;
  const agent = new https.Agent({ keepAlive: true, maxSockets: 40, ...tls });
  const open = (method, url, headers, use) => https.request({ hostname, port, path: url, method, headers, agent: use, ...(use ? {} : tls) });
  return {
    request: (method, url, body, type = 'application/json') =>
      new Promise((resolve, reject) => {
        const data = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
        const request = open(method, url, data ? { 'content-type': type, 'content-length': data.length } : {}, agent);
        request.on('error', reject).on('response', (response) => {
          const chunks = [];
          response
            .on('data', (c) => chunks.push(c))
            .on('end', () => {
              const bytes = Buffer.concat(chunks);
              if (response.statusCode < 300) resolve(bytes);
              else reject(new Error(`${method} ${url}: ${response.statusCode} ${bytes.toString().slice(0, 200)}`));
            });
        });
        request.end(data);
      }),
    /** Calls back for each event; returns a function that ends the watch. */
    watch: (url, onEvent) => {
      const request = open('GET', url, {}, undefined);
      request
        .on('error', () => {})
        .on('response', (response) => {
          let rest = '';
          response.setEncoding('utf8').on('data', (chunk) => {
            const lines = (rest + chunk).split('\n');
            rest = lines.pop();
            for (const line of lines) onEvent(line);
          });
          response.on('error', () => {});
        });
      request.end();
      return () => request.destroy();
    },
  };
}

/** Runs `each(i)` for i in 0…n-1, 32 at a time; resolves with how many a second. */
export async function rate(n, each) {
  const began = performance.now();
  let next = 0;
  const worker = async () => {
    while (next < n) await each(next++);
  };
  await Promise.all(Array.from({ length: 32 }, worker));
  return Math.round((n / (performance.now() - began)) * 1000);
}

export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] * 10) / 10;
}
