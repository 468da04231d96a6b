/** A CSI driver that registers by its socket at a real `moor up`, and real pods with its volumes. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { realHostFiles } from '../../src/host/files.ts';
import { realMounts } from '../../src/host/mounts.ts';
import { type MoorProcess, runMoor, startMoor } from '../moor-process.ts';
import { describeWithSandboxes, endContainers } from '../sandbox/sandboxes.ts';
import { FakeCsiDriver } from './fake-driver.ts';

const name = 'fake.example.com';
const volumes = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: { name },
      spec: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ['Persistent', 'Ephemeral'] },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'pv-1' },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        csi: { driver: name, volumeHandle: 'vol-1' },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', volumeName: 'pv-1', resources: { requests: { storage: '1Gi' } } },
    },
  ],
};
const pod = (of: string, command: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: of },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'app',
        image: 'busybox',
        command: ['sh', '-c', `${command}; sleep infinity`],
        volumeMounts: [
          { name: 'data', mountPath: '/data' },
          { name: 'scratch', mountPath: '/scratch' },
        ],
      },
    ],
    volumes: [
      { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
      { name: 'scratch', csi: { driver: name } },
    ],
  },
});

describeWithSandboxes('a driver that registers by its socket', () => {
  let moor: MoorProcess;
  let driver: FakeCsiDriver;
  let dataDir = '';
  let root = '';
  const args = ['--store', 'embedded', '--runtime', 'sandbox', '--nodes', '1'];
  const registration = () => path.join(root, 'plugins_registry', 'fake-reg.sock');
  const endpoint = () => path.join(root, 'plugins', 'csi.sock');
  const register = async () => {
    await driver.listen(endpoint());
    await driver.listenForRegistration(registration(), endpoint());
  };
  const drivers = async () => (await moor.kubectl('get', 'csinode', 'node-1', '-o', 'jsonpath={.spec.drivers[*].name}')).stdout;
  const apply = async (object: object) => expect(await moor.kubectlWith(JSON.stringify(object), 'apply', '-f', '-')).toMatchObject({ code: 0 });
  const content = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);
  const patience = { timeout: 30_000, interval: 200 };

  beforeAll(async () => {
    dataDir = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-e2e-')));
    root = path.join(dataDir, 'root');
    moor = await startMoor({ dataDir, args: [...args, '--root-dir', root] });
    mkdirSync(path.join(root, 'plugins'));
    driver = new FakeCsiDriver({
      host: { mounts: realMounts(), files: realHostFiles },
      directory: path.join(dataDir, 'content'),
      capabilities: ['STAGE_UNSTAGE_VOLUME', 'GET_VOLUME_STATS', 'VOLUME_CONDITION'],
    });
  }, 60_000);
  afterAll(async () => {
    await moor.kubectl('delete', 'pods', '--all', '--now');
    await moor.stop();
    await endContainers(path.join(dataDir, 'nodes', 'node-1', 'sandbox'));
    await driver[Symbol.asyncDispose]();
    expect(await runMoor('down', '--data-dir', dataDir)).toMatchObject({ code: 0 });
    rmSync(dataDir, { recursive: true, force: true });
  }, 60_000);

  test('is in the CSINode; a pod has its volumes, and they go with the pod', async () => {
    await apply(volumes);
    await apply(pod('first', 'echo kept > /data/file; echo gone > /scratch/file'));
    const missing = `driver name ${name} not found in the list of registered CSI drivers`;
    await expect.poll(async () => (await moor.kubectl('get', 'events')).stdout, patience).toContain(missing);
    await register();
    await expect.poll(drivers, patience).toContain(name);
    await expect.poll(() => content(path.join(dataDir, 'content', 'vol-1', 'file')), patience).toBe('kept\n');
    expect(driver.last('nodePublishVolume')).toMatchObject({ volumeContext: { 'csi.storage.k8s.io/pod.name': 'first' } });
    await moor.kubectl('delete', 'pod', 'first', '--now');
    await expect.poll(() => driver.changes.at(-1), patience).toBe('nodeUnstageVolume');
    await expect.poll(() => readdirSync(path.join(root, 'plugins/kubernetes.io/csi', name)), patience).toEqual([]);
  }, 90_000);

  test('goes while a pod has its volume, and an agent is killed meanwhile: the volume is unmounted when both are back', async () => {
    await apply(pod('second', 'cat /data/file > /scratch/copy'));
    await expect.poll(() => driver.changes.filter((method) => method === 'nodePublishVolume').length, patience).toBe(4);
    await driver.stop(registration());
    await driver.stop(endpoint());
    await expect.poll(drivers, patience).not.toContain(name);
    await moor.kubectl('delete', 'pod', 'second', '--now', '--wait=false');
    const before = driver.changes.length;
    await moor.stop('SIGKILL');
    moor = await startMoor({ dataDir, args: [...args, '--root-dir', root] });
    expect(driver.changes).toHaveLength(before);
    await register();
    await expect.poll(() => driver.changes.slice(before).toSorted(), patience).toEqual(['nodeUnpublishVolume', 'nodeUnpublishVolume', 'nodeUnstageVolume']);
    await expect.poll(async () => (await moor.kubectl('get', 'pods', '-o', 'name')).stdout, patience).toBe('');
    await expect.poll(() => readdirSync(path.join(root, 'pods')), patience).toEqual([]);
    expect(content(path.join(dataDir, 'content', 'vol-1', 'file'))).toBe('kept\n');
  }, 120_000);

  test('does not know any more what it staged: it is asked to stage the volume again', async () => {
    const before = driver.changes.length;
    const staged = () => driver.changes.slice(before).filter((method) => method === 'nodeStageVolume').length;
    driver.misbehaves.set('nodePublishVolume', { code: 'FailedPrecondition', message: 'volume must be staged before publishing' });
    await apply(pod('third', 'true'));
    await expect.poll(staged, patience).toBeGreaterThan(1);
    driver.misbehaves.delete('nodePublishVolume');
    await moor.kubectl('wait', '--for=condition=Ready', 'pod/third', '--timeout=60s');
    expect((await moor.kubectl('get', 'pod', 'third', '-o', 'jsonpath={.status.phase}')).stdout).toBe('Running');
  }, 120_000);

  test('tells that a volume is not well: a metric of the node, and an event of the pod', async () => {
    driver.condition = { abnormal: true, message: 'a disk of the array is gone' };
    const metrics = async () => (await moor.kubectl('get', '--raw', '/api/v1/nodes/node-1/proxy/metrics')).stdout;
    const sample = 'kubelet_volume_stats_health_status_abnormal{namespace="default",persistentvolumeclaim="data"}';
    await expect.poll(metrics, patience).toContain(`${sample} 1\n`);
    await expect.poll(async () => (await moor.kubectl('get', 'events')).stdout, patience).toContain('Volume data: a disk of the array is gone');
    driver.condition = { abnormal: false, message: '' };
    await expect.poll(metrics, patience).toContain(`${sample} 0\n`);
  }, 120_000);
});
