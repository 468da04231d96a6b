import type { StorageClass } from '../api/generated/types.ts';
import { isDefaultClass, storageClassKind } from '../api/kinds/storage-class.ts';
import type { Client, Draft } from '../machinery/client.ts';
import { absent, put, type Store } from '../store/contract.ts';

const classes: readonly Draft<StorageClass>[] = [
  {
    metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'kubernetes.io/host-path',
    volumeBindingMode: 'WaitForFirstConsumer',
  },
  { metadata: { name: 'immediate' }, provisioner: 'kubernetes.io/host-path', volumeBindingMode: 'Immediate' },
];

/** Outside /registry/: it is no object. */
const marker = '/mooring/default-classes';

/**
 * The classes that a new cluster has. They are made once in its life: whoever changes or deletes one of them means it. A crash before the
 * marker is written makes them once more; those that are there stay as they are.
 */
export async function ensureDefaultClasses(client: Client, store: Store): Promise<void> {
  if ((await store.get(marker)) !== undefined) return;
  for (const each of classes) {
    const made = await client.create(storageClassKind, each);
    if (!made.ok && made.reason !== 'alreadyExists') throw made.error;
  }
  await store.transact({ compares: [absent(marker)], writes: [put(marker, new Uint8Array(0))] });
}

export async function storageClasses(client: Client): Promise<readonly { readonly name: string; readonly isDefault: boolean }[]> {
  const all = await client.list(storageClassKind);
  return all.ok ? all.value.items.map((each) => ({ name: each.metadata.name ?? '', isDefault: isDefaultClass(each) })) : [];
}
