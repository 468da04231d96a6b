import { type VolumeUsage, VolumeUsage_Unit as Unit } from '../../grpc/generated/csi.ts';
import type { Usage } from '../../world/mounts.ts';
import { type DriverAnswer, failed, succeeded } from '../contract.ts';

/** NodeGetVolumeStats' answer. A driver need not tell of inodes. */
export function volumeUsage(usages: readonly VolumeUsage[]): DriverAnswer<Usage> {
  if (usages.length === 0) return failed('Internal', 'failed to get usage from response. usage is nil');
  const of = (unit: Unit) => usages.find((usage) => usage.unit === unit);
  const [bytes, inodes] = [of(Unit.BYTES), of(Unit.INODES)];
  const negative = usages.some(({ available, total, used }) => available < 0n || total < 0n || used < 0n);
  if (negative) return failed('Internal', 'the driver reports a negative usage');
  return succeeded({
    capacity: Number(bytes?.total ?? 0n),
    available: Number(bytes?.available ?? 0n),
    used: Number(bytes?.used ?? 0n),
    inodes: Number(inodes?.total ?? 0n),
    inodesFree: Number(inodes?.available ?? 0n),
    inodesUsed: Number(inodes?.used ?? 0n),
  });
}
