// CSI drivers at a sandbox node: how long until a driver is in the CSINode, from the moment at which its registration socket appears, and what mounted
// volumes of the hollow driver cost at rest: the server with its node, and the driver. Needs root.
//   [VOLUMES=1000] [PODS=20] [REST_MS=60000] [DRIVERS=10] npm run bench csi-node
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Registration } from '../dist/grpc/generated/pluginregistration.js';
import { GrpcServer } from '../dist/grpc/http2-server.js';
import { handlersOf } from '../dist/grpc/service.js';
import { startHollowDriver } from './_hollow-driver.mjs';
import { cpuMsOf, quantile, rate, startServer } from './_server.mjs';

const volumes = Number(process.env.VOLUMES ?? 1_000);
const pods = Number(process.env.PODS ?? 20);
const restMs = Number(process.env.REST_MS ?? 60_000);
const drivers = Number(process.env.DRIVERS ?? 10);
const [core, storage] = ['/api/v1/namespaces/default', '/apis/storage.k8s.io/v1'];

export async function run() {
  const rootDir = mkdtempSync('/tmp/mooring-root-');
  const driver = await startHollowDriver();
  const server = await startServer({ args: ['--runtime', 'sandbox', '--nodes', '1', '--root-dir', rootDir, '--csi-endpoint', driver.endpoint] });
  const registrars = [];
  const register = async (name) => {
    const registrar = await startRegistrar({ rootDir, name, endpoint: driver.socket });
    registrars.push(registrar);
  };
  const nodes = followCsiNode(server);
  try {
    await nodes.until(() => true);
    const taken = [];
    for (let i = 0; i < drivers; i++) {
      const name = `driver-${i}.csi.mooring.dev`;
      const began = performance.now();
      await register(name);
      await nodes.until((names) => names.includes(name));
      taken.push(performance.now() - began);
    }
    await register(driver.name);
    await nodes.until((names) => names.includes(driver.name));
    const figures = { 'a registered driver in its CSINode, p50, ms': quantile(taken, 0.5), 'the same, the slowest, ms': quantile(taken, 1) };
    await mountAll(server, driver.name);
    await sleep(15_000);
    const cpu = () => [server.cpuMs(), cpuMsOf(driver.pid)];
    const before = cpu();
    await sleep(restMs);
    const [ofServer, ofDriver] = cpu().map((ms, i) => Number((((ms - before[i]) / restMs) * 100).toPrecision(3)));
    figures[`${volumes} mounted volumes at rest: server and node, % of one core`] = ofServer;
    figures[`${volumes} mounted volumes at rest: driver, % of one core`] = ofDriver;
    return figures;
  } finally {
    nodes.stop();
    await deletePods(server, rootDir);
    for (const registrar of registrars) await registrar.close();
    await server.stop();
    server.remove();
    await driver.stop();
    rmSync(rootDir, { recursive: true, force: true });
  }
}

/** What node-driver-registrar does. */
async function startRegistrar({ rootDir, name, endpoint }) {
  const folder = path.join(rootDir, 'plugins_registry');
  mkdirSync(folder, { recursive: true });
  const registrar = new GrpcServer(
    handlersOf(Registration, {
      getInfo: async () => ({ type: 'CSIPlugin', name, endpoint, supportedVersions: ['1.0.0'] }),
      notifyRegistrationStatus: async () => ({}),
    }),
  );
  await registrar.listen(`unix://${folder}/${name}-reg.sock`);
  return registrar;
}

/** The names of the drivers in the CSINode, as a watch shows them. */
function followCsiNode({ client: { watch } }) {
  const seen = {};
  let changed = () => undefined;
  const stop = watch(`${storage}/csinodes?watch=true`, (line) => {
    seen.names = (JSON.parse(line).object.spec.drivers ?? []).map(({ name }) => name);
    changed();
  });
  return {
    stop,
    until: async (wanted) => {
      while (seen.names === undefined || !wanted(seen.names))
        await new Promise((resolve) => {
          changed = resolve;
        });
    },
  };
}

/** Pods with as many claims each, until all of them are Ready. */
async function mountAll({ client: { request, watch } }, driver) {
  await request('POST', `${storage}/csidrivers`, { metadata: { name: driver }, spec: { attachRequired: false, fsGroupPolicy: 'None' } });
  await request('POST', `${storage}/storageclasses`, { metadata: { name: 'hollow' }, provisioner: driver });
  const spec = { accessModes: ['ReadWriteOnce'], storageClassName: 'hollow', resources: { requests: { storage: '1Mi' } } };
  await rate(volumes, (i) => request('POST', `${core}/persistentvolumeclaims`, { metadata: { name: `claim-${i}` }, spec }));
  const ready = new Set();
  let resolve;
  const all = new Promise((r) => {
    resolve = r;
  });
  const stop = watch(`${core}/pods?watch=true`, (line) => {
    const { object } = JSON.parse(line);
    if (object.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) ready.add(object.metadata.name);
    if (ready.size === pods) resolve();
  });
  for (let i = 0; i < pods; i++) await request('POST', `${core}/pods`, pod(i));
  await all;
  stop();
}

function pod(i) {
  const names = Array.from({ length: volumes }, (_, v) => v).filter((v) => v % pods === i);
  return {
    metadata: { name: `pod-${i}` },
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [
        { name: 'app', image: 'busybox', command: ['sleep', 'infinity'], volumeMounts: names.map((v) => ({ name: `v-${v}`, mountPath: `/data/${v}` })) },
      ],
      volumes: names.map((v) => ({ name: `v-${v}`, persistentVolumeClaim: { claimName: `claim-${v}` } })),
    },
  };
}

async function deletePods({ client: { request } }, rootDir) {
  for (const { metadata } of JSON.parse(await request('GET', `${core}/pods`)).items) await request('DELETE', `${core}/pods/${metadata.name}`);
  while (readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${rootDir}/`)) await sleep(500);
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
