// From `moor up` to ready, and memory when idle: empty, and with 100,000 claims in the store.
import { rate, startServer } from './_server.mjs';

const claims = Number(process.env.N ?? 100_000);

export async function run() {
  const figures = {};
  let server = await startServer();
  await server.stop();
  server = await startServer({ dataDir: server.dataDir });
  figures['start to ready, empty, ms'] = Math.round(server.readyMs);
  await settled(server);
  figures['resident at rest, empty, MB'] = Math.round(server.residentMb());
  await rate(claims, (i) => server.client.request('POST', '/api/v1/namespaces/default/persistentvolumeclaims', claim(i)));
  figures[`resident with ${claims} claims just made, MB`] = Math.round(server.residentMb());
  await server.stop();
  server = await startServer({ dataDir: server.dataDir });
  figures[`start to ready with ${claims} claims, ms`] = Math.round(server.readyMs);
  await settled(server);
  figures[`resident at rest with ${claims} claims, MB`] = Math.round(server.residentMb());
  const before = server.cpuMs();
  await new Promise((resolve) => setTimeout(resolve, 5000));
  figures['CPU at rest, % of one core'] = Math.round((server.cpuMs() - before) / 50);
  await server.stop();
  server.remove();
  return figures;
}

/** Idle: the server used almost no CPU for a second. */
async function settled(server) {
  for (let before = server.cpuMs(); ; ) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const now = server.cpuMs();
    if (now - before < 50) return;
    before = now;
  }
}

const claim = (i) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: `data-${i}`, labels: { app: `app-${i % 100}` } },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none-such', resources: { requests: { storage: '1Gi' } } },
});
