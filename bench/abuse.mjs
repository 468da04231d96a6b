// 200 abusive clients at once, and the latency of one well-behaved client. The abusers are users of their own, by impersonation; the well-behaved
// client is another user.
import tls from 'node:tls';
import { readFileSync } from 'node:fs';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { parse } from 'yaml';
import { quantile, startServer } from './_server.mjs';

const abusers = Number(process.env.ABUSERS ?? 200);
const seconds = Number(process.env.SECONDS ?? 10);
const base = '/api/v1/namespaces/default/configmaps';

export async function run() {
  const server = await startServer();
  try {
    const { request } = server.client;
    for (let i = 0; i < 500; i++) await request('POST', base, configMap(`m-${i}`, 1000));
    const alone = await behave(request, seconds / 2);
    // In their own thread, so that their cost does not show in the latency of the other client.
    const abuse = new Worker(new URL(import.meta.url), { workerData: { abuse: server.kubeconfig } });
    await pause(1000);
    const under = await behave(request, seconds);
    const counts = await new Promise((resolve) => {
      abuse.once('message', resolve);
      abuse.postMessage('stop');
    });
    await abuse.terminate();
    await pause(500);
    return {
      'get alone, p50 ms': quantile(alone.gets, 0.5),
      'get alone, p99 ms': quantile(alone.gets, 0.99),
      [`get beside ${abusers} abusers, p50 ms`]: quantile(under.gets, 0.5),
      [`get beside ${abusers} abusers, p99 ms`]: quantile(under.gets, 0.99),
      'write alone, p50 ms': quantile(alone.writes, 0.5),
      [`write beside ${abusers} abusers, p50 ms`]: quantile(under.writes, 0.5),
      [`write beside ${abusers} abusers, p99 ms`]: quantile(under.writes, 0.99),
      'requests of the well-behaved that failed': under.failed,
      'connections that the abusers opened': counts.opened,
      'requests that they sent': counts.sent,
      'resident afterwards, MB': Math.round(server.residentMb()),
    };
  } finally {
    await server.stop();
    server.remove();
  }
}

const configMap = (name, bytes) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { key: 'x'.repeat(bytes) } });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** One request after the other, twenty a second. */
async function behave(request, forSeconds) {
  const seen = { gets: [], writes: [], failed: 0 };
  const timed = async (times, work) => {
    const began = performance.now();
    await work().catch(() => (seen.failed += 1));
    times.push(performance.now() - began);
  };
  for (const end = performance.now() + forSeconds * 1000; performance.now() < end; await pause(100)) {
    await timed(seen.gets, () => request('GET', `${base}/m-1`));
    await timed(seen.writes, () => request('PATCH', `${base}/m-2`, { data: { key: String(performance.now()) } }, 'application/merge-patch+json'));
  }
  return seen;
}

function startAbuse(kubeconfig) {
  const config = parse(readFileSync(kubeconfig, 'utf8'));
  const { hostname: host, port } = new URL(config.clusters[0].cluster.server);
  const decode = (text) => Buffer.from(text, 'base64');
  const { user } = config.users[0];
  const credentials = {
    ca: decode(config.clusters[0].cluster['certificate-authority-data']),
    cert: decode(user['client-certificate-data']),
    key: decode(user['client-key-data']),
  };
  const counts = { opened: 0, sent: 0 };
  const open = new Set();
  let over = false;
  const again = (i) => void (over || setTimeout(() => connect(i), 50 + (i % 10) * 20));
  const connect = (i) => {
    if (over) return;
    const socket = tls.connect({ host, port, ALPNProtocols: ['http/1.1'], ...credentials });
    counts.opened += 1;
    open.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => {
        open.delete(socket);
        again(i);
      });
    socket.once('secureConnect', () => habits[i % habits.length](socket, sender(socket, `abuser-${i % 20}`, counts), () => over));
  };
  for (let i = 0; i < abusers; i++) connect(i);
  return {
    stop() {
      over = true;
      for (const socket of open) socket.destroy();
      return counts;
    },
  };
}

/** Writes requests of a user to a connection. */
const sender =
  (socket, user, counts) =>
  (method, path, body = '', times = 1) => {
    counts.sent += times;
    const head = `${method} ${path} HTTP/1.1\r\nhost: x\r\nimpersonate-user: ${user}\r\nimpersonate-group: system:masters\r\ncontent-type: application/json\r\n`;
    socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`.repeat(times));
  };

const huge = JSON.stringify({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'huge', labels: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`-${i}!`, '!'])) },
});

const habits = [
  function slowReader(socket, send) {
    socket.pause();
    send('GET', base);
  },
  function reconnects(socket, send) {
    send('GET', `${base}/m-1`);
    socket.resume();
    setTimeout(() => socket.destroy(), 100);
  },
  function hugeInvalidBodies(socket, send, over) {
    socket.on('data', () => setTimeout(() => over() || socket.destroyed || send('POST', base, huge), 500));
    send('POST', base, huge);
  },
  function endlessWatches(socket, send) {
    socket.resume();
    send('GET', `${base}?watch=1`);
  },
  function invalidRequests(socket, _send) {
    socket.resume();
    socket.write('GET / HTTP/1.1\r\nbad header\r\n\r\n');
  },
  function listsAndLists(socket, send, over) {
    socket.on('data', (chunk) => chunk.includes('HTTP/1.1 ') && !over() && !socket.destroyed && send('GET', base));
    send('GET', base);
  },
  function pipelines(socket, send) {
    socket.resume();
    send('GET', `${base}/m-3`, '', 200);
    setTimeout(() => socket.destroy(), 1000);
  },
  function dripsHeaders(socket, _send, over) {
    socket.resume();
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n');
    const drip = setInterval(() => (over() || socket.destroyed ? clearInterval(drip) : socket.write('x-a: b\r\n')), 500);
  },
];

if (!isMainThread && workerData?.abuse !== undefined) {
  const abuse = startAbuse(workerData.abuse);
  parentPort.once('message', () => parentPort.postMessage(abuse.stop()));
}
