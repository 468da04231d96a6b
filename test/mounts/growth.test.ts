/** A volume that has become larger, and the node's part in it: as kubelets v1.36.4 do it. */
import { expect, test } from 'vitest';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { failed } from '../../src/drivers/contract.ts';
import { ok, SimulatedCluster } from '../../src/sim/cluster/simulated-cluster.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { bound, inDefault, prepare, MountCluster } from './mount-cluster.ts';

const fine = { ok: true, value: undefined } as const;
const disk = [{ name: 'disk', persistentVolumeClaim: { claimName: 'disk' } }];

function scene(name: string, story: (scene: MountCluster) => Promise<void>): void {
  test(name, () =>
    simulate(1, async (world) => {
      const cluster = await SimulatedCluster.start(world, { controllers: false });
      await prepare(cluster);
      await bound(cluster, 'disk', { flexVolume: { driver: 'example.com/disk' } });
      await cluster.changeStatus(persistentVolumeClaimKind, inDefault('disk'), (claim) => ({
        ...claim,
        status: { phase: 'Bound', capacity: { storage: '1Gi' } },
      }));
      await story(await MountCluster.open(world, cluster));
    }),
  );
}

/** What whoever made it larger leaves behind. */
async function enlarge({ cluster }: MountCluster): Promise<void> {
  await cluster.change(persistentVolumeKind, { name: 'disk' }, (volume) => ({ ...volume, spec: { ...volume.spec, capacity: { storage: '2Gi' } } }));
  const pending = { type: 'FileSystemResizePending', status: 'True', lastProbeTime: null, lastTransitionTime: '2026-01-01T00:00:00Z' };
  await cluster.changeStatus(persistentVolumeClaimKind, inDefault('disk'), (claim) => ({
    ...claim,
    status: { ...claim.status, allocatedResources: { storage: '2Gi' }, allocatedResourceStatuses: { storage: 'NodeResizePending' }, conditions: [pending] },
  }));
}

const statusOf = async ({ cluster }: MountCluster) => ok(await cluster.client.get(persistentVolumeClaimKind, inDefault('disk'))).status;
const grown = { phase: 'Bound', capacity: { storage: '2Gi' }, allocatedResources: { storage: '2Gi' } };
const succeeded = 'FileSystemResizeSuccessful: MountVolume.NodeExpandVolume succeeded for volume "disk" node-1';

scene('while it is mounted: the driver is asked once, and the claim has what it asked for', async (scene) => {
  const asked: string[] = [];
  await scene.agent({ expands: async ({ capacity, stagingPath }) => (asked.push(`${capacity} ${stagingPath.endsWith('/globalmount')}`), fine) });
  await scene.pod('web', disk);
  await scene.cluster.wait();
  await enlarge(scene);
  await scene.cluster.wait();
  expect(asked).toEqual(['2Gi true']);
  expect(await statusOf(scene)).toEqual(grown);
  expect((await scene.messages()).filter((message) => message.startsWith('FileSystem'))).toEqual([succeeded, succeeded]);
});

scene('before it is mounted: it is as large as the claim says once a pod has it', async (scene) => {
  const seen: boolean[] = [];
  const { volumeManager } = await scene.agent({
    expands: async () => {
      seen.push((await scene.mounted()).some((path) => path.startsWith('pods/')));
      return fine;
    },
  });
  await enlarge(scene);
  const pod = await scene.pod('web', disk);
  await scene.cluster.wait();
  expect(volumeManager.mountState(pod).ready).toBe(true);
  expect(seen).toEqual([false]);
  expect(await statusOf(scene)).toEqual(grown);
});

scene('where that cannot be while it is mounted, pods go on, and it grows once nobody has it', async (scene) => {
  let stagings = 0;
  const { volumeManager } = await scene.agent({
    dies: ({ name, path }, moment) => (moment === 'after' && name === 'mount' && path.endsWith('/globalmount') && stagings++, false),
    expands: async () => (stagings < 2 ? failed('FailedPrecondition', 'not while it is mounted') : fine),
  });
  const first = await scene.pod('first', disk);
  await scene.cluster.wait();
  await enlarge(scene);
  await scene.cluster.wait();
  expect(volumeManager.mountState(first).ready).toBe(true);
  expect(await statusOf(scene)).toMatchObject({
    capacity: { storage: '1Gi' },
    allocatedResourceStatuses: { storage: 'NodeResizeInProgress' },
    conditions: [{ type: 'FileSystemResizePending' }, { type: 'NodeResizeError', message: 'failed to expand pvc with not while it is mounted' }],
  });
  // Its successor is there before it leaves, and gets it all the same.
  const second = await scene.pod('second', disk);
  await scene.cluster.wait();
  expect(volumeManager.mountState(second).ready).toBe(true);
  for (const pod of [first, second]) scene.leave(pod.metadata.uid ?? '');
  const third = await scene.pod('third', disk);
  await scene.cluster.wait();
  expect(volumeManager.mountState(third).ready).toBe(true);
  expect(await statusOf(scene)).toEqual(grown);
});

scene('what fails is told, and keeps a pod waiting that does not have it yet; what can never be is said to the claim', async (scene) => {
  let answer: ReturnType<typeof failed> | typeof fine = failed('Unavailable', 'no answer');
  const { volumeManager } = await scene.agent({ expands: async () => answer });
  const first = await scene.pod('first', disk);
  await scene.cluster.wait();
  await enlarge(scene);
  await scene.cluster.wait();
  expect(await scene.messages()).toContain('VolumeResizeFailed: NodeExpandVolume.NodeExpandVolume failed for volume "disk" : no answer');
  scene.leave(first.metadata.uid ?? '');
  await scene.cluster.wait();
  const second = await scene.pod('second', disk);
  await scene.cluster.wait();
  expect(await scene.messages()).toContain('FailedMount: MountVolume.Setup failed while expanding volume for volume "disk" : no answer');
  expect(volumeManager.mountState(second).ready).toBe(false);
  expect((await statusOf(scene)).conditions).toHaveLength(1);
  answer = failed('OutOfRange', 'too much');
  await scene.cluster.wait(200_000);
  expect(await statusOf(scene)).toMatchObject({ capacity: { storage: '1Gi' }, allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' } });
  await scene.cluster.wait(200_000);
  expect(volumeManager.mountState(second).ready, 'nobody waits for what can never be').toBe(true);
});

scene('an agent that is killed right after the driver has grown it: the next one asks again, and says so once it is written', async (scene) => {
  const first = await scene.agent({
    expands: async () => {
      first.process.kill();
      return new Promise(() => undefined);
    },
  });
  await scene.pod('web', disk);
  await scene.cluster.wait();
  await enlarge(scene);
  await scene.cluster.wait();
  expect(await statusOf(scene)).toMatchObject({ capacity: { storage: '1Gi' }, allocatedResourceStatuses: { storage: 'NodeResizeInProgress' } });
  await scene.agent();
  await scene.cluster.wait();
  expect(await statusOf(scene)).toEqual(grown);
});
