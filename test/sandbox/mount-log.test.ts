/** The debug log of a pod's volumes until they are mounted, in the order of a kubelet's own log; and that the data is there. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { startMoor } from '../moor-process.ts';
import { describeWithSandboxes, endContainers } from './sandboxes.ts';

const objects = (directory: string): string => {
  const size = { storage: '10Mi' };
  const manual = { accessModes: ['ReadWriteOnce'], storageClassName: 'manual' };
  const pod = {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'c', image: 'busybox', command: ['sleep', 'infinity'], volumeMounts: [{ name: 'task-pv', mountPath: '/data' }] }],
    volumes: [{ name: 'task-pv', persistentVolumeClaim: { claimName: 'pvc1' } }],
  };
  const items = [
    { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'pv1' }, spec: { ...manual, capacity: size, hostPath: { path: directory } } },
    { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'pvc1' }, spec: { ...manual, resources: { requests: size } } },
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'task-pv-pod' }, spec: pod },
  ];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
};

describeWithSandboxes('the log of a mount', () => {
  test('has each step, the data is there, and a claim in use stays until its pod is gone', async () => {
    const dataDir = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-followed-')));
    const volume = path.join(dataDir, 'volume');
    mkdirSync(volume);
    writeFileSync(path.join(volume, 'index.html'), 'Hello from Kubernetes storage');
    const moor = await startMoor({ dataDir, bare: false, args: ['--store', 'memory', '--runtime', 'sandbox', '--log-level', 'debug'] });
    try {
      expect(await moor.kubectlWith(objects(volume), 'apply', '-f', '-')).toMatchObject({ code: 0 });
      expect(await moor.kubectl('wait', '--for=condition=Ready', 'pod/task-pv-pod', '--timeout=60s')).toMatchObject({ code: 0 });
      expect(await moor.kubectl('exec', 'task-pv-pod', '--', 'cat', '/data/index.html')).toMatchObject({ stdout: 'Hello from Kubernetes storage' });
      await expect
        .poll(() => stepsOf(moor.output(), 'pv1'))
        .toEqual([
          'Added volume to desired state',
          'operationExecutor.VerifyControllerAttachedVolume started for volume',
          'operationExecutor.MountVolume started for volume',
          'MountVolume.SetUp succeeded for volume',
          'All volumes are attached and mounted for pod',
        ]);
      await moor.kubectl('delete', 'pvc', 'pvc1', '--wait=false');
      expect(await moor.kubectl('get', 'pvc', 'pvc1', '-o', 'jsonpath={.status.phase} {.metadata.finalizers}')).toMatchObject({
        stdout: 'Bound ["kubernetes.io/pvc-protection"]',
      });
      await moor.kubectl('delete', 'pod', 'task-pv-pod');
      expect(await moor.kubectl('wait', '--for=delete', 'pvc/pvc1', '--timeout=60s')).toMatchObject({ code: 0 });
    } finally {
      await moor.stop();
      await endContainers(path.join(dataDir, 'nodes', 'node-1', 'sandbox'));
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});

/** The log lines of one volume and its pod, in order. */
function stepsOf(output: string, volume: string): readonly string[] {
  const lines = output.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, string>] : []));
  const told = lines.filter((line) => /desired state|operationExecutor|MountVolume|All volumes/.test(line['msg'] ?? ''));
  return told.filter(({ volume: name, volumeSpec = name }) => volumeSpec === volume || name === undefined).map((line) => line['msg'] ?? '');
}
