// Binding from outside: PVs exist and PVCs arrive, or the other way round.
import { rate, startServer } from './_server.mjs';

const n = Number(process.env.N ?? 5_000);
const claims = '/api/v1/namespaces/default/persistentvolumeclaims';

export async function run() {
  const figures = {};
  const server = await startServer();
  const { request, watch } = server.client;
  try {
    await rate(n, (i) => request('POST', '/api/v1/persistentvolumes', volume('ready', i)));
    figures['binds a second, volumes first'] = await bound('ready', () => rate(n, (i) => request('POST', claims, claim('ready', i))));
    await rate(n, (i) => request('POST', claims, claim('waiting', i)));
    figures['binds a second, claims first'] = await bound('waiting', () => rate(n, (i) => request('POST', '/api/v1/persistentvolumes', volume('waiting', i))));
    return figures;
  } finally {
    await server.stop();
    server.remove();
  }

  /** From the first request until the watch shows the last PVC Bound. */
  async function bound(className, create) {
    const seen = new Set();
    const all = withResolvers();
    const stop = watch(`${claims}?watch=true&labelSelector=class=${className}`, (line) => {
      const { object } = JSON.parse(line);
      if (object.status?.phase === 'Bound') seen.add(object.metadata.name);
      if (seen.size === n) all.resolve();
    });
    const began = performance.now();
    await create();
    await all.promise;
    stop();
    return Math.round((n / (performance.now() - began)) * 1000);
  }
}

function withResolvers() {
  let resolve;
  const promise = new Promise((r) => {
    resolve = r;
  });
  return { promise, resolve };
}

const volume = (className, i) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: `${className}-${i}` },
  spec: { capacity: { storage: '10Gi' }, accessModes: ['ReadWriteOnce'], storageClassName: className, hostPath: { path: `/tmp/${i}` } },
});

const claim = (className, i) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: `${className}-${i}`, labels: { class: className } },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: className, resources: { requests: { storage: '10Gi' } } },
});
