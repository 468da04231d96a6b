import { expect, test } from 'vitest';
import type { Container } from '../../src/api/generated/types.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { ok, SimulatedCluster } from '../../src/sim/cluster/simulated-cluster.ts';
import type { HostCall } from '../../src/sim/host/simulated-host.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { bound, bytes, everything, inDefault, prepare, MountCluster } from './mount-cluster.ts';
import { root } from './small-agent.ts';

function scene(name: string, story: (scene: MountCluster) => Promise<void>): void {
  test(name, () =>
    simulate(1, async (world) => {
      const cluster = await SimulatedCluster.start(world, { controllers: false });
      await prepare(cluster);
      await story(await MountCluster.open(world, cluster));
    }),
  );
}

scene('all that a pod wants is mounted; once it has left, nothing is, and no data is lost', async (scene) => {
  const { volumeManager } = await scene.agent();
  const pod = await scene.pod('web', await everything(scene.cluster));
  const { uid } = pod.metadata;
  await scene.cluster.wait();
  const looked = volumeManager.mountState(pod);
  expect(looked).toMatchObject({ ready: true, supplementalGroups: [4711] });
  const at = (name: string) => (looked.ready ? (looked.mounts.get(name)?.hostPath ?? '') : '');
  expect(at('scratch')).toBe(`${root}/pods/${uid}/volumes/kubernetes.io~empty-dir/scratch`);
  expect(new TextDecoder().decode(await scene.host.read(`${at('settings')}/app.conf`))).toBe('level=1');
  expect(new TextDecoder().decode(await scene.host.read(`${at('password')}/password`))).toBe('secret');
  await expect(scene.host.write(`${at('local')}/new`, bytes('x'), 0o600)).rejects.toMatchObject({ code: 'EROFS' });
  await scene.host.write(`${at('disk')}/new`, bytes('x'), 0o600);
  expect(await scene.host.list('/disk')).toEqual(['new', 'precious']);
  await scene.host.write(`${at('scratch')}/temporary`, bytes('x'), 0o600);

  scene.leave(uid);
  await scene.cluster.wait();
  expect(await scene.mounted()).toEqual([]);
  expect(volumeManager.isUnmounted(uid)).toBe(true);
  expect(await scene.host.list(`${root}/pods`)).toEqual([]);
  expect(await scene.host.list('/mnt/local')).toEqual(['precious']);
  expect(await scene.host.list('/disk')).toEqual(['new', 'precious']);
});

scene('files follow the object that they are made of, at once and all together', async (scene) => {
  const { volumeManager } = await scene.agent();
  const pod = await scene.pod('web', await everything(scene.cluster));
  await scene.cluster.wait();
  const looked = volumeManager.mountState(pod);
  const directory = looked.ready ? (looked.mounts.get('settings')?.hostPath ?? '') : '';
  const before = await scene.host.readLink(`${directory}/..data`);
  await scene.cluster.change(configMapKind, inDefault('settings'), (found) => ({ ...found, data: { 'app.conf': 'level=2', more: 'y' } }));
  await scene.cluster.wait();
  expect(new TextDecoder().decode(await scene.host.read(`${directory}/app.conf`))).toBe('level=2');
  expect((await scene.host.list(directory)).filter((name) => !name.startsWith('..'))).toEqual(['app.conf', 'more']);
  expect(await scene.host.readLink(`${directory}/..data`)).not.toBe(before);
  expect((await scene.host.list(directory)).filter((name) => name.startsWith('..2'))).toHaveLength(1);
});

scene('an agent that starts anew touches nothing that is well', async (scene) => {
  await scene.agent();
  const pod = await scene.pod('web', await everything(scene.cluster));
  await scene.cluster.wait();
  const table = await scene.host.table();
  const changes: string[] = [];
  const { volumeManager } = await scene.agent({
    dies: ({ name, path }) => (['mount', 'unmount', 'removeTree', 'rename'].includes(name) && changes.push(`${name} ${path}`), false),
  });
  expect(volumeManager.mountState(pod).ready).toBe(false);
  await scene.cluster.wait();
  expect(volumeManager.mountState(pod).ready).toBe(true);
  expect(changes).toEqual([]);
  expect(await scene.host.table()).toEqual(table);
});

scene('what an agent finds of pods that are gone it takes away, and never the data behind it', async (scene) => {
  await scene.host.makeDirectory(`${root}/pods/gone/volumes/kubernetes.io~local-volume/pv`, 0o750);
  await scene.host.makeDirectory(`${root}/pods/gone/volumes/kubernetes.io~empty-dir/scratch/deep`, 0o750);
  await scene.host.mount({ type: 'bind', source: '/mnt/local', target: `${root}/pods/gone/volumes/kubernetes.io~local-volume/pv`, recursive: false });
  scene.vacated.add('gone');
  await scene.agent();
  await scene.cluster.wait();
  expect(await scene.mounted()).toEqual([]);
  expect(await scene.host.list(`${root}/pods`)).toEqual([]);
  expect(await scene.host.list('/mnt/local')).toEqual(['precious']);
});

