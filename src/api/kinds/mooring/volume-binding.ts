import type { ObjectMeta, PersistentVolume, PersistentVolumeClaim } from '../../generated/types.ts';

/** A volume and a claim that have each other, as both shall be: written together, kept as themselves (docs/EXTENSIONS.md). */
export interface VolumeBinding {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  volume: PersistentVolume;
  claim: PersistentVolumeClaim;
  /** The volume was made by this VolumeIntent: it is created, bound from the start, and the intent is deleted with the same write. */
  intent?: VolumeBindingIntent;
}

export interface VolumeBindingIntent {
  readonly name: string;
  readonly uid: string;
}

export const volumeBindingKind = {
  group: 'mooring.dev',
  version: 'v1',
  kind: 'VolumeBinding',
  plural: 'volumebindings',
  namespaced: false,
  type: 'VolumeBinding',
} as const;

export const volumeBindingsPath = '/apis/mooring.dev/v1/volumebindings';
