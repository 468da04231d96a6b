import { expect } from 'vitest';
import { csiDriverKind } from '../../../src/api/kinds/storage/csi-driver.ts';
import { csiStorageCapacityKind } from '../../../src/api/kinds/storage/csi-storage-capacity.ts';
import { storageClassKind } from '../../../src/api/kinds/storage/storage-class.ts';
import { ok, type SimulatedCluster } from '../../../src/sim/cluster/simulated-cluster.ts';
import { MeasuredDiskDriver } from './measured-disk-driver.ts';

/** The driver's capacity is published, followed, and withdrawn with its class. */
export async function storageCapacities(cluster: SimulatedCluster): Promise<void> {
  const { disks } = cluster;
  if (!(disks instanceof MeasuredDiskDriver)) throw new Error('the disks are not measured');
  const { name } = disks.capabilities;
  const published = async () =>
    ok(await cluster.client.list(csiStorageCapacityKind)).items.map(({ storageClassName, capacity }) => `${storageClassName} ${capacity ?? ''}`);
  await cluster.create(csiDriverKind, { metadata: { name }, spec: { storageCapacity: true } });
  await cluster.create(storageClassKind, { metadata: { name: 'immediate' }, provisioner: name });
  await cluster.create(storageClassKind, { metadata: { name: 'late' }, provisioner: name, volumeBindingMode: 'WaitForFirstConsumer' });
  await cluster.wait();
  expect(await published()).toEqual(['late 10Gi']);
  disks.available /= 2n;
  await cluster.wait(70_000);
  expect(await published()).toEqual(['late 5Gi']);
  await cluster.delete(storageClassKind, { name: 'late' });
  await cluster.wait();
  expect(await published()).toEqual([]);
}
