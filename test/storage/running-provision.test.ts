/** Provisioning that fails, running on the real registry in simulated time: what people see of each attempt, and how it ends. */
import { expect, test } from 'vitest';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { storageClassKind } from '../../src/api/kinds/storage/storage-class.ts';
import type { Transport } from '../../src/client/transport.ts';
import { SimulatedProcess } from '../../src/sim/world/process.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { pv, pvc } from './objects.ts';
import { summarize, runStorage, type StorageCluster, startStorageCluster } from './storage-cluster.ts';

async function ask({ client }: StorageCluster, className = 'class'): Promise<void> {
  const { spec } = pvc('data', '1Gi', { spec: { storageClassName: className } });
  const made = await client.create(persistentVolumeClaimKind, { metadata: { name: 'data', namespace: 'default' }, spec });
  if (!made.ok) throw made.error;
}

async function offer({ client }: StorageCluster, provisioner: string): Promise<void> {
  const made = await client.create(storageClassKind, { metadata: { name: 'class' }, provisioner });
  if (!made.ok) throw made.error;
}

/** 'ProvisioningFailed x2' */
async function eventsOf({ client }: StorageCluster): Promise<string[]> {
  const events = await client.list(eventKind);
  if (!events.ok) throw events.error;
  return events.value.items.map(({ reason, count }) => `${reason ?? ''} x${count ?? 0}`).sort();
}

test('two attempts fail and the third succeeds: an event for each, one volume, one asset', () =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world);
    cluster.backend.failures = ['final', 'unknown'];
    runStorage(cluster, world);
    await offer(cluster, 'kubernetes.io/host-path');
    await ask(cluster);
    await world.sleep(60_000);
    expect((await summarize(cluster)).map((line) => line.replaceAll(/pvc-[0-9a-f-]{36}/g, 'made'))).toEqual([
      'assets 1',
      'pv/made Bound data',
      'pvc/data Bound made',
    ]);
    expect(await eventsOf(cluster)).toEqual(['ProvisioningFailed x1', 'ProvisioningFailed x1', 'ProvisioningSucceeded x1']);
  }));

test('every attempt fails: it is tried for ever, each time with an event, and nothing is made', () =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world);
    cluster.backend.failures = Array.from({ length: 1000 }, () => 'final' as const);
    runStorage(cluster, world);
    await offer(cluster, 'kubernetes.io/host-path');
    await ask(cluster);
    await world.sleep(50 * 60_000);
    const after = 1000 - cluster.backend.failures.length;
    // Half a second, doubled each time up to two minutes: nine attempts in the first two minutes, then one every two.
    expect(after).toBeGreaterThan(25);
    expect((await summarize(cluster)).filter((line) => !line.startsWith('intent/'))).toEqual(['pvc/data Pending']);
    const [line = ''] = (await eventsOf(cluster)).filter((each) => each.startsWith('ProvisioningFailed'));
    expect(Number(line.split(' x')[1])).toBeGreaterThan(20);
    await world.sleep(10 * 60_000);
    expect(1000 - cluster.backend.failures.length).toBeGreaterThan(after);
  }));

test('a class without a driver: an event, Pending, and a volume as soon as the class names a driver that there is', () =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world);
    runStorage(cluster, world);
    await offer(cluster, 'kubernetes.io/unknown');
    await ask(cluster);
    await world.sleep(60_000);
    expect(await summarize(cluster)).toEqual(['pvc/data Pending']);
    expect(await eventsOf(cluster)).toEqual(['ProvisioningFailed x3']);
    await cluster.client.delete(storageClassKind, { name: 'class' });
    await world.sleep(1000);
    await offer(cluster, 'kubernetes.io/host-path');
    await world.sleep(1000);
    expect((await summarize(cluster)).filter((line) => line.includes('Bound'))).toHaveLength(2);
  }));

