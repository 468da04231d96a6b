// Large sets on hollow nodes: from the POST until a watch shows every pod ready, and how that grows with the number of pods. A cost that grows in a straight
// line has the same time and processor time for one pod in every row of a work.
import { startServer } from './_server.mjs';

const works = {
  'stateful-set': (pods) => [statefulSet('web', pods)],
  'stateful-sets of 10': (pods) => Array.from({ length: pods / 10 }, (_, i) => statefulSet(`web-${i}`, 10)),
  deployment: (pods) => [deployment(pods)],
};

/** WORK:PODS:NODES, separated by commas. */
const defaultRows = [
  'stateful-set:1000:1000',
  'stateful-set:3000:1000',
  'stateful-set:5000:5000',
  'stateful-set:10000:1000',
  'stateful-sets of 10:3000:1000',
  'deployment:1000:1000',
  'deployment:3000:1000',
  'deployment:10000:1000',
];
const rows = (process.env.ROWS?.split(',') ?? defaultRows).map((text) => {
  const [work, pods, nodes] = text.split(':');
  if (works[work] === undefined) throw new Error(`there is no work "${work}"; there are: ${Object.keys(works).join(', ')}`);
  return { work, pods: Number(pods), nodes: Number(nodes) };
});
const limitSeconds = Number(process.env.SECONDS ?? 200);

export async function run() {
  const figures = {};
  const first = new Map();
  for (const row of rows) {
    const { work, pods, nodes } = row;
    const result = await measure(row);
    const base = first.get(work) ?? result;
    first.set(work, base);
    figures[`${work}, ${pods.toLocaleString('en')} pods, ${nodes.toLocaleString('en')} nodes`] = textOf(result, base);
  }
  return figures;
}

function textOf(result, base) {
  if (result.ready < result.pods) return `${result.ready} of ${result.pods} ready after ${limitSeconds} s, ${result.residentMb} MB`;
  const { seconds, wallMs, cpuMs, residentMb, turn } = result;
  const growth = base === result ? '' : ` (x${ratio(wallMs, base.wallMs)}, x${ratio(cpuMs, base.cpuMs)})`;
  return `${seconds.toFixed(1)} s, one pod ${wallMs.toFixed(2)} ms, processor ${cpuMs.toFixed(2)} ms${growth}; ${residentMb} MB; turn p99 ${turn.p99} ms, longest ${turn.longest} ms`;
}

const ratio = (value, base) => (value / base).toFixed(2);

async function measure({ work, pods, nodes }) {
  const perNode = Math.max(110, Math.ceil((2 * pods) / nodes));
  const capacity = `cpu=64,memory=256Gi,ephemeral-storage=100Gi,pods=${perNode}`;
  const args = ['--runtime', 'hollow', '--store', 'memory', '--nodes', String(nodes), '--node-capacity', capacity];
  const server = await startServer({ bare: false, args });
  try {
    await atRest(server);
    await turns(server);
    const before = server.cpuMs();
    const { ready, ms } = await untilReady(server, pods, works[work](pods));
    const cpu = server.cpuMs() - before;
    const turn = await turns(server);
    return { pods, ready, seconds: ms / 1000, wallMs: ms / pods, cpuMs: cpu / pods, residentMb: Math.round(server.residentMb()), turn };
  } finally {
    await server.stop();
    server.remove();
  }
}

/** From the first POST until the watch has shown all pods ready, or the time is over. */
async function untilReady({ client: { request, watch } }, pods, objects) {
  const seen = new Set();
  let all;
  const done = new Promise((resolve) => {
    all = resolve;
  });
  const stop = watch('/api/v1/namespaces/default/pods?watch=true', (line) => {
    if (!isReady(line)) return;
    seen.add(/"name":"([^"]+)"/.exec(line)[1]);
    if (seen.size === pods) all();
  });
  const limit = setTimeout(() => all(), limitSeconds * 1000);
  const began = performance.now();
  for (const object of objects) await request('POST', `/apis/apps/v1/namespaces/default/${object.kind.toLowerCase()}s`, object);
  await done;
  clearTimeout(limit);
  stop();
  return { ready: seen.size, ms: performance.now() - began };
}

/** A watch of 10,000 pods is read on the processors that the server needs: events are not decoded. */
const isReady = (line) => /"type":"Ready",[^}]*"status":"True"/.test(line);

/** The turns of the server's event loop since the last call. */
async function turns({ client: { request } }) {
  const text = (await request('GET', '/metrics')).toString();
  const read = (name) => Math.round(Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)`, 'm').exec(text)[1]) * 1000);
  return { p99: read('p99'), longest: read('max') };
}

async function atRest({ cpuMs }) {
  for (let before = -1000; cpuMs() - before > 100; await new Promise((resolve) => setTimeout(resolve, 1000))) before = cpuMs();
}

const labels = { app: 'web' };
const container = { name: 'app', image: 'nginx' };

function statefulSet(name, replicas) {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name },
    spec: {
      replicas,
      serviceName: name,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: { ...labels, set: name } },
      template: {
        metadata: { labels: { ...labels, set: name } },
        spec: { containers: [{ ...container, volumeMounts: [{ name: 'data', mountPath: '/data' }] }] },
      },
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }],
    },
  };
}

const deployment = (replicas) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [container] } } },
});
