import { expect, test } from 'vitest';
import type { Container } from '../../src/api/generated/types.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { ok, SimulatedCluster } from '../../src/sim/cluster/simulated-cluster.ts';
import type { HostCall } from '../../src/sim/host/simulated-host.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { bound, bytes, everything, inDefault, prepare, MountCluster } from './mount-cluster.ts';
import { root } from './small-agent.ts';

function mountTest(name: string, story: (node: MountCluster) => Promise<void>): void {
  test(name, () =>
    simulate(1, async (world) => {
      const cluster = await SimulatedCluster.start(world, { controllers: false });
      await prepare(cluster);
      await story(await MountCluster.open(world, cluster));
    }),
  );
}

mountTest('all volumes of a pod are mounted; after it has ended, none is, and no data is lost', async (node) => {
  const { volumeManager } = await node.agent();
  const pod = await node.pod('web', await everything(node.cluster));
  const { uid } = pod.metadata;
  await node.cluster.wait();
  const looked = volumeManager.mountState(pod);
  expect(looked).toMatchObject({ ready: true, supplementalGroups: [4711] });
  const at = (name: string) => (looked.ready ? (looked.mounts.get(name)?.hostPath ?? '') : '');
  expect(at('scratch')).toBe(`${root}/pods/${uid}/volumes/kubernetes.io~empty-dir/scratch`);
  expect(new TextDecoder().decode(await node.host.read(`${at('settings')}/app.conf`))).toBe('level=1');
  expect(new TextDecoder().decode(await node.host.read(`${at('password')}/password`))).toBe('secret');
  await expect(node.host.write(`${at('local')}/new`, bytes('x'), 0o600)).rejects.toMatchObject({ code: 'EROFS' });
  await node.host.write(`${at('disk')}/new`, bytes('x'), 0o600);
  expect(await node.host.list('/disk')).toEqual(['new', 'precious']);
  await node.host.write(`${at('scratch')}/temporary`, bytes('x'), 0o600);

  node.leave(uid);
  await node.cluster.wait();
  expect(await node.mounted()).toEqual([]);
  expect(volumeManager.isUnmounted(uid)).toBe(true);
  expect(await node.host.list(`${root}/pods`)).toEqual([]);
  expect(await node.host.list('/mnt/local')).toEqual(['precious']);
  expect(await node.host.list('/disk')).toEqual(['new', 'precious']);
});

mountTest('a volume whose pod is gone before it is staged does not stay staged', async (node) => {
  let uid = '';
  const isStaged = ({ name, path }: HostCall) => name === 'mount' && path.includes('/plugins/');
  await node.agent({
    dies: (call, moment) => {
      if (moment === 'before' && isStaged(call)) node.leave(uid);
      return false;
    },
  });
  ({ uid } = (await node.pod('web', await everything(node.cluster))).metadata);
  await node.cluster.wait();
  expect(node.vacated).toEqual(new Set([uid]));
  expect(await node.mounted()).toEqual([]);
});

mountTest('files follow their ConfigMap or Secret, at once and atomically', async (node) => {
  const { volumeManager } = await node.agent();
  const pod = await node.pod('web', await everything(node.cluster));
  await node.cluster.wait();
  const looked = volumeManager.mountState(pod);
  const directory = looked.ready ? (looked.mounts.get('settings')?.hostPath ?? '') : '';
  const before = await node.host.readLink(`${directory}/..data`);
  await node.cluster.change(configMapKind, inDefault('settings'), (found) => ({ ...found, data: { 'app.conf': 'level=2', more: 'y' } }));
  await node.cluster.wait();
  expect(new TextDecoder().decode(await node.host.read(`${directory}/app.conf`))).toBe('level=2');
  expect((await node.host.list(directory)).filter((name) => !name.startsWith('..'))).toEqual(['app.conf', 'more']);
  expect(await node.host.readLink(`${directory}/..data`)).not.toBe(before);
  expect((await node.host.list(directory)).filter((name) => name.startsWith('..2'))).toHaveLength(1);
});

mountTest('a restarted agent does not touch volumes that are mounted', async (node) => {
  await node.agent();
  const pod = await node.pod('web', await everything(node.cluster));
  await node.cluster.wait();
  const table = await node.host.table();
  const changes: string[] = [];
  const { volumeManager } = await node.agent({
    dies: ({ name, path }) => (['mount', 'unmount', 'removeTree', 'rename'].includes(name) && changes.push(`${name} ${path}`), false),
  });
  expect(volumeManager.mountState(pod).ready).toBe(false);
  await node.cluster.wait();
  expect(volumeManager.mountState(pod).ready).toBe(true);
  expect(changes).toEqual([]);
  expect(await node.host.table()).toEqual(table);
});

mountTest('an agent unmounts the volumes of pods that are gone, and never removes their data', async (node) => {
  await node.host.makeDirectory(`${root}/pods/gone/volumes/kubernetes.io~local-volume/pv`, 0o750);
  await node.host.makeDirectory(`${root}/pods/gone/volumes/kubernetes.io~empty-dir/scratch/deep`, 0o750);
  await node.host.mount({ type: 'bind', source: '/mnt/local', target: `${root}/pods/gone/volumes/kubernetes.io~local-volume/pv`, recursive: false });
  node.vacated.add('gone');
  await node.agent();
  await node.cluster.wait();
  expect(await node.mounted()).toEqual([]);
  expect(await node.host.list(`${root}/pods`)).toEqual([]);
  expect(await node.host.list('/mnt/local')).toEqual(['precious']);
});

