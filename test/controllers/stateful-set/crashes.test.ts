/** Crashes anywhere and a faulty network: the end state is the same as without. */
import { expect, test } from 'vitest';
import { startTestCluster } from '../../client/test-cluster.ts';
import { inDefault, ok, SetCluster, setDraft, startController, withImage } from './set-cluster.ts';
import { persistentVolumeClaimKind } from '../../../src/api/kinds/core/persistent-volume-claim.ts';
import { serviceAccountKind } from '../../../src/api/kinds/core/service-account.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { statefulSetKind } from '../../../src/api/kinds/apps/stateful-set.ts';
import { badNetwork, SimulatedNetwork } from '../../../src/sim/world/network.ts';
import { SimulatedProcess } from '../../../src/sim/world/process.ts';
import { seeds } from '../../../src/sim/world/seeds.ts';
import { type SimulatedWorld, simulate } from '../../../src/sim/world/world.ts';

const policies = ['OrderedReady', 'Parallel'] as const;

/** Starts all pending pods, and checks the invariants at every state. */
async function play(cluster: SetCluster, until: () => boolean): Promise<void> {
  const { client } = cluster.cluster;
  while (!until()) {
    for (const pod of await cluster.list(podKind)) {
      const { name = '' } = pod.metadata;
      for (const { persistentVolumeClaim } of pod.spec.volumes ?? []) {
        if (persistentVolumeClaim !== undefined) ok(await client.get(persistentVolumeClaimKind, inDefault(persistentVolumeClaim.claimName)));
      }
      const ready = { type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null };
      // The pod may not exist any more.
      if (pod.status.phase === 'Pending') await client.updateStatus(podKind, { ...pod, status: { ...pod.status, phase: 'Running', conditions: [ready] } });
      expect(name).toMatch(/^web-[0-3]$/);
    }
    await cluster.world.sleep(30);
  }
}

async function restless(cluster: SetCluster, network: SimulatedNetwork, name: string): Promise<void> {
  const { world } = cluster;
  const process = new SimulatedProcess(world, name);
  let left = world.random.below(12);
  startController(process.transport(network.transport(cluster.cluster.transport)), process, () => {
    if (left-- > 0) return 'go';
    process.kill();
    return 'crash';
  });
  await world.sleep(world.random.float() * 3_000);
  // Or in the middle of an action.
  process.kill();
}

async function story(world: SimulatedWorld, podManagementPolicy: (typeof policies)[number]): Promise<void> {
  const testCluster = await startTestCluster(world);
  ok(await testCluster.client.create(serviceAccountKind, { metadata: inDefault('default') }));
  const cluster = new SetCluster(testCluster, world);
  const network = new SimulatedNetwork(world, badNetwork);
  let over = false;
  const playing = play(cluster, () => over);
  const retention = { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' } };
  await cluster.create(statefulSetKind, setDraft(3, { podManagementPolicy, ...retention }));
  const claims = new Map<string, string | undefined>();
  for (const change of [
    withImage('v2'),
    { replicas: 4 },
    { ...withImage('v3'), replicas: 2 },
    { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain' } },
  ]) {
    for (let i = 0; i < 3; i++) await restless(cluster, network, `controller ${i}`);
    for (const { metadata } of await cluster.list(persistentVolumeClaimKind)) {
      expect(claims.get(metadata.name ?? '') ?? metadata.uid).toBe(metadata.uid);
      claims.set(metadata.name ?? '', metadata.uid);
    }
    await cluster.changeSet(change);
  }
  startController(testCluster.transport, world);
  await world.sleep(5_000);
  over = true;
  await playing;
  expect(await cluster.images()).toEqual(['web-0 v3', 'web-1 v3']);
  expect((await cluster.claims()).slice(0, 2)).toEqual(['data-web-0', 'data-web-1']);
  const { updateRevision } = (await cluster.set()).status;
  expect((await cluster.set()).status).toMatchObject({
    replicas: 2,
    readyReplicas: 2,
    updatedReplicas: 2,
    currentReplicas: 2,
    currentRevision: updateRevision,
  });
  // One revision for each template.
  const images = (await cluster.revisions()).map((revision) => revision.split(' ')[1]);
  expect(new Set(images).size).toBe(images.length);
}

test.each(policies)('%s: with crashes anywhere, pods, claims and revisions reach the right end state', async (policy) => {
  for (const seed of seeds(6)) await simulate(seed, (world) => story(world, policy));
});
