/** A provisioned volume and its claim are written together: what follows when that write fails, or its answer is lost. */
import { expect, test } from 'vitest';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { volumeBindingKind } from '../../src/api/kinds/mooring/volume-binding.ts';
import { storageClassKind } from '../../src/api/kinds/storage/storage-class.ts';
import type { Answer, Transport } from '../../src/client/transport.ts';
import { simulate, type SimulatedWorld } from '../../src/sim/world/world.ts';
import { hostPathDriver } from './fake-backend.ts';
import { pvc } from './objects.ts';
import { runStorage, type StorageCluster, startStorageCluster, summarize } from './storage-cluster.ts';

const claim = { name: 'data', namespace: 'default' };

/** The first VolumeBinding is answered by `answer`. Returns the PersistentVolumes that were created without their claim, so far. */
async function provision(
  cluster: StorageCluster,
  world: SimulatedWorld,
  answer: (send: () => Promise<Answer>) => Promise<Answer>,
): Promise<readonly unknown[]> {
  const created: unknown[] = [];
  let isFirst = true;
  const transport: Transport = {
    watch: (request, sink) => cluster.transport.watch(request, sink),
    send(request) {
      const { info } = request;
      const send = () => cluster.transport.send(request);
      if (info.type !== 'resource' || info.verb !== 'create') return send();
      if (info.resource === 'persistentvolumes') created.push(request.body?.object);
      if (info.resource !== volumeBindingKind.plural || !isFirst) return send();
      isFirst = false;
      return answer(send);
    },
  };
  const csi = { topology: false, clones: false, restores: false, modifies: false, reportsCapacity: false };
  cluster.backend.drivers.set(hostPathDriver.name, { ...hostPathDriver, csi });
  runStorage({ ...cluster, transport }, world);
  await cluster.client.create(storageClassKind, { metadata: { name: 'class' }, provisioner: hostPathDriver.name });
  const { spec } = pvc('data', '1Gi', { spec: { storageClassName: 'class' } });
  const made = await cluster.client.create(persistentVolumeClaimKind, { metadata: claim, spec });
  if (!made.ok) throw made.error;
  await world.sleep(5 * 60_000);
  expect(isFirst).toBe(false);
  return created;
}

const unreachable: Answer = { type: 'unreachable', error: new Error('the answer was lost') };
const summaryOf = async (cluster: StorageCluster) => (await summarize(cluster)).map((line) => line.replaceAll(/pvc-[0-9a-f-]{36}/g, 'made'));
const bound = ['assets 1', 'pv/made Bound data', 'pvc/data Bound made'];

test('its answer is lost, and both are reclaimed meanwhile: no volume is created for the deleted backend', () =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world);
    const seen: (readonly string[])[] = [];
    const created = await provision(cluster, world, async (send) => {
      await send();
      seen.push(await summaryOf(cluster));
      await cluster.client.delete(persistentVolumeClaimKind, claim);
      // As the controllers do that protect claims and volumes.
      await cluster.client.patch(persistentVolumeClaimKind, claim, { type: 'merge', body: { metadata: { finalizers: null } } });
      await world.sleep(60_000);
      const volumes = await cluster.client.list(persistentVolumeKind);
      for (const { metadata } of volumes.ok ? volumes.value.items : [])
        await cluster.client.patch(persistentVolumeKind, { name: metadata.name ?? '' }, { type: 'merge', body: { metadata: { finalizers: null } } });
      await world.sleep(60_000);
      seen.push(await summaryOf(cluster));
      return unreachable;
    });
    expect(seen).toEqual([bound, []]);
    expect(created).toEqual([]);
    expect(await summarize(cluster)).toEqual([]);
  }));

test('its answer is lost: they stay bound', () =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world);
    const created = await provision(cluster, world, async (send) => {
      await send();
      return unreachable;
    });
    expect(created).toEqual([]);
    expect(await summaryOf(cluster)).toEqual(bound);
  }));

test('it does not reach the server: they are bound later', () =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world);
    await provision(cluster, world, async () => unreachable);
    expect(await summaryOf(cluster)).toEqual(bound);
  }));

test('the claim changes meanwhile: the volume is created, and the binder binds the two', () =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world);
    const created = await provision(cluster, world, async (send) => {
      await cluster.client.patch(persistentVolumeClaimKind, claim, { type: 'merge', body: { metadata: { labels: { changed: 'yes' } } } });
      return send();
    });
    expect(created).toHaveLength(1);
    expect(await summaryOf(cluster)).toEqual(bound);
  }));
