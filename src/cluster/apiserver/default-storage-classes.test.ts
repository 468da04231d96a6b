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

const images = { images: true, csiDrivers: [] };

test('where image volumes are possible the classes provision them, and the CSIDriver exists also in clusters with older classes', async () => {
  const cluster = await start();
  await ensureDefaultClasses(cluster.client, cluster.store, images);
  expect(await cluster.client.get(storageClassKind, { name: 'standard' })).toMatchObject({
    value: { provisioner: 'image.mooring.dev', allowVolumeExpansion: true },
  });
  const older = await start();
  await ensure(older);
  await ensureDefaultClasses(older.client, older.store, images);
  expect(await older.client.get(storageClassKind, { name: 'standard' })).toMatchObject({ value: { provisioner: 'kubernetes.io/host-path' } });
  expect(await older.client.get(csiDriverKind, { name: 'image.mooring.dev' })).toMatchObject({ value: { spec: { attachRequired: false } } });
});

test('a start without image volumes replaces the classes that provision them, and the next start with them brings them back', async () => {
  const { client, store } = await start();
  const provisionerOf = async (name: string) => {
    const found = await client.get(storageClassKind, { name });
    return found.ok ? found.value.provisioner : found.reason;
  };
  await ensureDefaultClasses(client, store, images);
  await client.patch(storageClassKind, { name: 'immediate' }, { type: 'merge', body: { mountOptions: ['noatime'] } });
  await ensureDefaultClasses(client, store);
  // A class that a user changed stays.
  expect([await provisionerOf('standard'), await provisionerOf('immediate')]).toEqual(['kubernetes.io/host-path', 'image.mooring.dev']);
  expect((await storageClasses(client)).filter(({ isDefault }) => isDefault)).toEqual([{ name: 'standard', isDefault: true }]);
  await ensureDefaultClasses(client, store, images);
  expect(await provisionerOf('standard')).toBe('image.mooring.dev');
  await client.delete(storageClassKind, { name: 'standard' });
  await ensureDefaultClasses(client, store);
  expect(await provisionerOf('standard')).toBe('notFound');
});

test('a CSI driver that was asked for by name has a CSIDriver and a class, which is the default of a new cluster', async () => {
  const { client, store } = await start();
  const asked = { images: false, csiDrivers: ['ebs.csi.aws.com', 'disk.example.com'] };
  await ensureDefaultClasses(client, store, asked);
  await ensureDefaultClasses(client, store, asked);
  expect(await storageClasses(client)).toEqual([
    { name: 'disk.example.com', isDefault: false },
    { name: 'ebs.csi.aws.com', isDefault: true },
    { name: 'immediate', isDefault: false },
    { name: 'standard', isDefault: false },
  ]);
  expect(await client.get(csiDriverKind, { name: 'ebs.csi.aws.com' })).toMatchObject({ value: { spec: { attachRequired: true } } });
});
