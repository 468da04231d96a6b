import type { Plugin } from '../framework.ts';
import { volumeBinding, type VolumeBindingOptions } from './binding.ts';
import { nodeVolumeLimits } from './limits.ts';
import { volumeRestrictions } from './restrictions.ts';
import { volumeZone } from './zone.ts';

/** All that the scheduler knows of volumes, in the order in which Kubernetes asks. */
export const volumePlugins = (options: VolumeBindingOptions): readonly Plugin[] => [volumeRestrictions, nodeVolumeLimits(), volumeBinding(options), volumeZone];
