import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { compareQuantities, type Quantity } from '../../api/quantity.ts';
import { annotations } from '../../domain/volumes/annotations.ts';
import { storageAmount, zero } from '../../domain/volumes/capacity.ts';

export const requested = ({ spec }: PersistentVolumeClaim): Quantity => storageAmount(spec.resources.requests) ?? zero;

/** What pods see. */
export const had = ({ status }: PersistentVolumeClaim): Quantity => storageAmount(status.capacity) ?? zero;

/** What was last asked of a driver. */
export const allocated = ({ status }: PersistentVolumeClaim): Quantity | undefined => storageAmount(status.allocatedResources);

export const sizeOf = ({ spec }: PersistentVolume): Quantity => storageAmount(spec.capacity) ?? zero;

export const asksForMore = (claim: PersistentVolumeClaim): boolean => compareQuantities(requested(claim), had(claim)) > 0;

/** The volume has grown, its file system has not; or nobody has taken note yet that it has. */
export const isHalfGrown = ({ metadata }: PersistentVolume): boolean => Object.hasOwn(metadata.annotations ?? {}, annotations.preResizeCapacity);
