import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { compareQuantities, type Quantity } from '../../api/quantity.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import { storageAmount, zero } from '../../api/volumes/capacity.ts';

export const requested = ({ spec }: PersistentVolumeClaim): Quantity => storageAmount(spec.resources.requests) ?? zero;

/** What pods see. */
export const currentCapacity = ({ status }: PersistentVolumeClaim): Quantity => storageAmount(status.capacity) ?? zero;

/** What was last asked of a driver. */
export const allocated = ({ status }: PersistentVolumeClaim): Quantity | undefined => storageAmount(status.allocatedResources);

export const sizeOf = ({ spec }: PersistentVolume): Quantity => storageAmount(spec.capacity) ?? zero;

export const needsExpansion = (claim: PersistentVolumeClaim): boolean => compareQuantities(requested(claim), currentCapacity(claim)) > 0;

/** The volume has grown, its file system has not; or nobody has taken note yet that it has. */
export const isFileSystemResizePending = ({ metadata }: PersistentVolume): boolean => Object.hasOwn(metadata.annotations ?? {}, annotations.preResizeCapacity);
