/** The programs of `moor envtest install`, started as controller-runtime's envtest starts them. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { namespaceKind } from '../../src/api/kinds/core/namespace.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { statefulSetKind } from '../../src/api/kinds/apps/stateful-set.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { issueCertificate } from '../../src/apiserver/certificates/issue-certificates.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { HttpTransport } from '../../src/client/http-transport.ts';
import { createRealWorld } from '../../src/host/world.ts';
import { root } from '../moor-process.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'mooring-envtest-'));
const assets = path.join(directory, 'assets');
const certificates = path.join(directory, 'certificates');

beforeAll(() => {
  execFileSync(process.execPath, [path.join(root, 'dist/main/moor.js'), 'envtest', 'install', assets, '--kubectl', process.execPath]);
  execFileSync('mkdir', ['-p', certificates]);
});
afterAll(() => rmSync(directory, { recursive: true }));

const claim = (name: string) => ({
  metadata: { namespace: 'shop', name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});
const template = { metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'db', image: 'db' }] } };
const set = { metadata: { namespace: 'shop', name: 'db' }, spec: { serviceName: 'db', selector: { matchLabels: { app: 'db' } }, template } };

describe('moor envtest', () => {
  test('storage: PVCs are bound and deleted, pods without a ServiceAccount are accepted, namespaces end', async () => {
    await using server = await startControlPlane('storage');
    const { client } = server;
    expect((await client.create(namespaceKind, { metadata: { name: 'shop' } })).ok).toBe(true);
    expect((await client.create(persistentVolumeClaimKind, claim('data'))).ok).toBe(true);
    await expect.poll(() => phaseOf(client)).toBe('Bound');
    expect((await client.create(podKind, { metadata: { namespace: 'shop', name: 'web' }, spec: template.spec })).ok).toBe(true);
    expect((await client.delete(podKind, { namespace: 'shop', name: 'web' })).ok).toBe(true);
    expect((await client.create(statefulSetKind, set)).ok).toBe(true);
    expect((await client.delete(persistentVolumeClaimKind, { namespace: 'shop', name: 'data' })).ok).toBe(true);
    await expect.poll(() => phaseOf(client)).toBe('notFound');
    await client.delete(namespaceKind, { name: 'shop' });
    await expect.poll(async () => (await client.get(namespaceKind, { name: 'shop' })).ok).toBe(false);
    expect(server.output()).toContain('does not use --service-cluster-ip-range');
    expect(await server.stop()).toEqual([0, 0]);
  });

  test('workloads: StatefulSets have pods; bare: nothing acts, as in envtest', async () => {
    await using workloads = await startControlPlane('workloads');
    await workloads.client.create(namespaceKind, { metadata: { name: 'shop' } });
    await workloads.client.create(statefulSetKind, set);
    await expect.poll(async () => (await workloads.client.get(podKind, { namespace: 'shop', name: 'db-0' })).ok).toBe(true);
    await using bare = await startControlPlane('bare');
    await bare.client.create(namespaceKind, { metadata: { name: 'shop' } });
    await bare.client.create(persistentVolumeClaimKind, claim('data'));
    await bare.client.delete(namespaceKind, { name: 'shop' });
    const kept = await bare.client.get(namespaceKind, { name: 'shop' });
    expect([kept.ok && kept.value.status?.phase, await phaseOf(bare.client)]).toEqual(['Terminating', 'Pending']);
  });

  test('both programs tell their flags, and refuse what they cannot do', () => {
    const helpOf = (program: string) => execFileSync(path.join(assets, program), ['--help'], { encoding: 'utf8' });
    expect(helpOf('etcd')).toMatch(/^\s*--unsafe-no-fsync\b/m);
    expect(helpOf('kube-apiserver')).not.toContain('insecure-port');
    expect(() => execFileSync(path.join(assets, 'kube-apiserver'), ['--authorization-mode=AlwaysAllow'], { stdio: 'pipe' })).toThrow('authorizes by RBAC');
  });
});

async function phaseOf(client: Client): Promise<string | undefined> {
  const found = await client.get(persistentVolumeClaimKind, { namespace: 'shop', name: 'data' });
  return found.ok ? found.value.status.phase : found.reason;
}

/** As envtest: etcd until it is healthy, then kube-apiserver with certificates of the suite until /healthz answers without credentials. */
async function startControlPlane(level: string) {
  const [etcdPort, port] = [await freePort(), await freePort()];
  const admin = await writeCertificates();
  const etcd = start('etcd', [`--listen-client-urls=http://127.0.0.1:${etcdPort}`, `--data-dir=${directory}/etcd`, '--unsafe-no-fsync=true'], level);
  await until(async () => (await statusOf(`http://127.0.0.1:${etcdPort}/health`)) === 200);
  const apiserver = start(
    'kube-apiserver',
    [
      '--allow-privileged=true',
      '--authorization-mode=RBAC',
      '--bind-address=127.0.0.1',
      `--cert-dir=${certificates}`,
      `--client-ca-file=${certificates}/client-cert-auth-ca.crt`,
      '--disable-admission-plugins=ServiceAccount',
      `--etcd-servers=http://127.0.0.1:${etcdPort}`,
      `--secure-port=${port}`,
      '--service-cluster-ip-range=10.0.0.0/24',
    ],
    level,
  );
  const url = `https://127.0.0.1:${port}`;
  const world = createRealWorld({ logLevel: 'error' });
  const anonymous = new HttpTransport({ access: { url, ca: admin.servingCa }, world, userAgent: 'test' });
  await until(async () => (await anonymous.readPath('/healthz'))?.code === 200);
  const client = createClient({
    transport: new HttpTransport({ access: { url, ca: admin.servingCa, cert: admin.certificate, key: admin.key }, world, userAgent: 'test' }),
  });
  await until(async () => (await client.get(namespaceKind, { name: 'default' })).ok);
  const stop = async () => [await apiserver.stop(), await etcd.stop()];
  return { client, output: () => apiserver.output(), stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}

function start(program: string, args: readonly string[], level: string) {
  const child: ChildProcess = spawn(path.join(assets, program), args, { env: { ...process.env, MOORING_ENVTEST: level }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => void (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  return {
    output: () => output,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** Two authorities of the suite: one for the server, one for its clients. */
async function writeCertificates() {
  const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 7 * 24 * 3_600_000 };
  const servingCa = await issueCertificate({ type: 'authority', commonName: 'serving', ...validity });
  const clientCa = await issueCertificate({ type: 'authority', commonName: 'clients', ...validity });
  const serving = await issueCertificate({ type: 'server', commonName: 'server', hosts: ['127.0.0.1'], authority: servingCa, ...validity });
  const admin = await issueCertificate({ type: 'client', name: 'admin', groups: ['system:masters'], authority: clientCa, ...validity });
  writeFileSync(path.join(certificates, 'apiserver.crt'), serving.certificate);
  writeFileSync(path.join(certificates, 'apiserver.key'), serving.key);
  writeFileSync(path.join(certificates, 'client-cert-auth-ca.crt'), clientCa.certificate);
  return { ...admin, servingCa: servingCa.certificate };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(50);
}

const statusOf = (url: string): Promise<number> =>
  new Promise((resolve) => {
    const request = http.get(url, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', () => resolve(0));
  });

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
