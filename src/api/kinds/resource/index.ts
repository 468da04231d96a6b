import { untypedKind, type Kind } from '../../kind.ts';
import { resourceClaimKind, resourceClaimTemplateKind } from './claims.ts';
import { deviceClassKind } from './device-class.ts';
import { resourceSliceKind } from './resource-slice.ts';

/** Stored, validated and served for drivers and other schedulers: Mooring's own allocates no devices. */
export const resourceKinds: readonly Kind[] = [
  untypedKind(deviceClassKind),
  untypedKind(resourceClaimKind),
  untypedKind(resourceClaimTemplateKind),
  untypedKind(resourceSliceKind),
];
