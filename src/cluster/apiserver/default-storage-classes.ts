import type { CSIDriver, StorageClass } from '../../api/generated/types.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { isDefaultClass, storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import { imageDriverName } from '../../drivers/image/driver.ts';
import type { Client, Draft } from '../../client/client.ts';
import { absent, put, type Store } from '../../store/contract.ts';

type Provisioning = Pick<Draft<StorageClass>, 'provisioner' | 'allowVolumeExpansion'>;
type Variant = 'images' | 'directories';

/** Of image volumes where the machine can have them, since these enforce their size; elsewhere of directories. */
const variants: Readonly<Record<Variant, Provisioning>> = {
  images: { provisioner: imageDriverName, allowVolumeExpansion: true },
  directories: { provisioner: 'kubernetes.io/host-path' },
};
const defaultAnnotation = { 'storageclass.kubernetes.io/is-default-class': 'true' };
const bindingModes = { standard: 'WaitForFirstConsumer', immediate: 'Immediate' } as const;
type ClassName = keyof typeof bindingModes;
const classNames: readonly ClassName[] = ['standard', 'immediate'];

/** An image is a file of this machine: it is mounted without being attached. */
const imagesDriver: Draft<CSIDriver> = { metadata: { name: imageDriverName }, spec: { attachRequired: false, podInfoOnMount: false } };

/** Outside /registry/, since it is not an object. Its value is the variant of the cluster's first start. */
const marker = '/mooring/default-classes';

export interface MachineVolumes {
  /** Whether this machine can have image volumes. */
  readonly images: boolean;
  /** CSI drivers of hollow nodes that were asked for by name. */
  readonly csiDrivers: readonly string[];
}

/**
 * The StorageClasses of a new cluster. They are created once in its life, so that a user can change or delete them. After a crash before the marker
 * is written they are created again; existing ones are not changed. Only a class as it was created here, whose driver this start does not have, is replaced.
 */
export async function ensureDefaultClasses(client: Client, store: Store, volumes: MachineVolumes = { images: false, csiDrivers: [] }): Promise<void> {
  // At each start: without the CSIDriver object, pods would wait for ever for their images to be attached.
  if (volumes.images) await create(client, imagesDriver);
  const isNew = (await store.get(marker)) === undefined;
  for (const [number, name] of volumes.csiDrivers.entries()) await ensureCsiDriver(client, name, isNew && number === 0);
  const first = isNew ? (volumes.images ? 'images' : 'directories') : await firstVariant(client, store);
  const now = first === 'images' && volumes.images ? 'images' : 'directories';
  const missing = isNew ? classNames : await removeOther(client, store, now);
  if (missing.length === 0) return;
  const hasOtherDefault = (await storageClasses(client)).some(({ isDefault }) => isDefault);
  for (const name of missing) {
    const metadata = { name, ...(name === 'standard' && !hasOtherDefault ? { annotations: defaultAnnotation } : {}) };
    await createClass(client, { metadata, ...variants[now], volumeBindingMode: bindingModes[name] });
  }
  await store.transact({ compares: [absent(marker)], writes: [put(marker, Buffer.from(first))] });
}

/** A cluster of an earlier version has a marker without a value: its class tells. */
async function firstVariant(client: Client, store: Store): Promise<Variant> {
  const value = Buffer.from((await store.get(marker))?.value ?? []).toString();
  if (value === 'images' || value === 'directories') return value;
  const standard = await client.get(storageClassKind, { name: 'standard' });
  return standard.ok && standard.value.provisioner === imageDriverName ? 'images' : 'directories';
}

/** Deletes the classes that are as they were created here, but of the other variant. Without the marker they are created again. */
async function removeOther(client: Client, store: Store, now: Variant): Promise<readonly ClassName[]> {
  const other = variants[now === 'images' ? 'directories' : 'images'];
  const found = await Promise.all(classNames.map((name) => client.get(storageClassKind, { name })));
  const stale = classNames.filter((_, at) => {
    const one = found[at];
    return one?.ok === true && isUnchanged(one.value, other);
  });
  if (stale.length === 0) return stale;
  await store.transact({ compares: [], writes: [{ type: 'delete', key: marker }] });
  for (const name of stale) await client.delete(storageClassKind, { name });
  return stale;
}

const isUnchanged = (found: StorageClass, { provisioner, allowVolumeExpansion }: Provisioning): boolean =>
  found.provisioner === provisioner &&
  found.allowVolumeExpansion === allowVolumeExpansion &&
  found.volumeBindingMode === bindingModes[found.metadata.name as ClassName] &&
  found.reclaimPolicy === 'Delete' &&
  found.parameters === undefined &&
  found.mountOptions === undefined &&
  found.allowedTopologies === undefined;

/** A driver without a backend, as a cloud's: zonal, and attached. */
async function ensureCsiDriver(client: Client, name: string, isDefault: boolean): Promise<void> {
  await create(client, { metadata: { name }, spec: { attachRequired: true } });
  const metadata = { name, ...(isDefault ? { annotations: defaultAnnotation } : {}) };
  await createClass(client, { metadata, provisioner: name, allowVolumeExpansion: true, volumeBindingMode: 'WaitForFirstConsumer' });
}

async function create(client: Client, driver: Draft<CSIDriver>): Promise<void> {
  const made = await client.create(csiDriverKind, driver);
  if (!made.ok && made.reason !== 'alreadyExists') throw made.error;
}

async function createClass(client: Client, draft: Draft<StorageClass>): Promise<void> {
  const made = await client.create(storageClassKind, draft);
  if (!made.ok && made.reason !== 'alreadyExists') throw made.error;
}

export async function storageClasses(client: Client): Promise<readonly { readonly name: string; readonly isDefault: boolean }[]> {
  const all = await client.list(storageClassKind);
  return all.ok ? all.value.items.map((each) => ({ name: each.metadata.name, isDefault: isDefaultClass(each) })) : [];
}
