/** `moor node` with a bootstrap kubeconfig: a machine becomes a node, with a node's rights. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { runMoor, startMoor, startNodeProcess } from '../moor-process.ts';
import { describeWithSandboxes, endContainers } from './sandboxes.ts';

const objects = (directory: string): string => {
  const say = 'echo started; while :; do echo "$WORD $(cat /settings/a)" >/out/new; mv /out/new /out/said; sleep 0.1; done';
  const container = {
    name: 'c',
    image: 'busybox',
    command: ['sh', '-c', say],
    env: [{ name: 'WORD', valueFrom: { secretKeyRef: { name: 'key', key: 'word' } } }],
    volumeMounts: [
      { name: 'out', mountPath: '/out' },
      { name: 'settings', mountPath: '/settings' },
    ],
  };
  const volumes = [
    { name: 'out', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'settings', configMap: { name: 'settings' } },
  ];
  const [size, access] = [{ storage: '1Mi' }, { accessModes: ['ReadWriteOnce'], storageClassName: '' }];
  const items = [
    { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'disk' }, spec: { ...access, capacity: size, hostPath: { path: directory } } },
    { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' }, spec: { ...access, resources: { requests: size } } },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { a: 'one' } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key' }, stringData: { word: 'hello' } },
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { terminationGracePeriodSeconds: 1, containers: [container], volumes } },
  ];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
};

describeWithSandboxes('moor node', () => {
  test('a machine gets its certificate, runs pods with their volumes, keeps both over a restart, and ends pods that were deleted', async () => {
    const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-node-')));
    const [bootstrap, dataDir, disk] = [path.join(directory, 'bootstrap'), path.join(directory, 'node'), path.join(directory, 'disk')];
    mkdirSync(disk);
    const said = () => readFileSync(path.join(disk, 'said'), 'utf8');
    await using moor = await startMoor({ args: ['--store', 'memory', '--bootstrap-kubeconfig', bootstrap] });
    const start = () => startNodeProcess({ kubeconfig: bootstrap }, { name: 'n1', dataDir });
    let node = await start();
    try {
      const keyFile = path.join(dataDir, 'pki', 'node-client.pem');
      expect(statSync(keyFile).mode & 0o777).toBe(0o600);
      const certificate = readFileSync(keyFile, 'utf8');
      expect(await moor.kubectlWith(objects(disk), 'apply', '-f', '-')).toMatchObject({ code: 0 });
      expect(await moor.kubectl('wait', '--for=condition=Ready', 'pod/web', '--timeout=60s')).toMatchObject({ code: 0 });
      await expect.poll(said).toBe('hello one\n');
      // The kubelet API may not have its certificate yet.
      const logs = async () => (await moor.kubectl('logs', 'web')).stdout;
      await expect.poll(logs).toBe('started\n');
      expect(await moor.kubectlWith('through', 'exec', '-i', 'web', '--', 'sh', '-c', 'cat; exit 3')).toMatchObject({ code: 3, stdout: 'through' });
      expect(await moor.kubectl('get', '--raw', '/api/v1/nodes/n1/proxy/healthz')).toMatchObject({ code: 0, stdout: 'ok' });
      await moor.kubectl('patch', 'configmap', 'settings', '-p', '{"data":{"a":"two"}}');
      await expect.poll(said).toBe('hello two\n');
      await node.stop('SIGKILL');
      node = await start();
      expect(readFileSync(keyFile, 'utf8')).toBe(certificate);
      const requests = await moor.kubectl('get', 'csr', '-o', 'jsonpath={.items[*].spec.username}');
      expect(requests.stdout.split(' ').sort()).toEqual(['system:bootstrap:mooring', 'system:node:n1']);
      await expect.poll(logs).toBe('started\n');
      await node.stop('SIGKILL');
      expect(await moor.kubectl('delete', 'pod', 'web', '--force', '--grace-period=0')).toMatchObject({ code: 0 });
      node = await start();
      // The pod that the agent finds was deleted: it ends, and is unmounted.
      const left = () => ['sandbox/pods', 'pods'].flatMap((name) => readdirSync(path.join(dataDir, name)));
      await expect.poll(left).toEqual([]);
      expect(node.output()).not.toContain('forbidden');
      // The server is gone: the last status cannot be sent.
      expect(await Promise.all([moor.stop('SIGKILL'), node.stop()])).toEqual([null, 0]);
    } finally {
      await node.stop();
      await endContainers(path.join(dataDir, 'sandbox'));
    }
    // Fails if something is still mounted.
    rmSync(directory, { recursive: true });
  });

  test('a damaged journal of mounts is refused in one line, with exit code 3', async () => {
    const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-node-')));
    const [bootstrap, dataDir] = [path.join(directory, 'bootstrap'), path.join(directory, 'node')];
    await using _moor = await startMoor({ args: ['--store', 'memory', '--bootstrap-kubeconfig', bootstrap] });
    mkdirSync(path.join(dataDir, 'journal'), { recursive: true, mode: 0o700 });
    writeFileSync(path.join(dataDir, 'journal', 'created'), '');
    const { code, stderr } = await runMoor('node', '--kubeconfig', bootstrap, '--name', 'n1', '--data-dir', dataDir, '--listen', '127.0.0.1:0');
    const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect([code, lines]).toEqual([3, [expect.stringMatching(/^moor node: .*mounts\.journal is damaged and was not changed: .*found no file/)]]);
    await endContainers(path.join(dataDir, 'sandbox'));
    rmSync(directory, { recursive: true });
  });

  test('ends on a signal while it still waits for its certificate', async () => {
    const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-node-')));
    const bootstrap = path.join(directory, 'bootstrap');
    await using moor = await startMoor({ args: ['--store', 'memory', '--controllers=false', '--bootstrap-kubeconfig', bootstrap] });
    const node = await startNodeProcess(
      { kubeconfig: bootstrap },
      { name: 'n1', dataDir: path.join(directory, 'node'), readyText: 'waiting for a certificate' },
    );
    expect(await node.stop()).toBe(0);
    expect(moor.output()).not.toContain('became leader');
    rmSync(directory, { recursive: true });
  });
});
