import type { PersistentVolume, PersistentVolumeSource, PersistentVolumeSpec } from '../../api/generated/types.ts';

const notTheSource: ReadonlySet<string> = new Set<keyof PersistentVolumeSpec>([
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
  'volumeAttributesClassName',
]);

/** The volume source of the spec, without the fields that every volume has. */
export function sourceOf({ spec }: PersistentVolume): PersistentVolumeSource {
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !notTheSource.has(field)));
}
