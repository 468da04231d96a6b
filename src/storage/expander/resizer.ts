import type { PersistentVolume, PersistentVolumeSource, PersistentVolumeSpec, StorageClass } from '../../api/generated/types.ts';
import { migratedPluginOf } from '../../api/volumes/csi-translation.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import type { DriverCapabilities } from '../../api/volumes/driver-capabilities.ts';
import { csiDriverOf } from '../../api/volumes/csi-migration.ts';
import { sourceOf } from '../volumes/source.ts';

/** Which component expands a volume. */
export type Resizer =
  /** An external resizer, which reports in the claim's status. */
  | { readonly type: 'external' }
  /** The same, for the CSI driver of a migrated in-tree plugin; it finds its claims by an annotation. */
  | { readonly type: 'successor'; readonly plugin: string; readonly driver: string }
  | DriverResizer
  /** The node alone, when it mounts the volume. */
  | { readonly type: 'node' };

/** A driver in this process. */
export interface DriverResizer {
  readonly type: 'driver';
  readonly driver: string;
  readonly facts: DriverCapabilities;
  readonly volume: PersistentVolumeSource & Partial<PersistentVolumeSpec>;
}

export interface ResizerSnapshot {
  /** The drivers in this process, by name. */
  readonly driver: (name: string) => DriverCapabilities | undefined;
  /** The volume's class. */
  readonly storageClass: StorageClass | undefined;
}

export function resizerOf(volume: PersistentVolume, { driver, storageClass }: ResizerSnapshot): Resizer {
  const plugin = migratedPluginOf(volume);
  const successor = plugin === undefined ? undefined : csiDriverOf(plugin);
  const name = successor ?? driverOf(volume);
  const facts = name === undefined ? undefined : driver(name);
  const isOptedIn = storageClass?.metadata.annotations?.[annotations.expand] === 'true';
  if (facts !== undefined && (facts.expands === 'always' || (facts.expands === 'opt-in' && isOptedIn))) {
    return { type: 'driver', driver: facts.name, facts, volume: facts.csi === undefined ? sourceOf(volume) : volume.spec };
  }
  if (plugin !== undefined && successor !== undefined) return { type: 'successor', plugin, driver: successor };
  return volume.spec.flexVolume === undefined ? { type: 'external' } : { type: 'node' };
}

function driverOf({ metadata, spec }: PersistentVolume): string | undefined {
  if (spec.csi !== undefined) return spec.csi.driver;
  return metadata.annotations?.[annotations.provisionedBy] ?? (spec.hostPath === undefined ? undefined : 'kubernetes.io/host-path');
}
