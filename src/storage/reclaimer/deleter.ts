import type { PersistentVolume, PersistentVolumeSource } from '../../api/generated/types.ts';
import { annotations, finalizers } from '../../api/volumes/annotations.ts';
import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import { withAnnotations, withFinalizers } from '../volumes/edits.ts';
import { isInTree, csiDriverOf } from '../../api/volumes/csi-migration.ts';
import { sourceOf } from '../volumes/source.ts';
import type { Volume } from '../volumes/volume.ts';

type Drivers = (name: string) => DriverCapabilities | undefined;

/** Which component deletes the asset of a volume. */
export type Deleter =
  | { readonly type: 'driver'; readonly driver: DriverCapabilities; readonly source: PersistentVolumeSource }
  | { readonly type: 'external' }
  | { readonly type: 'none'; readonly message: string };

/** In-tree plugins that cannot delete. */
const knownPlugins: ReadonlySet<string> = new Set(['kubernetes.io/nfs']);

/** The provisioner of the volume deletes it; for a volume that a user created, the driver of its source. */
export function deleterOf(volume: Volume, drivers: Drivers): Deleter {
  const source = sourceOf(volume.object);
  const { provisionedBy } = volume;
  if (provisionedBy !== undefined && provisionedBy !== '') {
    const driver = drivers(provisionedBy);
    if (driver?.deletes === true) return { type: 'driver', driver, source };
    if (!isInTree(provisionedBy)) return { type: 'external' };
    return {
      type: 'none',
      message: knownPlugins.has(provisionedBy) ? 'no deletable volume plugin matched' : `no volume plugin matched name: ${provisionedBy}`,
    };
  }
  if (volume.migratedTo !== undefined || source.csi !== undefined) return { type: 'external' };
  const driver = source.hostPath === undefined ? undefined : drivers('kubernetes.io/host-path');
  if (driver?.deletes === true) return { type: 'driver', driver, source };
  const why = source.nfs === undefined ? 'no volume plugin matched' : 'no deletable volume plugin matched';
  return { type: 'none', message: `error getting deleter volume plugin for volume "${volume.name}": ${why}` };
}

/**
 * The finalizer keeps a provisioned volume until its asset is deleted, as long as the policy is Delete. Volumes of migrated in-tree
 * plugins get migrated-to: the CSI driver's provisioner has its own finalizer. Kubernetes'
 * updateVolumeMigrationAnnotationsAndFinalizers.
 */
export function withMigrationAndFinalizers(volume: Volume, drivers: Drivers): PersistentVolume {
  const { provisionedBy, reclaimPolicy, migratedTo } = volume;
  if (provisionedBy === undefined) return volume.object;
  const successor = csiDriverOf(provisionedBy);
  const marked = (migratedTo ?? '') === (successor ?? '') ? volume.object : withAnnotations(volume.object, { [annotations.migratedTo]: successor });
  if (successor !== undefined) return without(marked, finalizers.inTreeProvisioner);
  const isOurs = drivers(provisionedBy) !== undefined;
  if (!isInTree(provisionedBy) && !isOurs) return marked;
  const [own, foreign] = isInTree(provisionedBy)
    ? [finalizers.inTreeProvisioner, finalizers.externalProvisioner]
    : [finalizers.externalProvisioner, finalizers.inTreeProvisioner];
  const cleared = without(marked, foreign);
  switch (reclaimPolicy) {
    case 'Delete':
      // The API takes no new finalizers on an object that is being deleted.
      return volume.deleting || hasFinalizer(cleared, own) ? cleared : withFinalizers(cleared, [...(cleared.metadata.finalizers ?? []), own]);
    case 'Retain':
    case 'Recycle':
      return without(cleared, own);
    default:
      return cleared;
  }
}

/**
 * The volume may be removed at any moment, and its asset stays: a user deleted it while the policy was Retain, so there is no finalizer,
 * and none can be added. external-provisioner (v13) does not begin to delete the asset then; in-tree plugins (v1.36.4) do not check.
 */
export const isAbandoned = ({ object, deleting, provisionedBy }: Volume): boolean =>
  deleting && provisionedBy !== undefined && !isInTree(provisionedBy) && !hasFinalizer(object, finalizers.externalProvisioner);

export const withoutOwnFinalizers = ({ object }: Volume): PersistentVolume =>
  without(without(object, finalizers.inTreeProvisioner), finalizers.externalProvisioner);

const hasFinalizer = (volume: PersistentVolume, name: string): boolean => volume.metadata.finalizers?.includes(name) ?? false;
const without = (volume: PersistentVolume, name: string): PersistentVolume =>
  withFinalizers(
    volume,
    (volume.metadata.finalizers ?? []).filter((finalizer) => finalizer !== name),
  );
