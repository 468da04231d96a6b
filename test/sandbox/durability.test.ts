/** Durability of data in volumes, on real disks with real containers and kubectl, while server and agent are killed. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PersistentVolumeClaim } from '../../src/api/generated/types.ts';
import { whyNoImages } from '../../src/host/images.ts';
import { type MoorProcess, root, startMoor } from '../moor-process.ts';
import { describeWithSandboxes, endContainers } from './sandboxes.ts';

/** `KILLS=300`: npm run soak:kills. */
const kills = Number(process.env['KILLS'] ?? 6);
const perKillMs = 60_000;

describeWithSandboxes('data in volumes', () => {
  let moor: MoorProcess;
  let dataDir = '';
  const args = ['--store', 'embedded', '--runtime', 'sandbox', '--nodes', '1'];
  beforeAll(async () => {
    dataDir = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-durable-')));
    moor = await startMoor({ dataDir, args, bare: false });
    await apply({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'directories' },
      provisioner: 'kubernetes.io/host-path',
      volumeBindingMode: 'WaitForFirstConsumer',
    });
  });
  afterAll(async () => {
    await moor.stop();
    await endContainers(path.join(dataDir, 'nodes', 'node-1', 'sandbox'));
    // A failed test may leave mounts: their data must not be removed with the directory.
    if (mountsBelow(dataDir).length === 0) rmSync(dataDir, { recursive: true, force: true });
  });

  const kubectl = async (...command: string[]): Promise<string> => {
    const { code, stdout, stderr } = await moor.kubectl(...command);
    expect(code, `kubectl ${command.join(' ')}: ${stderr}`).toBe(0);
    return stdout;
  };
  const apply = async (...items: object[]): Promise<void> => {
    const applied = await moor.kubectlWith(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }), 'apply', '-f', '-');
    expect(applied).toMatchObject({ code: 0 });
  };
  const writes = async (name: string, claimName: string, script: string): Promise<void> => {
    await apply(pod(name, claimName, script));
    await kubectl('wait', '--for=jsonpath={.status.phase}=Succeeded', `pod/${name}`, '--timeout=60s');
    await kubectl('delete', `pod/${name}`, '--timeout=60s');
  };

  test('three pods share a claim: the example', async () => {
    const { code, stdout, stderr } = await moor.bash(path.join(root, 'examples/shared-claim/follow.sh'));
    expect(code, stdout + stderr).toBe(0);
  });

  test('Delete removes it, Retain keeps it, Recycle scrubs it', async () => {
    const places = Object.fromEntries(['Retain', 'Recycle'].map((policy) => [policy, path.join(dataDir, policy)]));
    for (const [policy, place] of Object.entries(places)) {
      mkdirSync(place);
      await apply(volume(policy, place), claim(policy.toLowerCase(), { storageClassName: '', volumeName: policy.toLowerCase() }));
    }
    await apply(claim('delete', { storageClassName: 'directories' }));
    for (const name of ['retain', 'recycle', 'delete'])
      await writes(`writer-${name}`, name, 'mkdir -p /data/a/.b; echo precious >/data/a/.b/file; echo x >/data/.x');
    const made = await kubectl('get', 'pvc', 'delete', '-o', 'jsonpath={.spec.volumeName}');
    const madeAt = await kubectl('get', 'pv', made, '-o', 'jsonpath={.spec.hostPath.path}');
    for (const place of [...Object.values(places), madeAt]) expect(readFileSync(path.join(place, 'a/.b/file'), 'utf8')).toBe('precious\n');

    await kubectl('delete', 'pvc', 'retain', 'recycle', 'delete', '--timeout=60s');
    await kubectl('wait', '--for=delete', `pv/${made}`, '--timeout=60s');
    expect(existsSync(madeAt)).toBe(false);
    await kubectl('wait', '--for=jsonpath={.status.phase}=Available', 'pv/recycle', '--timeout=60s');
    expect(readdirSync(places['Recycle'] ?? '')).toEqual([]);
    await kubectl('wait', '--for=jsonpath={.status.phase}=Released', 'pv/retain', '--timeout=60s');
    expect(readFileSync(path.join(places['Retain'] ?? '', 'a/.b/file'), 'utf8')).toBe('precious\n');
    await kubectl('delete', 'pv', 'retain', 'recycle', '--timeout=60s');
  });

  test.runIf(whyNoImages() === undefined)(
    'volumes have an end, tell how full they are, and grow; block devices are what pods before wrote to them',
    async () => {
      await apply(claim('files', sized('16Mi')), claim('device', { ...sized('8Mi'), volumeMode: 'Block' }));
      const first =
        'echo precious | dd of=/dev/xvda conv=fsync 2>/dev/null; dd if=/dev/zero of=/data/much bs=1M 2>&1; blockdev --getsize64 /dev/xvda; sleep infinity';
      await apply(withDevice('first', first));
      await expect.poll(async () => (await moor.kubectl('logs', 'first')).stdout, patience).toMatch(/No space left on device[^]*\n8388608\n$/);

      const summary = JSON.parse(await kubectl('get', '--raw', '/api/v1/nodes/node-1/proxy/stats/summary')) as { readonly pods: readonly PodStats[] };
      const stats = summary.pods.find(({ podRef }) => podRef.name === 'first')?.volume ?? [];
      expect(stats).toContainEqual(expect.objectContaining({ name: 'device', capacityBytes: 8 << 20, pvcRef: { name: 'device', namespace: 'default' } }));
      const { availableBytes = -1, usedBytes = -1, inodesUsed = -1 } = stats.find(({ name }) => name === 'data') ?? {};
      expect([availableBytes < 1 << 20, usedBytes > 8 << 20, inodesUsed > 0]).toEqual([true, true, true]);
      const metrics = (await kubectl('get', '--raw', '/metrics')).split('\n');
      expect(metrics).toContain('kubelet_volume_stats_capacity_bytes{namespace="default",persistentvolumeclaim="device"} 8388608');

      const more = JSON.stringify({ spec: { resources: { requests: { storage: '64Mi' } } } });
      for (const name of ['files', 'device']) await kubectl('patch', 'pvc', name, '-p', more);
      await kubectl('wait', '--for=jsonpath={.status.capacity.storage}=64Mi', 'pvc/device', '--timeout=60s');
      expect(await kubectl('exec', 'first', '--', 'blockdev', '--getsize64', '/dev/xvda')).toBe(`${64 << 20}\n`);
      // The file system is expanded while it is mounted, or when it is staged again: that depends on the rights of this process.
      const grown = async () => {
        const { status } = JSON.parse(await kubectl('get', 'pvc', 'files', '-o', 'json')) as PersistentVolumeClaim;
        return status.capacity?.['storage'] === '64Mi' ? 'whole' : (status.allocatedResourceStatuses?.['storage'] ?? 'not yet');
      };
      await expect.poll(grown, patience).toMatch(/^(whole|NodeResize.*)$/);
      await kubectl('delete', 'pod', 'first', '--timeout=60s');
      await expect.poll(() => mountsBelow(dataDir), patience).toEqual([]);
      const second =
        'head -c 9 /dev/xvda; dd if=/dev/zero of=/data/more bs=1M count=20 2>/dev/null && echo fits; echo x 2>/dev/null >/dev/xvda || echo refused; sleep infinity';
      await apply(withDevice('second', second, { readOnly: true }));
      await expect.poll(async () => (await moor.kubectl('logs', 'second')).stdout, patience).toMatch(/^precious\nfits\n/);
      if (existsSync('/sys/fs/cgroup/devices')) await expect.poll(async () => (await moor.kubectl('logs', 'second')).stdout, patience).toMatch(/refused\n$/);
      await kubectl('wait', '--for=jsonpath={.status.capacity.storage}=64Mi', 'pvc/files', '--timeout=60s');
      expect(JSON.parse(await kubectl('get', 'pvc', 'files', '-o', 'json'))).not.toHaveProperty('status.conditions');
      await kubectl('delete', 'pod', 'second', '--timeout=60s');
      await kubectl('delete', 'pvc', 'files', 'device', '--timeout=60s');
      await expect.poll(() => readdirSync(path.join(dataDir, 'images')).filter((name) => name.endsWith('.img')), patience).toEqual([]);
      await expect.poll(() => execFileSync('losetup', ['-a'], { encoding: 'utf8' }), patience).not.toContain(dataDir);
    },
    180_000,
  );

  test(
    `is all there after a server and agent that were killed ${kills} times while pods came and went, and no container ran twice`,
    async () => {
      await apply(claim('log', { storageClassName: 'directories' }), settings);
      await writes('first', 'log', 'echo first >>/data/log');
      const made = await kubectl('get', 'pvc', 'log', '-o', 'jsonpath={.spec.volumeName}');
      const place = await kubectl('get', 'pv', made, '-o', 'jsonpath={.spec.hostPath.path}');
      const names: string[] = ['first'];
      for (let kill = 0; kill < kills; kill++) {
        const name = `pod-${kill}`;
        names.push(name);
        await apply(pod(name, 'log', `echo ${name} >>/data/log; cat /settings/a >>/data/settings; sleep 0.2`));
        // Before or just after it writes its first line.
        await new Promise((resolve) => void setTimeout(resolve, (kill * 37) % 250));
        await moor.stop('SIGKILL');
        moor = await startMoor({ dataDir, args, bare: false });
        // Every other pod is deleted in whatever state it is, while the server recovers.
        if (kill % 2 === 1) await kubectl('delete', 'pod', name, '--wait=false');
        else await kubectl('wait', '--for=jsonpath={.status.phase}=Succeeded', `pod/${name}`, '--timeout=60s');
      }
      await kubectl('delete', 'pods', '--all', '--timeout=60s');
      const log = readFileSync(path.join(place, 'log'), 'utf8').trim().split('\n');
      expect(log[0]).toBe('first');
      expect(log, 'no pod wrote twice').toEqual([...new Set(log)]);
      expect(names).toEqual(expect.arrayContaining(log));
      expect(log).toEqual(expect.arrayContaining(names.filter((_, i) => i === 0 || i % 2 === 1)));
      await kubectl('delete', 'pvc', 'log', '--timeout=60s');
      await kubectl('wait', '--for=delete', `pv/${made}`, '--timeout=60s');
      expect(existsSync(place)).toBe(false);
      const node = path.join(dataDir, 'nodes', 'node-1');
      await expect.poll(() => mountsBelow(node)).toEqual([]);
      await expect.poll(() => readdirSync(path.join(node, 'pods'))).toEqual([]);
    },
    60_000 + kills * perKillMs,
  );
});

