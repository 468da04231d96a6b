// The network of real pods (root, Linux, nft): a thousand Services with ten endpoints each at rest, how long a changed endpoint takes to be in the kernel, and
// the throughput through a cluster IP compared with the pod's own address.
import { execFile } from 'node:child_process';
import { createConnection, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import { rate, startServer } from './_server.mjs';

const services = Number(process.env.SERVICES ?? 1_000);
const changes = Number(process.env.CHANGES ?? 50);
const restMs = Number(process.env.REST_MS ?? 30_000);
const seconds = Number(process.env.SECONDS ?? 5);
const program = promisify(execFile);
const slicesPath = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

export async function run() {
  const server = await startServer({ args: ['--nodes', '1', '--runtime', 'sandbox', '--store', 'memory'] });
  try {
    const figures = await throughput(server);
    const { request } = server.client;
    const began = performance.now();
    await rate(services, async (i) => {
      await request('POST', '/api/v1/namespaces/default/services', service(i));
      await request('POST', slicesPath, slice(i));
    });
    await inKernel(server, services);
    figures[`${services} Services, from the first request to the kernel, s`] = (performance.now() - began) / 1000;
    await sleep(5000);
    const before = server.cpuMs();
    await sleep(restMs);
    figures[`${services} Services x 10 endpoints at rest, % of a core`] = ((server.cpuMs() - before) / restMs) * 100;
    return { ...figures, ...(await changedEndpoints(server)) };
  } finally {
    await server.stop();
    server.remove();
  }
}

/**
 * From the request that adds an endpoint until a connection to the cluster IP succeeds. It is refused until then. The kernel says so at most a thousand times a second
 * (icmp_msgs_per_sec); a connection beyond that would wait a second for its next packet.
 */
async function changedEndpoints({ client: { request } }) {
  const listener = createServer((socket) => socket.destroy()).listen(0);
  const address = Object.values(networkInterfaces())
    .flat()
    .find(({ family, internal }) => family === 'IPv4' && !internal).address;
  const times = [];
  for (let i = 0; i < changes; i++) {
    const { clusterIP } = JSON.parse(await request('POST', '/api/v1/namespaces/default/services', { ...service(i), metadata: { name: `late-${i}` } })).spec;
    await sleep(300);
    const began = performance.now();
    await request('POST', slicesPath, endpoints(`late-${i}`, [address], listener.address().port));
    while (!(await connects(clusterIP))) {
      if (performance.now() - began > 30_000) throw new Error(`late-${i} is not reached`);
      await sleep(2);
    }
    times.push(performance.now() - began);
  }
  listener.close();
  times.sort((a, b) => a - b);
  return {
    'changed endpoint in the kernel, median ms': times[Math.floor(changes / 2)],
    'changed endpoint in the kernel, p95 ms': times[Math.floor(changes * 0.95)],
  };
}

const connects = (host) =>
  new Promise((resolve) => {
    const socket = createConnection({ host, port: 80 }, () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

/** Bytes a second from one pod to another, by turns. */
async function throughput({ kubeconfig, client: { request } }) {
  const kubectl = async (...args) => (await program('kubectl', ['--kubeconfig', kubeconfig, ...args])).stdout;
  const sink = `
import socket, threading
def drain(c):
  while c.recv(1 << 20): pass
s = socket.create_server(('', 8080))
while True: threading.Thread(target=drain, args=(s.accept()[0],), daemon=True).start()`;
  const source = (ip, port) => `
import socket, time
c = socket.create_connection(('${ip}', ${port})); b = b'x' * (1 << 18); n = 0; t = time.time()
while time.time() - t < ${seconds}: n += c.send(b)
print(n / (time.time() - t))`;
  await request('POST', '/api/v1/namespaces/default/pods', pod('sink', ['python3', '-c', sink]));
  await request('POST', '/api/v1/namespaces/default/pods', pod('source', ['sleep', '1000']));
  await request('POST', '/api/v1/namespaces/default/services', {
    metadata: { name: 'sink' },
    spec: { selector: { app: 'sink' }, ports: [{ port: 80, targetPort: 8080 }] },
  });
  await kubectl('wait', '--for=condition=Ready', 'pod', '--all', '--timeout=60s');
  const podIp = await kubectl('get', 'pod', 'sink', '-o', 'jsonpath={.status.podIP}');
  const clusterIp = await kubectl('get', 'svc', 'sink', '-o', 'jsonpath={.spec.clusterIP}');
  await sleep(1000);
  const rounds = [];
  const measure = async (ip, port) => Number(await kubectl('exec', 'source', '--', 'python3', '-c', source(ip, port)));
  for (let i = 0; i < 3; i++) rounds.push({ direct: await measure(podIp, 8080), service: await measure(clusterIp, 80) });
  const sum = (of) => rounds.reduce((total, each) => total + each[of], 0);
  await kubectl('delete', 'pod,svc', 'sink', 'source', '--ignore-not-found', '--now');
  return {
    'pod to pod, MB/s': Math.round(sum('direct') / rounds.length / 1e6),
    'through a cluster IP, MB/s': Math.round(sum('service') / rounds.length / 1e6),
    'through a cluster IP, % of direct': (100 * sum('service')) / sum('direct'),
  };
}

async function inKernel({ client: { request } }, count) {
  const clusterIp = JSON.parse(await request('GET', `/api/v1/namespaces/default/services/svc-${count - 1}`)).spec.clusterIP;
  for (;;) {
    const { stdout } = await program('nft', ['list', 'ruleset'], { maxBuffer: 1 << 30 });
    if (stdout.includes(`${clusterIp} . tcp . 80 : goto service-`) && (stdout.match(/default\/svc-\d+/g) ?? []).length >= count) return;
    await sleep(50);
  }
}

const pod = (name, command) => ({
  metadata: { name, labels: { app: name } },
  spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'python', command }] },
});
const service = (i) => ({ metadata: { name: `svc-${i}` }, spec: { ports: [{ name: 'http', port: 80, targetPort: 8080 }] } });
const slice = (i) =>
  endpoints(
    `svc-${i}`,
    Array.from({ length: 10 }, (_, j) => `10.${80 + (i >> 8)}.${i & 255}.${j + 1}`),
    8080,
  );
const endpoints = (of, addresses, port) => ({
  metadata: { name: of, labels: { 'kubernetes.io/service-name': of } },
  addressType: 'IPv4',
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  ports: [{ name: 'http', port, protocol: 'TCP' }],
});
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
