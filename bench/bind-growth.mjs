// The cost of one bind among few PVs and among many: processor time of the server, from the PVC's POST until its watch shows Bound.
// Processor time, not wall time: it is the same on a busy machine. The ratio should stay under 1.5.
import { rate, startServer } from './_server.mjs';

const sizes = (process.env.SIZES ?? '1000,100000').split(',').map(Number);
const binds = Number(process.env.N ?? 300);
const claims = '/api/v1/namespaces/default/persistentvolumeclaims';

export async function run() {
  const figures = {};
  const costs = [];
  for (const size of sizes) {
    const cost = await costAmong(size);
    costs.push(cost);
    figures[`processor ms a bind, among ${size.toLocaleString('en')} volumes`] = Math.round(cost * 1000) / 1000;
  }
  figures['ratio'] = Math.round((costs.at(-1) / costs[0]) * 100) / 100;
  return figures;
}

async function costAmong(size) {
  const server = await startServer();
  try {
    const { request } = server.client;
    await rate(size, (i) => request('POST', '/api/v1/persistentvolumes', volume(i, size)));
    const bind = (round) => bindAll(server.client, round, size);
    // Until the code is compiled and the queues are empty.
    await bind('warm');
    await bind('warmer');
    await atRest(server);
    const before = server.cpuMs();
    await bind('measured');
    return (server.cpuMs() - before) / binds;
  } finally {
    await server.stop();
    server.remove();
  }
}

async function atRest({ cpuMs }) {
  for (let before = -1000; cpuMs() - before > 50; await new Promise((resolve) => setTimeout(resolve, 2000))) before = cpuMs();
}

/** The PVCs to bind, each of which takes a PV from the middle of the sizes. */
async function bindAll({ request, watch }, round, size) {
  let bound = 0;
  let done;
  const all = new Promise((resolve) => {
    done = resolve;
  });
  const stop = watch(`${claims}?watch=true&labelSelector=round=${round}`, (line) => {
    const { object } = JSON.parse(line);
    if (object.status?.phase === 'Bound' && ++bound === binds) done();
  });
  await rate(binds, (i) => request('POST', claims, claim(round, i, sizeOf((i * 7919) % size))));
  await all;
  stop();
}

const sizeOf = (i) => `${1000 + i}Mi`;

const volume = (i, size) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: `vol-${i}` },
  // In random order.
  spec: { capacity: { storage: sizeOf((i * 104729) % size) }, accessModes: ['ReadWriteOnce'], storageClassName: 'class', hostPath: { path: `/tmp/${i}` } },
});

const claim = (round, i, storage) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: `${round}-${i}`, labels: { round } },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'class', resources: { requests: { storage } } },
});
