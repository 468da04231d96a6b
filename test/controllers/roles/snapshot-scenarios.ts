import { persistentVolumeClaimKind } from '../../../src/api/kinds/core/persistent-volume-claim.ts';
import { volumeGroupSnapshotClassKind, volumeGroupSnapshotKind } from '../../../src/api/kinds/snapshot/volume-group-snapshot.ts';
import { volumeSnapshotClassKind, volumeSnapshotKind } from '../../../src/api/kinds/snapshot/volume-snapshot.ts';
import { storageClassKind } from '../../../src/api/kinds/storage/storage-class.ts';
import { ok, type SimulatedCluster } from '../../../src/sim/cluster/simulated-cluster.ts';

const inDefault = (name: string) => ({ namespace: 'default', name });

/** A snapshot is taken, a volume is restored from it, and both are deleted. */
export async function snapshots(cluster: SimulatedCluster): Promise<void> {
  const driver = cluster.disks.capabilities.name;
  await cluster.create(storageClassKind, { metadata: { name: 'disks' }, provisioner: driver });
  await cluster.create(volumeSnapshotClassKind, { metadata: { name: 'fast' }, driver, deletionPolicy: 'Delete' });
  await cluster.claim('data', 'disks');
  await cluster.create(volumeSnapshotKind, {
    metadata: inDefault('before'),
    spec: { source: { persistentVolumeClaimName: 'data' }, volumeSnapshotClassName: 'fast' },
  });
  await cluster.wait();
  await cluster.create(persistentVolumeClaimKind, {
    metadata: inDefault('copy'),
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: 'disks',
      dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'before' },
    },
  });
  await cluster.wait();
  await cluster.delete(persistentVolumeClaimKind, inDefault('copy'));
  await cluster.delete(volumeSnapshotKind, inDefault('before'));
}

/** A group is taken, one of its members cannot be deleted alone, and all are deleted together. */
export async function groupSnapshots(cluster: SimulatedCluster): Promise<void> {
  const driver = cluster.disks.capabilities.name;
  await cluster.create(storageClassKind, { metadata: { name: 'disks' }, provisioner: driver });
  await cluster.create(volumeGroupSnapshotClassKind, { metadata: { name: 'together' }, driver, deletionPolicy: 'Delete' });
  for (const name of ['data', 'log']) {
    await cluster.claim(name, 'disks');
    await cluster.change(persistentVolumeClaimKind, inDefault(name), (claim) => ({ ...claim, metadata: { ...claim.metadata, labels: { app: 'db' } } }));
  }
  await cluster.create(volumeGroupSnapshotKind, {
    metadata: inDefault('all'),
    spec: { source: { selector: { matchLabels: { app: 'db' } } }, volumeGroupSnapshotClassName: 'together' },
  });
  await cluster.wait();
  const [member] = ok(await cluster.client.list(volumeSnapshotKind)).items;
  await cluster.delete(volumeSnapshotKind, inDefault(member?.metadata.name ?? ''));
  // Long enough for the event to be renewed.
  await cluster.wait(60_000);
  await cluster.delete(volumeGroupSnapshotKind, inDefault('all'));
}

/** A claim names a data source that no volume populator is registered for. */
export async function populatedClaims(cluster: SimulatedCluster): Promise<void> {
  await cluster.create(storageClassKind, { metadata: { name: 'disks' }, provisioner: cluster.disks.capabilities.name });
  await cluster.create(persistentVolumeClaimKind, {
    metadata: inDefault('filled'),
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: 'disks',
      dataSourceRef: { apiGroup: 'example.com', kind: 'Backup', name: 'monday' },
    },
  });
  // Long enough for the event to be renewed.
  await cluster.wait(60_000);
}
