// Claims to Bound through the socket of the hollow driver: by the built-in controllers, and by the real external-provisioner with the same driver against
// the same server, alternating. The real one is taken from the peers' cache (`npm run test:peers` fills it), once with its own limit of five requests a
// second and once without; where it is not, its figures are left out. Processor time is that of all processes: server, driver and provisioner. It is
// comparable on a busy machine too.
//   [N=1000] [PEER_N=200] [ROUNDS=2] npm run bench csi
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { startHollowDriver } from './_hollow-driver.mjs';
import { cpuMsOf, rate, startServer } from './_server.mjs';

const n = Number(process.env.N ?? 1_000);
const peerN = Number(process.env.PEER_N ?? 200);
const rounds = Number(process.env.ROUNDS ?? 2);
const claims = '/api/v1/namespaces/default/persistentvolumeclaims';

export async function run() {
  const own = await startHollowDriver({ name: 'own.csi.mooring.dev' });
  const others = [];
  const server = await startServer({ args: ['--csi-endpoint', own.endpoint] });
  try {
    await addClass(server, own.name);
    const sides = [{ label: 'built-in', driver: own.name, count: n, pids: [own.pid] }];
    const program = provisionerProgram();
    if (program !== undefined) {
      const plain = await startPeer(server, program, { name: 'plain.csi.mooring.dev', flags: [] });
      others.push(plain);
      const fast = await startPeer(server, program, { name: 'fast.csi.mooring.dev', flags: ['--kube-api-qps=100000', '--kube-api-burst=100000'] });
      others.push(fast);
      sides.push({ label: 'external-provisioner', driver: plain.name, count: Math.ceil(peerN / 8), pids: plain.pids });
      sides.push({ label: 'external-provisioner without its limit', driver: fast.name, count: peerN, pids: fast.pids });
    }
    const measured = new Map(sides.map(({ label }) => [label, []]));
    for (const { driver } of sides) await provision(server, driver, { count: 20, prefix: 'warm', pids: [] });
    for (let round = 0; round < rounds; round++)
      for (const { label, driver, count, pids } of sides) measured.get(label).push(await provision(server, driver, { count, prefix: `round-${round}`, pids }));
    return figuresOf(measured);
  } finally {
    for (const { stop } of others) await stop();
    await server.stop();
    server.remove();
    await own.stop();
  }
}

function figuresOf(measured) {
  const figures = {};
  const best = (label, field) => measured.get(label).toSorted((a, b) => b.aSecond - a.aSecond)[0][field];
  for (const [label] of measured) {
    figures[`${label}: claims a second to Bound`] = Number(best(label, 'aSecond').toPrecision(3));
    figures[`${label}: processor time for one claim, ms`] = Number(best(label, 'cpuMs').toPrecision(3));
  }
  for (const label of [...measured.keys()].slice(1))
    figures[`built-in, times ${label}`] = Number((best('built-in', 'aSecond') / best(label, 'aSecond')).toPrecision(3));
  return figures;
}

/** Creates claims of a driver's class and waits until the last one is Bound. */
async function provision({ client: { request, watch }, cpuMs }, driver, { count, prefix, pids }) {
  const names = `${prefix}-${driver}-`;
  const bound = new Set();
  let resolve;
  const all = new Promise((r) => {
    resolve = r;
  });
  const stop = watch(`${claims}?watch=true`, (line) => {
    const { object } = JSON.parse(line);
    if (object.status?.phase === 'Bound' && object.metadata.name.startsWith(names)) bound.add(object.metadata.name);
    if (bound.size === count) resolve();
  });
  const cpuOfAll = () => pids.reduce((sum, pid) => sum + cpuMsOf(pid), cpuMs());
  const [began, cpu] = [performance.now(), cpuOfAll()];
  await rate(count, (i) => request('POST', claims, claim(`${names}${i}`, driver)));
  await all;
  stop();
  return { aSecond: (count / (performance.now() - began)) * 1000, cpuMs: (cpuOfAll() - cpu) / count };
}

/** There is no node, so the class names the driver's topology. */
const addClass = ({ client: { request } }, driver) =>
  request('POST', '/apis/storage.k8s.io/v1/storageclasses', {
    metadata: { name: driver },
    provisioner: driver,
    allowedTopologies: [{ matchLabelExpressions: [{ key: `topology.${driver}/node`, values: ['node-1'] }] }],
  });

const claim = (name, storageClassName) => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: '1Gi' } } },
});

/** A driver of its own, with the real external-provisioner beside it. */
async function startPeer(server, program, { name, flags }) {
  const driver = await startHollowDriver({ name });
  await addClass(server, name);
  const child = spawn(program, [`--csi-address=${driver.socket}`, `--kubeconfig=${server.kubeconfig}`, ...flags], { stdio: 'ignore' });
  return {
    name,
    pids: [driver.pid, child.pid],
    stop: async () => {
      const ended = new Promise((resolve) => void child.once('exit', resolve));
      if (child.exitCode === null && child.kill()) await ended;
      await driver.stop();
    },
  };
}

function provisionerProgram() {
  const folder = path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'mooring/peers');
  const name = existsSync(folder) ? readdirSync(folder).find((each) => each.startsWith('csi-provisioner-')) : undefined;
  return name === undefined ? undefined : path.join(folder, name);
}
