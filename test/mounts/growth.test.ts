/** NodeExpandVolume: the node's part of a volume expansion, as kubelets v1.36.4 do it. */
import { expect, test } from 'vitest';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { failed } from '../../src/drivers/contract.ts';
import { ok, SimulatedCluster } from '../../src/sim/cluster/simulated-cluster.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { bound, inDefault, prepare, MountCluster } from './mount-cluster.ts';

const fine = { ok: true, value: undefined } as const;
const disk = [{ name: 'disk', persistentVolumeClaim: { claimName: 'disk' } }];

function mountTest(name: string, story: (node: MountCluster) => Promise<void>): void {
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

/** What the expand controller leaves to the node. */
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

mountTest('a mounted volume: the driver is called once, and the claim has its new capacity', async (node) => {
  const asked: string[] = [];
  await node.agent({ expands: async ({ capacity, stagingPath }) => (asked.push(`${capacity} ${stagingPath.endsWith('/globalmount')}`), fine) });
  await node.pod('web', disk);
  await node.cluster.wait();
  await enlarge(node);
  await node.cluster.wait();
  expect(asked).toEqual(['2Gi true']);
  expect(await statusOf(node)).toEqual(grown);
  expect((await node.messages()).filter((message) => message.startsWith('FileSystem'))).toEqual([succeeded, succeeded]);
});

mountTest('a volume that is not mounted: it is expanded before a pod gets it', async (node) => {
  const seen: boolean[] = [];
  const { volumeManager } = await node.agent({
    expands: async () => {
      seen.push((await node.mounted()).some((path) => path.startsWith('pods/')));
      return fine;
    },
  });
  await enlarge(node);
  const pod = await node.pod('web', disk);
  await node.cluster.wait();
  expect(volumeManager.mountState(pod).ready).toBe(true);
  expect(seen).toEqual([false]);
  expect(await statusOf(node)).toEqual(grown);
});

mountTest('a driver that cannot expand a mounted volume: pods continue, and it is expanded when it is staged again', async (node) => {
  let stagings = 0;
  const { volumeManager } = await node.agent({
    dies: ({ name, path }, moment) => (moment === 'after' && name === 'mount' && path.endsWith('/globalmount') && stagings++, false),
    expands: async () => (stagings < 2 ? failed('FailedPrecondition', 'not while it is mounted') : fine),
  });
  const first = await node.pod('first', disk);
  await node.cluster.wait();
  await enlarge(node);
  await node.cluster.wait();
  expect(volumeManager.mountState(first).ready).toBe(true);
  expect(await statusOf(node)).toMatchObject({
    capacity: { storage: '1Gi' },
    allocatedResourceStatuses: { storage: 'NodeResizeInProgress' },
    conditions: [{ type: 'FileSystemResizePending' }, { type: 'NodeResizeError', message: 'failed to expand pvc with not while it is mounted' }],
  });
  // The next pod is there before the first has left, and gets the volume all the same.
  const second = await node.pod('second', disk);
  await node.cluster.wait();
  expect(volumeManager.mountState(second).ready).toBe(true);
  for (const pod of [first, second]) node.leave(pod.metadata.uid ?? '');
  const third = await node.pod('third', disk);
  await node.cluster.wait();
  expect(volumeManager.mountState(third).ready).toBe(true);
  expect(await statusOf(node)).toEqual(grown);
});

mountTest('a failure is an event, and a pod without the volume waits; an infeasible expansion is reported in the claim', async (node) => {
  let answer: ReturnType<typeof failed> | typeof fine = failed('Unavailable', 'no answer');
  const { volumeManager } = await node.agent({ expands: async () => answer });
  const first = await node.pod('first', disk);
  await node.cluster.wait();
  await enlarge(node);
  await node.cluster.wait();
  expect(await node.messages()).toContain('VolumeResizeFailed: NodeExpandVolume.NodeExpandVolume failed for volume "disk" : no answer');
  node.leave(first.metadata.uid ?? '');
  await node.cluster.wait();
  const second = await node.pod('second', disk);
  await node.cluster.wait();
  expect(await node.messages()).toContain('FailedMount: MountVolume.Setup failed while expanding volume for volume "disk" : no answer');
  expect(volumeManager.mountState(second).ready).toBe(false);
  expect((await statusOf(node)).conditions).toHaveLength(1);
  answer = failed('OutOfRange', 'too much');
  await node.cluster.wait(200_000);
  expect(await statusOf(node)).toMatchObject({ capacity: { storage: '1Gi' }, allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' } });
  await node.cluster.wait(200_000);
  expect(volumeManager.mountState(second).ready, 'no pod waits for an infeasible expansion').toBe(true);
});

mountTest('an agent that is killed right after the driver has expanded the volume: the next one calls again, and reports it', async (node) => {
  const first = await node.agent({
    expands: async () => {
      first.process.kill();
      return new Promise(() => undefined);
    },
  });
  await node.pod('web', disk);
  await node.cluster.wait();
  await enlarge(node);
  await node.cluster.wait();
  expect(await statusOf(node)).toMatchObject({ capacity: { storage: '1Gi' }, allocatedResourceStatuses: { storage: 'NodeResizeInProgress' } });
  await node.agent();
  await node.cluster.wait();
  expect(await statusOf(node)).toEqual(grown);
});
