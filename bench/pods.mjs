// Pods that really run, from outside: the time from creating a pod with its own PVC until its container writes to the new volume, one by one and a
// hundred at once, and the cost of a node with a hundred idle ones. Needs root. Other load on the machine shows in these figures: `nice -n -15 npm run
// bench pods` reduces it. Not `chrt`: no process of real time can join the control group of a pod where it has no budget for it.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { quantile, startServer } from './_server.mjs';

const alone = Number(process.env.ALONE ?? 20);
const together = Number(process.env.PODS ?? 100);
const restMs = Number(process.env.REST_MS ?? 20_000);
const [claims, pods] = ['/api/v1/namespaces/default/persistentvolumeclaims', '/api/v1/namespaces/default/pods'];

/** Image volumes need loop devices. */
const provisioners = { directories: 'kubernetes.io/host-path', images: 'image.mooring.dev' };
const classes = existsSync('/dev/loop-control') ? ['directories', 'images'] : ['directories'];

export async function run() {
  const started = await startServer({ args: ['--runtime', 'sandbox', '--nodes', '1'] });
  const server = { ...started, volumes: follow(started) };
  const figures = {};
  try {
    await prepare(server);
    for (const className of classes) Object.assign(figures, await oneByOne(server, className));
    Object.assign(figures, await burst(server, 'directories'));
    await sleep(5_000);
    const before = cpuMsBelow(process.pid);
    await sleep(restMs);
    figures[`a node with ${together} pods and ${mountsOf(server)} mounts at rest, % of one core`] = round(((cpuMsBelow(process.pid) - before) / restMs) * 100);
    await removeAll(server, together);
    return figures;
  } finally {
    server.volumes.stop();
    await server.stop();
    server.remove();
  }
}

async function prepare({ client: { request } }) {
  const storage = '/apis/storage.k8s.io/v1';
  await request('POST', `${storage}/csidrivers`, { metadata: { name: provisioners.images }, spec: { attachRequired: false } });
  for (const name of classes)
    await request('POST', `${storage}/storageclasses`, { metadata: { name }, provisioner: provisioners[name], volumeBindingMode: 'WaitForFirstConsumer' });
  const isReady = ({ status }) => status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  await until(async () => JSON.parse(await request('GET', '/api/v1/nodes')).items.some(isReady));
  await until(async () => JSON.parse(await request('GET', '/api/v1/namespaces/default/serviceaccounts')).items.length > 0);
  await request('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'settings' }, data: { a: '1' } });
}

async function oneByOne(server, className) {
  const taken = [];
  await makeClaims(server, { prefix: 'alone', className, count: alone });
  for (let i = 0; i < alone; i++) {
    const made = await makePod(server, `alone-${i}`);
    taken.push(await written(server, made));
  }
  await removeAll(server, alone, 'alone');
  return { [`${className}: pod accepted to container writing, p50, ms`]: quantile(taken, 0.5), [`${className}: the same, p99, ms`]: quantile(taken, 0.99) };
}

async function burst(server, className) {
  await makeClaims(server, { prefix: 'together', className, count: together });
  const [began, cpu] = [performance.now(), cpuMsBelow(process.pid)];
  const taken = await Promise.all(Array.from({ length: together }, async (_, i) => written(server, await makePod(server, `together-${i}`))));
  const all = performance.now() - began;
  return {
    [`${together} pods at once: accepted to writing, p50, ms`]: quantile(taken, 0.5),
    [`${together} pods at once: the same, p99, ms`]: quantile(taken, 0.99),
    [`${together} pods at once: all, ms`]: Math.round(all),
    'processor time for one pod, all processes, ms': round((cpuMsBelow(process.pid) - cpu) / together),
  };
}

async function makeClaims({ client: { request } }, { prefix, className, count }) {
  for (let i = 0; i < count; i++) {
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName: className, resources: { requests: { storage: '16Mi' } } };
    await request('POST', claims, { metadata: { name: `${prefix}-${i}` }, spec });
  }
}

/** From the moment of sending: the time of the request is in the figure. */
async function makePod({ client: { request } }, name) {
  const at = Date.now();
  const { metadata } = JSON.parse(await request('POST', pods, pod(name)));
  return { name, uid: metadata.uid, at };
}

const pod = (name) => ({
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'app',
        image: 'busybox',
        command: ['sh', '-c', 'echo here >/data/here; exec sleep infinity'],
        volumeMounts: [
          { name: 'data', mountPath: '/data' },
          { name: 'settings', mountPath: '/settings' },
          { name: 'memory', mountPath: '/memory' },
        ],
      },
    ],
    volumes: [
      { name: 'data', persistentVolumeClaim: { claimName: name } },
      { name: 'settings', configMap: { name: 'settings' } },
      { name: 'memory', emptyDir: { medium: 'Memory' } },
    ],
  },
});

/** Milliseconds until the container wrote, by the modification time of its file. */
async function written(server, { name, uid, at }) {
  const volume = await server.volumes.of(name);
  const file =
    volume.spec.hostPath === undefined
      ? path.join(server.dataDir, 'nodes/node-1/pods', uid, 'volumes/kubernetes.io~csi', volume.metadata.name, 'mount/here')
      : path.join(volume.spec.hostPath.path, 'here');
  // Polled seldom: the file has its own timestamp.
  await until(() => existsSync(file), 100);
  return statSync(file).mtimeMs - at;
}

/** PVs by their PVC, from a watch: polling would add to the measured load. */
function follow({ client: { watch } }) {
  const [known, waiting] = [new Map(), new Map()];
  const stop = watch('/api/v1/persistentvolumes?watch=true', (line) => {
    const { type, object } = JSON.parse(line);
    const claim = object.spec.claimRef?.name;
    if (type === 'DELETED') known.delete(claim);
    else known.set(claim, object);
    waiting.get(claim)?.(object);
    waiting.delete(claim);
  });
  return { stop, of: (claim) => known.get(claim) ?? new Promise((resolve) => waiting.set(claim, resolve)) };
}

async function removeAll({ client: { request } }, count, prefix = 'together') {
  for (let i = 0; i < count; i++) await request('DELETE', `${pods}/${prefix}-${i}`, { gracePeriodSeconds: 0 });
  for (let i = 0; i < count; i++) await request('DELETE', `${claims}/${prefix}-${i}`);
  await until(async () => JSON.parse(await request('GET', '/api/v1/persistentvolumes')).items.length === 0);
}

const mountsOf = ({ dataDir }) =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(dataDir)).length;

/** Processor time of a process and its descendants, ended ones included, in milliseconds. */
function cpuMsBelow(top) {
  const processes = new Map();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
      const ticksOfChildren = Number(fields[13]) + Number(fields[14]);
      processes.set(Number(pid), { parent: Number(fields[1]), ms: ownMs(pid) + (ticksOfChildren * 1000) / ticksASecond });
    } catch {
      // ended meanwhile
    }
  }
  const isBelow = (pid) => pid === top || (pid > 1 && isBelow(processes.get(pid)?.parent ?? 0));
  return [...processes].reduce((sum, [pid, each]) => sum + (pid !== top && isBelow(pid) ? each.ms : 0), 0);
}

/** Of its threads, in nanoseconds: most processes of a pod live shorter than one tick of /proc/PID/stat. */
const ownMs = (pid) =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6, 0);

const ticksASecond = Number(execFileSync('getconf', ['CLK_TCK']));

const round = (value) => Math.round(value * 10) / 10;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(isSo, everyMs = 20) {
  while (!(await isSo())) await sleep(everyMs);
}
