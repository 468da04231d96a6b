// The cost of scheduling a pod with a local volume (WaitForFirstConsumer) on few nodes and on many: processor time of the server, from the pod's POST
// until its watch shows it bound. Processor time, not wall time: it is the same on a busy machine.
import { rate, startServer } from './_server.mjs';

const sizes = (process.env.SIZES ?? '100,1000,5000').split(',').map(Number);
const pods = Number(process.env.N ?? 500);
const inDefault = '/api/v1/namespaces/default';

export async function run() {
  const figures = {};
  const costs = [];
  for (const size of sizes) {
    const cost = await costOn(size);
    costs.push(cost);
    figures[`processor ms a pod, on ${size.toLocaleString('en')} nodes`] = Math.round(cost * 100) / 100;
  }
  figures['ratio'] = Math.round((costs.at(-1) / costs[0]) * 100) / 100;
  return figures;
}

async function costOn(size) {
  const server = await startServer();
  try {
    const { request } = server.client;
    await request('POST', '/apis/storage.k8s.io/v1/storageclasses', storageClass);
    await rate(size, async (i) => {
      await request('POST', '/api/v1/nodes', node(i));
      await request('PATCH', `/api/v1/nodes/n-${i}/status`, { status }, 'application/merge-patch+json');
    });
    const rounds = ['warm', 'measured'];
    // The PVs are spread evenly over the nodes, and there are more than needed.
    await rate(Math.max(size, 3 * pods), (i) => request('POST', '/api/v1/persistentvolumes', volume(i, i % size)));
    for (const round of rounds) await rate(pods, (i) => request('POST', `${inDefault}/persistentvolumeclaims`, claim(`${round}-${i}`)));
    await schedule(server.client, 'warm');
    await atRest(server);
    const before = server.cpuMs();
    await schedule(server.client, 'measured');
    return (server.cpuMs() - before) / pods;
  } finally {
    await server.stop();
    server.remove();
  }
}

async function atRest({ cpuMs }) {
  for (let before = -1000; cpuMs() - before > 50; await new Promise((resolve) => setTimeout(resolve, 2000))) before = cpuMs();
}

async function schedule({ request, watch }, round) {
  const bound = new Set();
  let done;
  const all = new Promise((resolve) => {
    done = resolve;
  });
  const stop = watch(`${inDefault}/pods?watch=true&labelSelector=round=${round}`, (line) => {
    const { object } = JSON.parse(line);
    if (object.spec?.nodeName !== undefined && bound.add(object.metadata.name).size === pods) done();
  });
  await rate(pods, (i) => request('POST', `${inDefault}/pods`, pod(round, i)));
  await all;
  stop();
}

const storageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'local' },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
};

const node = (i) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: `n-${i}`, labels: { 'kubernetes.io/hostname': `n-${i}`, 'topology.kubernetes.io/zone': `zone-${i % 3}` } },
});
const resources = { cpu: '64', memory: '256Gi', pods: '250' };
const status = { capacity: resources, allocatable: resources, conditions: [{ type: 'Ready', status: 'True' }] };

const volume = (i, on) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: `vol-${i}` },
  spec: {
    capacity: { storage: '10Gi' },
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'local',
    local: { path: `/tmp/${i}` },
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [`n-${on}`] }] }] } },
  },
});

const claim = (name) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'local', resources: { requests: { storage: '10Gi' } } },
});

const pod = (round, i) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `${round}-${i}`, labels: { round } },
  spec: {
    automountServiceAccountToken: false,
    containers: [{ name: 'app', image: 'pause', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `${round}-${i}` } }],
  },
});