test('a class that is deleted under a waiting claim: an event says so, and the claim is provisioned when the class is back', () =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world);
    runStorage(cluster, world);
    await offer(cluster, 'csi.example.com');
    await ask(cluster);
    await world.sleep(1000);
    await cluster.client.delete(storageClassKind, { name: 'class' });
    await world.sleep(1000);
    expect(await eventsOf(cluster)).toEqual(['ExternalProvisioning x1', 'ProvisioningFailed x1']);
    await offer(cluster, 'kubernetes.io/host-path');
    await world.sleep(1000);
    expect((await summarize(cluster)).filter((line) => line.includes('Bound'))).toHaveLength(2);
  }));

test.each(['transaction', 'plain'] as const)('many claims at once, and a volume for few of them: the others get theirs made (%s)', (mode) =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world, mode);
    const { client } = cluster;
    runStorage(cluster, world);
    await offer(cluster, 'kubernetes.io/host-path');
    for (const name of ['one', 'two']) await client.create(persistentVolumeKind, { metadata: { name }, spec: pv(name, '5Gi').spec });
    await world.sleep(1000);
    const names = Array.from({ length: 12 }, (_, i) => `data-${i}`);
    // All of them see both volumes before one of them is bound. More volumes come and go meanwhile.
    await Promise.all([
      ...names.map((name) => client.create(persistentVolumeClaimKind, { metadata: { name, namespace: 'default' }, spec: pvc(name, '1Gi').spec })),
      ...['three', 'four'].map((name) => client.create(persistentVolumeKind, { metadata: { name }, spec: pv(name, '5Gi').spec })),
    ]);
    await world.sleep(60_000);
    expect((await summarize(cluster)).filter((line) => /^pvc\/.* Bound /.test(line))).toHaveLength(names.length);
  }),
);

/** The volume is made, and the write of the driver's answer does not reach the server; `then` runs in that moment. */
function losesTheAnswer({ transport, backend }: StorageCluster, then: () => Promise<unknown>): Transport {
  let isLost = false;
  return {
    watch: (request, sink) => transport.watch(request, sink),
    send: async (request) => {
      if (isLost || backend.assets.size === 0 || request.info.type !== 'resource' || request.info.resource !== 'volumeintents') return transport.send(request);
      isLost = true;
      await then();
      return { type: 'unreachable', error: new Error('the connection is cut') };
    },
  };
}

/** There is no controller here that ends the claim's protection. */
async function removeClaim({ client }: StorageCluster): Promise<void> {
  const data = { namespace: 'default', name: 'data' };
  await client.delete(persistentVolumeClaimKind, data);
  await client.patch(persistentVolumeClaimKind, data, { type: 'merge', body: { metadata: { finalizers: null } } });
}

test('an answer that is lost, a failure that left nothing behind, and no claim any more: the volume that was made is deleted', () =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world);
    const transport = losesTheAnswer(cluster, () => {
      cluster.backend.failures = ['final'];
      return removeClaim(cluster);
    });
    runStorage({ ...cluster, transport }, world);
    await offer(cluster, 'kubernetes.io/host-path');
    await ask(cluster);
    await world.sleep(60_000);
    expect(cluster.backend.failures).toEqual([]);
    expect({ left: [...cluster.backend.assets], deletions: cluster.backend.deletions }).toEqual({ left: [], deletions: 1 });
  }));

test('a failure that left nothing behind, then a volume whose process crashed before it was known: the next process deletes it', () =>
  simulate(1, async (world) => {
    const cluster = await startStorageCluster(world);
    cluster.backend.failures = ['final'];
    const process = new SimulatedProcess(world, 'first');
    const transport = losesTheAnswer(cluster, () => {
      process.kill();
      return removeClaim(cluster);
    });
    runStorage({ ...cluster, transport: process.transport(transport) }, process);
    await offer(cluster, 'kubernetes.io/host-path');
    await ask(cluster);
    await world.sleep(60_000);
    expect((await summarize(cluster)).map((line) => line.replaceAll(/pvc-[0-9a-f-]{36}/g, 'made'))).toEqual(['assets 1', 'intent/made Create Pending']);
    cluster.backend.failures = ['final'];
    runStorage(cluster, world);
    await world.sleep(60_000);
    expect({ left: [...cluster.backend.assets], deletions: cluster.backend.deletions }).toEqual({ left: [], deletions: 1 });
  }));
