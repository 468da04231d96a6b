import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { compareQuantities, type Quantity } from '../../api/quantity.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import { storageAmount, zero } from '../../api/volumes/capacity.ts';

export const requested = ({ spec }: PersistentVolumeClaim): Quantity => storageAmount(spec.resources.requests) ?? zero;

/** The capacity that pods have. */
export const currentCapacity = ({ status }: PersistentVolumeClaim): Quantity => storageAmount(status.capacity) ?? zero;

/** The size that a driver was last asked for. */
export const allocated = ({ status }: PersistentVolumeClaim): Quantity | undefined => storageAmount(status.allocatedResources);

export const sizeOf = ({ spec }: PersistentVolume): Quantity => storageAmount(spec.capacity) ?? zero;

export const needsExpansion = (claim: PersistentVolumeClaim): boolean => compareQuantities(requested(claim), currentCapacity(claim)) > 0;

/** The volume is expanded and its file system is not, or the controller has not seen yet that it is. */
export const isFileSystemResizePending = ({ metadata }: PersistentVolume): boolean => Object.hasOwn(metadata.annotations ?? {}, annotations.preResizeCapacity);