mountTest('while a container may run, its volumes stay mounted, even if the pod is gone from the API', async (node) => {
  await node.agent();
  const pod = await node.pod('web', await everything(node.cluster));
  await node.cluster.wait();
  const mounted = await node.mounted();
  ok(await node.cluster.client.delete(podKind, inDefault('web'), { gracePeriodSeconds: 0 }));
  await node.cluster.wait();
  await node.agent();
  await node.cluster.wait();
  expect(await node.mounted()).toEqual(mounted);
  node.leave(pod.metadata.uid ?? '');
  await node.cluster.wait();
  expect(await node.mounted()).toEqual([]);
});

mountTest('a failing mount is an event, and is retried with back-off; other volumes do not wait for it', async (node) => {
  let broken = true;
  let attempts = 0;
  const fails = ({ name, path }: HostCall) => {
    if (name !== 'mount' || !path.includes('local-volume')) return undefined;
    attempts++;
    return broken ? 'mount: wrong fs type' : undefined;
  };
  const { volumeManager } = await node.agent({ fails });
  const pod = await node.pod('web', await everything(node.cluster));
  await node.cluster.wait(10_000);
  const looked = volumeManager.mountState(pod);
  expect(looked).toEqual({ ready: false, waiting: ['local'] });
  // At 0, 0.5, 1.5, 3.5 and 7.5 seconds.
  expect(attempts).toBe(5);
  expect(await node.messages()).toContain('FailedMount: MountVolume.SetUp failed for volume "local" : mount: wrong fs type');
  broken = false;
  await node.cluster.wait(10_000);
  expect(volumeManager.mountState(pod).ready).toBe(true);
});

mountTest('a ReadWriteOncePod volume is mounted for one pod, and for the next after that has ended', async (node) => {
  await bound(node.cluster, 'alone', { accessModes: ['ReadWriteOncePod'], hostPath: { path: '/mnt/local' } });
  const { volumeManager } = await node.agent();
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'alone' } }];
  const [one, two] = [await node.pod('one', volumes), await node.pod('two', volumes)];
  await node.cluster.wait();
  const ready = [one, two].filter((pod) => volumeManager.mountState(pod).ready);
  expect(ready).toHaveLength(1);
  expect(await node.messages()).toEqual([
    'FailedMount: MountVolume.SetUp failed for volume "alone" : volume uses the ReadWriteOncePod access mode and is already in use by another pod',
  ]);
  node.leave(ready[0]?.metadata.uid ?? '');
  await node.cluster.wait(10_000);
  expect([one, two].filter((pod) => volumeManager.mountState(pod).ready)).toHaveLength(1);
  expect([one, two].filter((pod) => volumeManager.mountState(pod).ready)).not.toEqual(ready);
});

mountTest('two pods of a node share a staged volume; it is unstaged after the last of them', async (node) => {
  await bound(node.cluster, 'disk', { flexVolume: { driver: 'example.com/disk' }, accessModes: ['ReadWriteMany'] });
  const { volumeManager } = await node.agent();
  const told: string[] = [];
  volumeManager.subscribe((uid) => told.push(uid));
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'disk' } }];
  const [one, two] = [await node.pod('one', volumes), await node.pod('two', volumes)];
  await node.cluster.wait();
  const staged = (await node.mounted()).filter((target) => target.startsWith('plugins/'));
  expect(staged).toHaveLength(1);
  expect(await node.mounted()).toHaveLength(3);
  node.leave(one.metadata.uid ?? '');
  await node.cluster.wait();
  expect(await node.mounted()).toHaveLength(2);
  expect(told).not.toContain('');
  node.leave(two.metadata.uid ?? '');
  await node.cluster.wait();
  expect(await node.mounted()).toEqual([]);
  // The node's status follows: the volume is in use until it is unstaged.
  expect(told.at(-1)).toBe('');
});

mountTest('a sub-path is bound for a container, and no link leads out of the volume', async (node) => {
  const { volumeManager } = await node.agent();
  const pod = await node.pod('web', await everything(node.cluster));
  await node.cluster.wait();
  const mounting = (subPath: Record<string, string>) =>
    ({ name: 'app', image: 'image', volumeMounts: [{ name: 'disk', mountPath: '/data', ...subPath }] }) as unknown as Container;
  const made = await volumeManager.containerMounts(pod, mounting({ subPathExpr: '$(NAME)/logs' }), (text) => text.replace('$(NAME)', 'web'));
  const uid = pod.metadata.uid ?? '';
  const hostPath = `${root}/pods/${uid}/volume-subpaths/disk/app/0`;
  expect(made).toEqual({
    ok: true,
    devices: [],
    mounts: [{ hostPath, volume: 'disk', containerPath: '/data', readOnly: false, recursiveReadOnly: false, propagation: 'private' }],
  });
  await node.host.write(`${hostPath}/line`, bytes('x'), 0o600);
  expect(await node.host.list('/disk/web/logs')).toEqual(['line']);
  await node.host.makeLink('/disk/escape', '/mnt/local');
  const escaped = await volumeManager.containerMounts(pod, mounting({ subPath: 'escape' }), (text) => text);
  expect(escaped).toEqual({ ok: false, error: 'failed to prepare subPath for volumeMount "disk" of container "app"' });
  node.leave(uid);
  await node.cluster.wait();
  expect(await node.mounted()).toEqual([]);
  expect(await node.host.list('/disk/web/logs')).toEqual(['line']);
});
