import { expect, test } from 'vitest';
import { startTestCluster, type TestCluster } from '../../../test/client/test-cluster.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import { createRealWorld } from '../../host/world.ts';
import { ensureDefaultClasses, storageClasses } from './default-storage-classes.ts';

const start = () => startTestCluster(createRealWorld({ logLevel: 'silent' }));
const ensure = ({ client, store }: TestCluster) => ensureDefaultClasses(client, store);

test('a new cluster has a default class with WaitForFirstConsumer, and one with Immediate', async () => {
  const cluster = await start();
  await ensure(cluster);
  expect(await storageClasses(cluster.client)).toEqual([
    { name: 'immediate', isDefault: false },
    { name: 'standard', isDefault: true },
  ]);
  expect(await cluster.client.get(storageClassKind, { name: 'standard' })).toMatchObject({
    value: { provisioner: 'kubernetes.io/host-path', volumeBindingMode: 'WaitForFirstConsumer', reclaimPolicy: 'Delete' },
  });
});

test('a class that a user deleted or changed stays so', async () => {
  const cluster = await start();
  await ensure(cluster);
  await cluster.client.delete(storageClassKind, { name: 'standard' });
  await cluster.client.patch(storageClassKind, { name: 'immediate' }, { type: 'merge', body: { allowVolumeExpansion: true } });
  await ensure(cluster);
  expect(await storageClasses(cluster.client)).toEqual([{ name: 'immediate', isDefault: false }]);
  expect(await cluster.client.get(storageClassKind, { name: 'immediate' })).toMatchObject({ value: { allowVolumeExpansion: true } });
});

test('a start after a crash creates the missing classes, and leaves an existing one of the same name unchanged', async () => {
  const cluster = await start();
  await cluster.client.create(storageClassKind, { metadata: { name: 'standard' }, provisioner: 'example.com/own' });
  await ensure(cluster);
  expect(await storageClasses(cluster.client)).toEqual([
    { name: 'immediate', isDefault: false },
    { name: 'standard', isDefault: false },
  ]);
});

test('where image volumes are possible the classes provision them, and the CSIDriver exists also in clusters with older classes', async () => {
  const cluster = await start();
  await ensureDefaultClasses(cluster.client, cluster.store, true);
  expect(await cluster.client.get(storageClassKind, { name: 'standard' })).toMatchObject({
    value: { provisioner: 'image.mooring.dev', allowVolumeExpansion: true },
  });
  const older = await start();
  await ensure(older);
  await ensureDefaultClasses(older.client, older.store, true);
  expect(await older.client.get(storageClassKind, { name: 'standard' })).toMatchObject({ value: { provisioner: 'kubernetes.io/host-path' } });
  expect(await older.client.get(csiDriverKind, { name: 'image.mooring.dev' })).toMatchObject({ value: { spec: { attachRequired: false } } });
});
