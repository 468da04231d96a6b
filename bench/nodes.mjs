// Hollow nodes from outside: the cost of a thousand idle ones, and how fast pods start on them.
import { rate, startServer } from './_server.mjs';

const nodes = Number(process.env.NODES ?? 1_000);
const pods = Number(process.env.PODS ?? 2_000);
const restMs = Number(process.env.REST_MS ?? 60_000);
const path = '/api/v1/namespaces/default/pods';

export async function run() {
  const figures = {};
  const server = await startServer({ args: ['--nodes', String(nodes)] });
  try {
    figures[`start to ready with ${nodes} nodes, ms`] = Math.round(server.readyMs);
    await sleep(20_000);
    const before = server.cpuMs();
    await sleep(restMs);
    figures[`${nodes} nodes at rest, % of one core`] = ((server.cpuMs() - before) / restMs) * 100;
    figures[`resident with ${nodes} nodes, MB`] = Math.round(server.residentMb());
    Object.assign(figures, await comingToLife(server));
    return figures;
  } finally {
    await server.stop();
    server.remove();
  }
}

/** Pods with spec.nodeName: from the first request until the watch shows the last one ready. */
async function comingToLife({ client: { request, watch }, cpuMs }) {
  const seen = new Set();
  let all;
  const done = new Promise((resolve) => {
    all = resolve;
  });
  const stop = watch(`${path}?watch=true`, (line) => {
    const { object } = JSON.parse(line);
    if (object.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) seen.add(object.metadata.name);
    if (seen.size === pods) all();
  });
  const [began, cpu] = [performance.now(), cpuMs()];
  await rate(pods, (i) => request('POST', path, pod(i)));
  await done;
  stop();
  return {
    'pods ready a second': Math.round((pods / (performance.now() - began)) * 1000),
    'processor time of the server for one pod, ms': (cpuMs() - cpu) / pods,
  };
}

const pod = (i) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `pod-${i}` },
  spec: { nodeName: `node-${1 + (i % nodes)}`, containers: [{ name: 'app', image: 'nginx' }] },
});

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
