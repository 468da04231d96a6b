// Peers: nfsplugin
/** csi-driver-nfs with a real NFS server, without any sidecar. It mounts by the kernel's client, or over FUSE by the client in examples/. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startNfsServer } from '../drivers/nfs-server.ts';
import { until } from '../drivers/server.ts';
import { root as project } from '../moor-process.ts';
import { claim, ofClaim, ofSnapshot, pod, snapshot, snapshotClass, storageClass } from './host-path-objects.ts';
import { mountsBelow, nodeName, type PeerCluster, startPeerCluster } from './peer-cluster.ts';
import { Running, startPeer } from './peer-process.ts';
import { startRegistrar } from './registrar.ts';

const name = 'nfs.csi.k8s.io';
const running = new Running();
const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-nfs-')));
const at = (file: string) => path.join(directory, file);
const exported = at('export');
let cluster: PeerCluster;
let server: Awaited<ReturnType<typeof startNfsServer>>;

beforeAll(async () => {
  mkdirSync(exported);
  mkdirSync(at('work'));
  const hasClient = readFileSync('/proc/filesystems', 'utf8').includes('nfs');
  if (!hasClient) vi.stubEnv('PATH', [path.join(project, 'test/peers/nfs-client'), path.join(project, 'examples/fuse-nfs'), process.env['PATH']].join(':'));
  server = await startNfsServer({ exported, aside: directory });
  running.use({ [Symbol.asyncDispose]: () => server.stop() });
  await until(() => server.inside('rpcinfo', '-t', '127.0.0.1', 'nfs', '3'));
  cluster = running.use(await startPeerCluster());
  running.use(startPeer('nfsplugin', '--nodeid', nodeName, '--endpoint', `unix://${at('csi.sock')}`, '--working-mount-dir', at('work'), '--drivername', name));
  await vi.waitUntil(() => existsSync(at('csi.sock')), { timeout: 60_000 });
  const annotations = { 'mooring.dev/controller': 'built-in', 'mooring.dev/endpoint': `unix://${at('csi.sock')}` };
  const spec = { attachRequired: false, volumeLifecycleModes: ['Persistent'], fsGroupPolicy: 'File' };
  await cluster.apply({ apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name, annotations }, spec });
  running.use(await startRegistrar(cluster.nodeRoot, name, at('csi.sock')));
});
afterAll(async () => {
  await running.end();
  expect(mountsBelow(directory)).toEqual([]);
  rmSync(directory, { recursive: true });
});

test('two pods share a volume of the server; a snapshot of it is restored; nothing is left', async () => {
  const { kubectl } = cluster;
  const ofServer = { provisioner: name, parameters: { server: server.address, share: exported }, mountOptions: ['nfsvers=3'], allowVolumeExpansion: false };
  const shared = { accessModes: ['ReadWriteMany'] };
  await cluster.apply(storageClass('nfs', ofServer), { ...snapshotClass('nfs'), driver: name }, claim('shared', 'nfs', shared));
  await cluster.apply(pod('stays', 'echo one > /v/data/file; exec sleep infinity', { data: ofClaim('shared') }));
  await kubectl('wait', '--for=condition=Ready', 'pod/stays', '--timeout=120s');
  expect(await cluster.run(pod('reads', 'until test -s /v/data/file; do sleep 1; done; cat /v/data/file', { data: ofClaim('shared') }))).toBe('one\n');
  const volume = await kubectl('get', 'pvc', 'shared', '-o', 'jsonpath={.spec.volumeName}');
  expect(readFileSync(path.join(exported, volume, 'file'), 'utf8')).toBe('one\n');

  await cluster.apply(snapshot('moment', 'nfs', 'shared'));
  await kubectl('wait', '--for=jsonpath={.status.readyToUse}=true', 'volumesnapshot/moment', '--timeout=120s');
  await kubectl('exec', 'stays', '--', 'sh', '-c', 'echo two > /v/data/file');
  await cluster.apply(claim('restored', 'nfs', { ...shared, ...ofSnapshot('moment') }));
  const both = { now: ofClaim('shared'), before: ofClaim('restored') };
  expect(await cluster.run(pod('compares', 'cat /v/now/file /v/before/file', both))).toBe('two\none\n');

  await kubectl('delete', 'pod/stays', 'volumesnapshot/moment', '--timeout=120s');
  await kubectl('delete', 'pvc', '--all', '--timeout=120s');
  await expect.poll(() => kubectl('get', 'pv,volumesnapshotcontent', '-o', 'name')).toBe('');
  expect(readdirSync(exported)).toEqual([]);
});
