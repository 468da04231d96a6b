import type { Plugin } from '../framework.ts';
import { volumeBinding, type VolumeBindingOptions } from '../volume-binding/volume-binding-plugin.ts';
import { nodeVolumeLimits } from './node-volume-limits.ts';
import { volumeRestrictions } from './volume-restrictions.ts';
import { volumeZone } from './volume-zone.ts';

/** All that the scheduler knows of volumes, in the order in which Kubernetes asks. */
export const volumePlugins = (options: VolumeBindingOptions): readonly Plugin[] => [volumeRestrictions, nodeVolumeLimits(), volumeBinding(options), volumeZone];
