/** Provisioning and reclaiming, running on the real registry in simulated time, with processes that die and a network that fails. */
import { expect, test } from 'vitest';
import { volumeIntentKind } from '../../src/api/kinds/mooring/volume-intent.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { storageClassKind } from '../../src/api/kinds/storage/storage-class.ts';
import { badNetwork, perfectNetwork, SimulatedNetwork } from '../../src/sim/world/network.ts';
import { seeds } from '../../src/sim/world/seeds.ts';
import { SimulatedProcess } from '../../src/sim/world/process.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import { runOtherComponents } from './other-components.ts';
import { pv, pvc } from './objects.ts';
import { summarize, runStorage, type StorageCluster, startStorageCluster } from './storage-cluster.ts';

const claims = ['a', 'b', 'c'];

async function createAll({ client }: StorageCluster): Promise<void> {
  await client.create(storageClassKind, { metadata: { name: 'dynamic' }, provisioner: 'kubernetes.io/host-path', volumeBindingMode: 'Immediate' });
  for (const name of claims) {
    const { spec } = pvc(name, '1Gi', { spec: { storageClassName: name === 'c' ? 'recycled' : 'dynamic' } });
    const made = await client.create(persistentVolumeClaimKind, { metadata: { name, namespace: 'default' }, spec });
    if (!made.ok) throw made.error;
  }
  const { spec } = pv('vol', '1Gi', { spec: { storageClassName: 'recycled', persistentVolumeReclaimPolicy: 'Recycle' } });
  const made = await client.create(persistentVolumeKind, { metadata: { name: 'vol' }, spec });
  if (!made.ok) throw made.error;
}

async function deleteAll({ client }: StorageCluster): Promise<void> {
  for (const name of claims) await client.delete(persistentVolumeClaimKind, { namespace: 'default', name });
}

/** A process that dies before one of its next actions. */
function runMortal(cluster: StorageCluster, world: SimulatedWorld, name: string): void {
  const process = new SimulatedProcess(world, name);
  let left = world.random.below(12);
  runStorage({ ...cluster, transport: process.transport(cluster.transport) }, process, {
    onAction: () => {
      if (left-- > 0) return 'go';
      process.kill();
      return 'crash';
    },
  });
}

test('claims get their volumes, and leave nothing behind but what is scrubbed', () =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world);
    runOtherComponents(cluster, world, { scrubFails: 0 });
    runStorage(cluster, world);
    await createAll(cluster);
    await world.sleep(5000);
    const bound = await summarize(cluster);
    expect(bound.filter((line) => line.includes(' Bound '))).toHaveLength(6);
    expect(bound).toContain('assets 2');
    expect(bound.filter((line) => line.startsWith('intent/'))).toEqual([]);
    await deleteAll(cluster);
    await world.sleep(5000);
    expect(await summarize(cluster)).toEqual(['pv/vol Available']);
    expect(cluster.backend.deletions).toBe(2);
  }));

test('an attempt that failed is counted in the intent, and repeated in time', () =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world);
    runOtherComponents(cluster, world, { scrubFails: 0 });
    cluster.backend.failures = ['final', 'final'];
    runStorage(cluster, world);
    await createAll(cluster);
    await world.sleep(400);
    const intents = await cluster.client.list(volumeIntentKind);
    if (!intents.ok) throw intents.error;
    expect(intents.value.items.map(({ status }) => [status.phase, status.attempts, status.message])).toEqual([
      ['Failing', 1, 'out of space'],
      ['Failing', 1, 'out of space'],
    ]);
    await world.sleep(1000);
    expect(await summarize(cluster)).toContain('assets 2');
  }));

test('whenever the process dies, the next one finishes: nothing is lost, nothing is left', async () => {
  for (const seed of seeds(25)) {
    await simulate(seed, async (world) => {
      const cluster = await startStorageCluster(world);
      runOtherComponents(cluster, world, { scrubFails: 0 });
      runMortal(cluster, world, 'first');
      await createAll(cluster);
      await world.sleep(3000);
      runMortal(cluster, world, 'second');
      await world.sleep(3000);
      await deleteAll(cluster);
      for (const name of ['third', 'fourth', 'fifth']) {
        runMortal(cluster, world, name);
        await world.sleep(3000);
      }
      runStorage(cluster, world);
      await world.sleep(60_000);
      expect(await summarize(cluster), `seed ${seed}`).toEqual(['pv/vol Available']);
    });
  }
});

test('two processes at once, over a bad network, with a driver and scrubbers that fail at times', async () => {
  for (const seed of seeds(10)) {
    await simulate(seed, async (world) => {
      const cluster = await startStorageCluster(world);
      runOtherComponents(cluster, world, { scrubFails: 0.2 });
      cluster.backend.failures.push('unknown', 'final', 'unknown');
      const network = new SimulatedNetwork(world, badNetwork);
      for (const _ of [1, 2]) runStorage({ ...cluster, transport: network.transport(cluster.transport) }, world);
      await createAll(cluster);
      await world.sleep(world.random.float() * 20_000);
      await deleteAll(cluster);
      await world.sleep(20_000);
      // Good, but not without time: while one of the two still waits for old news they undo what the other does, and time must pass meanwhile.
      network.setFaults({ ...perfectNetwork, delayMs: 5 });
      await world.sleep(600_000);
      const lines = await summarize(cluster);
      // Three failed scrubs in a row are left to people.
      expect(
        lines.filter((line) => !line.includes('vol')),
        `seed ${seed}`,
      ).toEqual([]);
      expect(
        lines.some((line) => line === 'pv/vol Available' || line.startsWith('pv/vol Failed')),
        `seed ${seed}: ${lines.join(', ')}`,
      ).toBe(true);
    });
  }
});