const mountsBelow = (place: string): readonly string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => (line.split(' ')[4]?.startsWith(`${place}/`) ? line : []));

const patience = { timeout: 60_000 };

interface PodStats {
  readonly podRef: { readonly name: string };
  readonly volume?: readonly { readonly name: string; readonly availableBytes: number; readonly usedBytes: number; readonly inodesUsed: number }[];
}

const sized = (storage: string) => ({ resources: { requests: { storage } } });

/** With the claims `files` and `device`. */
const withDevice = (name: string, script: string, { readOnly = false } = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'app',
        image: 'busybox',
        command: ['sh', '-c', script],
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
        volumeDevices: [{ name: 'device', devicePath: '/dev/xvda' }],
      },
    ],
    volumes: [
      { name: 'data', persistentVolumeClaim: { claimName: 'files' } },
      { name: 'device', persistentVolumeClaim: { claimName: 'device', readOnly } },
    ],
  },
});

const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { a: 'b\n' } };

const claim = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } }, ...spec },
});

const volume = (policy: string, place: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: policy.toLowerCase() },
  spec: { capacity: { storage: '1Mi' }, accessModes: ['ReadWriteOnce'], persistentVolumeReclaimPolicy: policy, hostPath: { path: place } },
});

const pod = (name: string, claimName: string, script: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'app',
        image: 'busybox',
        command: ['sh', '-c', script],
        volumeMounts: [
          { name: 'data', mountPath: '/data' },
          { name: 'settings', mountPath: '/settings' },
          { name: 'memory', mountPath: '/memory' },
        ],
      },
    ],
    volumes: [
      { name: 'data', persistentVolumeClaim: { claimName } },
      { name: 'settings', configMap: { name: 'settings', optional: true } },
      { name: 'memory', emptyDir: { medium: 'Memory' } },
    ],
  },
});
