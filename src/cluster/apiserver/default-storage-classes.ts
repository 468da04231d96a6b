import type { CSIDriver, StorageClass } from '../../api/generated/types.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { isDefaultClass, storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import { imageDriverName } from '../../drivers/image/driver.ts';
import type { Client, Draft } from '../../client/client.ts';
import { absent, put, type Store } from '../../store/contract.ts';

type Made = Pick<Draft<StorageClass>, 'provisioner' | 'allowVolumeExpansion'>;

/** Of image volumes where the machine can have them, since these enforce their size; elsewhere of directories. */
const classes = (made: Made): readonly Draft<StorageClass>[] => [
  {
    metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    ...made,
    volumeBindingMode: 'WaitForFirstConsumer',
  },
  { metadata: { name: 'immediate' }, ...made, volumeBindingMode: 'Immediate' },
];

const directories: Made = { provisioner: 'kubernetes.io/host-path' };
const images: Made = { provisioner: imageDriverName, allowVolumeExpansion: true };
/** An image is a file of this machine: it is mounted without being attached. */
const imagesDriver: Draft<CSIDriver> = { metadata: { name: imageDriverName }, spec: { attachRequired: false, podInfoOnMount: false } };

/** Outside /registry/, since it is not an object. */
const marker = '/mooring/default-classes';

/**
 * The StorageClasses of a new cluster. They are created once in its life, so that a user can change or delete them. After a crash before the marker
 * is written they are created again; existing ones are not changed.
 */
export async function ensureDefaultClasses(client: Client, store: Store, hasImages = false): Promise<void> {
  // At each start: without the CSIDriver object, pods would wait for ever for their images to be attached.
  if (hasImages) {
    const made = await client.create(csiDriverKind, imagesDriver);
    if (!made.ok && made.reason !== 'alreadyExists') throw made.error;
  }
  if ((await store.get(marker)) !== undefined) return;
  for (const each of classes(hasImages ? images : directories)) {
    const made = await client.create(storageClassKind, each);
    if (!made.ok && made.reason !== 'alreadyExists') throw made.error;
  }
  await store.transact({ compares: [absent(marker)], writes: [put(marker, new Uint8Array(0))] });
}

export async function storageClasses(client: Client): Promise<readonly { readonly name: string; readonly isDefault: boolean }[]> {
  const all = await client.list(storageClassKind);
  return all.ok ? all.value.items.map((each) => ({ name: each.metadata.name, isDefault: isDefaultClass(each) })) : [];
}
