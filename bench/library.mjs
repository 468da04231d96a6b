// `mooring/testing`: how long a cluster of a test takes to start and to be restored, and what a hundred of them take of a process.
// Times are of the processor: a test machine does other things meanwhile. The first start also compiles.
const { startTestCluster } = await import('../dist/main/testing.js');

const rounds = 30;

export async function run() {
  const first = await cpuMs(() => startTestCluster());
  const clusters = [];
  const starts = [];
  const before = heapMb();
  for (let i = 0; i < 100; i++) starts.push(await cpuMs(async () => clusters.push(await startTestCluster())));
  const heap = heapMb() - before;
  const [cluster] = clusters;
  const clean = await cluster.snapshot();
  await cluster.apply(database);
  await cluster.waitFor('sts/db', 'has 3 ready');
  const running = await cluster.snapshot();
  const restores = { clean: [], running: [] };
  for (let i = 0; i < rounds; i++) {
    restores.clean.push(await cpuMs(() => cluster.restore(clean)));
    restores.running.push(await cpuMs(() => cluster.restore(running)));
  }
  const lost = await cpuMs(async () => {
    await cluster.fail({ zone: 'zone-a' });
    await cluster.time.advance('10m');
  });
  for (const each of clusters) await each.stop();
  return {
    'first start in a process, ms': first,
    'a start, median of 100, ms': median(starts),
    '100 clusters, MB of heap': heap,
    'restore of an empty cluster, median, ms': median(restores.clean),
    'restore with a StatefulSet of 3, median, ms': median(restores.running),
    'ten minutes after a zone is lost, ms': lost,
  };
}

async function cpuMs(work) {
  const begin = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(begin);
  return Math.round((user + system) / 100) / 10;
}

function heapMb() {
  globalThis.gc?.();
  return Math.round(process.memoryUsage().heapUsed / 2 ** 20);
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const database = `
apiVersion: v1
kind: Service
metadata: { name: db }
spec: { clusterIP: None, selector: { app: db }, ports: [{ port: 5432 }] }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db }
spec:
  serviceName: db
  replicas: 3
  selector: { matchLabels: { app: db } }
  template:
    metadata: { labels: { app: db } }
    spec:
      containers: [{ name: db, image: db, volumeMounts: [{ name: data, mountPath: /data }] }]
  volumeClaimTemplates:
    - metadata: { name: data }
      spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
`;