scene('as long as a container may run, nothing that it uses is unmounted, even if the pod is gone from the API', async (scene) => {
  await scene.agent();
  const pod = await scene.pod('web', await everything(scene.cluster));
  await scene.cluster.wait();
  const mounted = await scene.mounted();
  ok(await scene.cluster.client.delete(podKind, inDefault('web'), { gracePeriodSeconds: 0 }));
  await scene.cluster.wait();
  await scene.agent();
  await scene.cluster.wait();
  expect(await scene.mounted()).toEqual(mounted);
  scene.leave(pod.metadata.uid ?? '');
  await scene.cluster.wait();
  expect(await scene.mounted()).toEqual([]);
});

scene('a mount that fails is told and tried again, ever more rarely; the others do not wait for it', async (scene) => {
  let broken = true;
  let attempts = 0;
  const fails = ({ name, path }: HostCall) => {
    if (name !== 'mount' || !path.includes('local-volume')) return undefined;
    attempts++;
    return broken ? 'mount: wrong fs type' : undefined;
  };
  const { volumeManager } = await scene.agent({ fails });
  const pod = await scene.pod('web', await everything(scene.cluster));
  await scene.cluster.wait(10_000);
  const looked = volumeManager.mountState(pod);
  expect(looked).toEqual({ ready: false, waiting: ['local'] });
  // At 0, 0.5, 1.5, 3.5 and 7.5 seconds.
  expect(attempts).toBe(5);
  expect(await scene.messages()).toContain('FailedMount: MountVolume.SetUp failed for volume "local" : mount: wrong fs type');
  broken = false;
  await scene.cluster.wait(10_000);
  expect(volumeManager.mountState(pod).ready).toBe(true);
});

scene('a ReadWriteOncePod volume is mounted for one pod, and for the next once that has left', async (scene) => {
  await bound(scene.cluster, 'alone', { accessModes: ['ReadWriteOncePod'], hostPath: { path: '/mnt/local' } });
  const { volumeManager } = await scene.agent();
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'alone' } }];
  const [one, two] = [await scene.pod('one', volumes), await scene.pod('two', volumes)];
  await scene.cluster.wait();
  const ready = [one, two].filter((pod) => volumeManager.mountState(pod).ready);
  expect(ready).toHaveLength(1);
  expect(await scene.messages()).toEqual([
    'FailedMount: MountVolume.SetUp failed for volume "alone" : volume uses the ReadWriteOncePod access mode and is already in use by another pod',
  ]);
  scene.leave(ready[0]?.metadata.uid ?? '');
  await scene.cluster.wait(10_000);
  expect([one, two].filter((pod) => volumeManager.mountState(pod).ready)).toHaveLength(1);
  expect([one, two].filter((pod) => volumeManager.mountState(pod).ready)).not.toEqual(ready);
});

scene('two pods of a node share what is mounted once for it; it goes with the last of them', async (scene) => {
  await bound(scene.cluster, 'disk', { flexVolume: { driver: 'example.com/disk' }, accessModes: ['ReadWriteMany'] });
  await scene.agent();
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'disk' } }];
  const [one, two] = [await scene.pod('one', volumes), await scene.pod('two', volumes)];
  await scene.cluster.wait();
  const staged = (await scene.mounted()).filter((target) => target.startsWith('plugins/'));
  expect(staged).toHaveLength(1);
  expect(await scene.mounted()).toHaveLength(3);
  scene.leave(one.metadata.uid ?? '');
  await scene.cluster.wait();
  expect(await scene.mounted()).toHaveLength(2);
  scene.leave(two.metadata.uid ?? '');
  await scene.cluster.wait();
  expect(await scene.mounted()).toEqual([]);
});

scene('part of a volume is bound for a container, and no link leads out of it', async (scene) => {
  const { volumeManager } = await scene.agent();
  const pod = await scene.pod('web', await everything(scene.cluster));
  await scene.cluster.wait();
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
  await scene.host.write(`${hostPath}/line`, bytes('x'), 0o600);
  expect(await scene.host.list('/disk/web/logs')).toEqual(['line']);
  await scene.host.makeLink('/disk/escape', '/mnt/local');
  const escaped = await volumeManager.containerMounts(pod, mounting({ subPath: 'escape' }), (text) => text);
  expect(escaped).toEqual({ ok: false, error: 'failed to prepare subPath for volumeMount "disk" of container "app"' });
  scene.leave(uid);
  await scene.cluster.wait();
  expect(await scene.mounted()).toEqual([]);
  expect(await scene.host.list('/disk/web/logs')).toEqual(['line']);
});
