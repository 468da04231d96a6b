/** Volumes of the default class on a machine that joined with `moor node`: its own image files, chosen by topology. */
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { describeWithLoopDevices, devicesBelow } from '../drivers/loop-devices.ts';
import { runMoor, startControllersProcess, startMoor, startNodeProcess, startSchedulerProcess } from '../moor-process.ts';

const claim = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '20Mi' } }, ...more },
});

const pod = (name: string, claimName: string, node: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    nodeSelector: { 'kubernetes.io/hostname': node },
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'c', image: 'busybox', command: ['sh', '-c', 'sleep 1000 & wait'], volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
  },
});

const list = (...items: readonly object[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

describeWithLoopDevices('volumes of the default class on a node that joined', () => {
  test.each(['in the process of moor up', 'in processes of their own'])(
    'are made, kept, grown and removed there; controllers and scheduler %s',
    async (where) => {
      const isApart = where === 'in processes of their own';
      const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-joined-')));
      const [bootstrap, dataDir] = [path.join(directory, 'bootstrap'), path.join(directory, 'node')];
      const images = () => readdirSync(path.join(dataDir, 'images')).filter((name) => name.endsWith('.img'));
      const args = ['--store', 'memory', '--runtime', 'sandbox', '--bootstrap-kubeconfig', bootstrap, ...(isApart ? ['--controllers=false'] : [])];
      await using moor = await startMoor({ bare: false, args });
      await using _controllers = isApart ? await startControllersProcess(moor, 'one', moor.dataDir) : undefined;
      await using _scheduler = isApart ? await startSchedulerProcess(moor, 'one') : undefined;
      // A name like those of the nodes of `moor up`.
      const start = () => startNodeProcess({ kubeconfig: bootstrap }, { name: 'node-7', dataDir });
      let node = await start();
      const ready = async (name: string) =>
        expect(await moor.kubectl('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=60s')).toMatchObject({ code: 0 });
      const inPod = async (script: string) => (await moor.kubectl('exec', 'there', '--', 'sh', '-c', script)).stdout;
      try {
        const made = await moor.kubectlWith(
          list(claim('data'), pod('there', 'data', 'node-7'), claim('here'), pod('here', 'here', 'node-1')),
          'apply',
          '-f',
          '-',
        );
        expect(made).toMatchObject({ code: 0 });
        await ready('there');
        await ready('here');
        expect(images()).toHaveLength(1);
        // The endpoint may not have its certificate yet.
        await expect.poll(() => inPod('echo kept >/data/file; cat /data/file')).toBe('kept\n');
        const { stdout: handles } = await moor.kubectl('get', 'pv', '-o', 'jsonpath={range .items[*]}{.spec.csi.volumeHandle}{"\\n"}{end}');
        expect(handles.trim().split('\n').sort()).toEqual([expect.stringMatching(/^node-7\/pvc-/), expect.stringMatching(/^pvc-/)]);

        // The node is restarted: its pods, and their volumes, go on.
        await node.stop('SIGKILL');
        node = await start();
        await expect.poll(() => inPod('cat /data/file')).toBe('kept\n');
        expect(await runMoor('node', '--data-dir', dataDir, '--down')).toMatchObject({ code: 1, stderr: expect.stringContaining('end it first') });

        // It grows with the next pod: this one may not be able to see it grow.
        await moor.kubectl('patch', 'pvc', 'data', '-p', '{"spec":{"resources":{"requests":{"storage":"40Mi"}}}}');
        await expect
          .poll(
            async () =>
              (await moor.kubectl('get', 'pvc', 'data', '-o', 'jsonpath={.status.allocatedResourceStatuses.storage}{.status.capacity.storage}')).stdout,
          )
          .toMatch(/NodeResizePending|40Mi/);
        await moor.kubectl('delete', 'pod', 'there');
        await moor.kubectlWith(list(pod('there', 'data', 'node-7')), 'apply', '-f', '-');
        await ready('there');
        await expect.poll(async () => (await moor.kubectl('get', 'pvc', 'data', '-o', 'jsonpath={.status.capacity.storage}')).stdout).toBe('40Mi');
        expect(await inPod('cat /data/file')).toBe('kept\n');

        // No pod of another node gets it.
        await moor.kubectl('delete', 'pod', 'there');
        await moor.kubectlWith(list(pod('elsewhere', 'data', 'node-1')), 'apply', '-f', '-');
        const why = async () => (await moor.kubectl('get', 'pod', 'elsewhere', '-o', 'jsonpath={.status.conditions[*].message}')).stdout;
        await expect.poll(why).toContain("didn't match");
        await moor.kubectl('delete', 'pod', 'elsewhere');

        // The volume goes with its claim, also from a node that is away meanwhile.
        await node.stop();
        expect(await moor.kubectl('delete', 'pvc', 'data', '--timeout=30s')).toMatchObject({ code: 0 });
        expect(images()).toHaveLength(1);
        node = await start();
        await expect.poll(images).toEqual([]);

        await moor.kubectlWith(list(claim('more'), pod('there', 'more', 'node-7')), 'apply', '-f', '-');
        await ready('there');
        await node.stop();
        const down = await runMoor('node', '--data-dir', dataDir, '--down', '-o', 'json');
        expect(down.code, down.stderr).toBe(0);
        expect(JSON.parse(down.stdout)).toMatchObject({ dataDir, removed: { pods: 1, images: [expect.stringContaining(dataDir)] } });
        expect(devicesBelow(dataDir)).toEqual([]);
      } finally {
        await node.stop();
        await runMoor('node', '--data-dir', dataDir, '--down');
      }
      // Fails if something is still mounted.
      rmSync(directory, { recursive: true });
    },
  );
});
