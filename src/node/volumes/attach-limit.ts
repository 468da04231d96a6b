/** Drivers whose limit of attached volumes changes (`nodeAllocatableUpdatePeriodSeconds` of their CSIDriver). */
import type { CSIDriver, VolumeAttachment } from '../../api/generated/types.ts';
import { numberOf } from '../../grpc/status.ts';

/** Undefined: the limit is what it was at the driver's registration. */
export function updatePeriodMs(driver: CSIDriver | undefined): number | undefined {
  const seconds = driver?.spec.nodeAllocatableUpdatePeriodSeconds ?? 0;
  return seconds > 0 ? seconds * 1000 : undefined;
}

/** The driver said that the node has no room for the volume. */
export const isExhausted = (attachment: VolumeAttachment | undefined): boolean => attachment?.status.attachError?.errorCode === numberOf('ResourceExhausted');
