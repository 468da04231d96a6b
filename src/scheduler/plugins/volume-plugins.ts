import type { Plugin } from '../framework.ts';
import { volumeBinding, type VolumeBindingOptions } from '../volume-binding/volume-binding-plugin.ts';
import { nodeVolumeLimits } from './node-volume-limits.ts';
import { volumeRestrictions } from './volume-restrictions.ts';
import { volumeZone } from './volume-zone.ts';

/** The plugins about volumes, in Kubernetes' order. */
export const volumePlugins = (options: VolumeBindingOptions): readonly Plugin[] => [volumeRestrictions, nodeVolumeLimits(), volumeBinding(options), volumeZone];
