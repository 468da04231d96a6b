import type { PersistentVolume, PersistentVolumeSource } from '../../api/generated/types.ts';
import { annotations, finalizers } from '../../api/volumes/annotations.ts';
import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import { withAnnotations, withFinalizers } from '../volumes/edits.ts';
import { isInTree, csiDriverOf } from '../../api/volumes/csi-migration.ts';
import { sourceOf } from '../volumes/source.ts';
import type { Volume } from '../volumes/volume.ts';

type Drivers = (name: string) => DriverCapabilities | undefined;

/** Who deletes the asset of a volume. */
export type Deleter =
  | { readonly type: 'driver'; readonly driver: DriverCapabilities; readonly source: PersistentVolumeSource }
  | { readonly type: 'external' }
  | { readonly type: 'none'; readonly message: string };

/** Kubernetes' plugins that can do something, but not this. */
const knownPlugins: ReadonlySet<string> = new Set(['kubernetes.io/nfs']);

/** Whoever made the volume deletes it; one made by hand, whoever understands its source. */
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
 * The finalizer says that an asset has to be deleted first: on volumes that were made by somebody, and only as long as the
 * policy is Delete. Volumes of plugins that left the tree are marked for their successors, who have finalizers of their own.
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
 * The volume may go at any moment, and its asset stays: somebody deleted it while the policy was Retain, so there is no finalizer, and none can be added.
 * External provisioners (v13) do not begin to delete the asset then; Kubernetes' own plugins (v1.36.4) do not look.
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
