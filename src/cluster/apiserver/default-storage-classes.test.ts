import { expect, test } from 'vitest';
import { startTestCluster, type TestCluster } from '../../../test/client/test-cluster.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import { createRealWorld } from '../../host/world.ts';
import { ensureDefaultClasses, storageClasses } from './default-storage-classes.ts';

const start = () => startTestCluster(createRealWorld({ logLevel: 'silent' }));
const ensure = ({ client, store }: TestCluster) => ensureDefaultClasses(client, store);

test('a new cluster has a class that waits, which is the default, and one that does not', async () => {
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

test('what somebody deleted or changed is left so', async () => {
  const cluster = await start();
  await ensure(cluster);
  await cluster.client.delete(storageClassKind, { name: 'standard' });
  await cluster.client.patch(storageClassKind, { name: 'immediate' }, { type: 'merge', body: { allowVolumeExpansion: true } });
  await ensure(cluster);
  expect(await storageClasses(cluster.client)).toEqual([{ name: 'immediate', isDefault: false }]);
  expect(await cluster.client.get(storageClassKind, { name: 'immediate' })).toMatchObject({ value: { allowVolumeExpansion: true } });
});

test('a start that did not come to its end is made up for, and somebody’s own class of that name is nobody else’s', async () => {
  const cluster = await start();
  await cluster.client.create(storageClassKind, { metadata: { name: 'standard' }, provisioner: 'example.com/own' });
  await ensure(cluster);
  expect(await storageClasses(cluster.client)).toEqual([
    { name: 'immediate', isDefault: false },
    { name: 'standard', isDefault: false },
  ]);
});

test('where there can be images the classes make those, and their driver is known also to clusters that have older classes', async () => {
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
