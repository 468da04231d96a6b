/** What EBS permits for each volume type. */
import { CloudError } from './errors.ts';
import type { VolumeShape, VolumeType } from './records.ts';

interface VolumeTypeRules {
  /** In GiB. */
  readonly size: readonly [least: number, most: number];
  /** Absent: iops cannot be given. */
  readonly iops?: { readonly least: number; readonly most: number; readonly perGiB: number; readonly required: boolean; readonly default?: number };
  /** MiB a second. Absent: throughput cannot be given. */
  readonly throughput?: { readonly least: number; readonly most: number; readonly default: number };
  readonly multiAttach: boolean;
}

const rules: Readonly<Record<VolumeType, VolumeTypeRules>> = {
  gp2: { size: [1, 16_384], multiAttach: false },
  gp3: {
    size: [1, 65_536],
    iops: { least: 3000, most: 80_000, perGiB: 500, required: false, default: 3000 },
    throughput: { least: 125, most: 2000, default: 125 },
    multiAttach: false,
  },
  io1: { size: [4, 16_384], iops: { least: 100, most: 64_000, perGiB: 50, required: true }, multiAttach: true },
  io2: { size: [4, 65_536], iops: { least: 100, most: 256_000, perGiB: 1000, required: true }, multiAttach: true },
  sc1: { size: [125, 16_384], multiAttach: false },
  st1: { size: [125, 16_384], multiAttach: false },
  standard: { size: [1, 1024], multiAttach: false },
};

export const isVolumeType = (type: string): type is VolumeType => Object.hasOwn(rules, type);

export interface RequestedShape {
  readonly sizeGiB: number;
  readonly type: string;
  readonly iops?: number | undefined;
  readonly throughput?: number | undefined;
  readonly multiAttach: boolean;
}

/** The shape with its defaults. @throws CloudError */
export function checkedShape({ sizeGiB, type, iops, throughput, multiAttach }: RequestedShape): VolumeShape {
  if (!isVolumeType(type)) throw new CloudError('UnknownVolumeType', `Unsupported volume type '${type}' for volume creation.`);
  const { size, multiAttach: canMultiAttach } = rules[type];
  const [least, most] = size;
  if (sizeGiB < least) throw new CloudError('InvalidParameterValue', `Volume of ${sizeGiB}GiB is too small for volume type ${type}; minimum is ${least}GiB.`);
  if (sizeGiB > most) throw new CloudError('InvalidParameterValue', `Volume of ${sizeGiB}GiB is too large for volume type ${type}; maximum is ${most}GiB.`);
  if (multiAttach && !canMultiAttach)
    throw new CloudError('InvalidParameterCombination', `The parameter MultiAttachEnabled is not supported for ${type} volumes.`);
  return { sizeGiB, type, iops: checkedIops(type, iops, sizeGiB), throughput: checkedThroughput(type, throughput), multiAttach };
}

function checkedIops(type: VolumeType, iops: number | undefined, sizeGiB: number): number | undefined {
  const rule = rules[type].iops;
  if (rule === undefined) {
    if (iops !== undefined) throw new CloudError('InvalidParameterCombination', `The parameter iops is not supported for ${type} volumes.`);
    return type === 'gp2' ? Math.min(16_000, Math.max(100, 3 * sizeGiB)) : undefined;
  }
  if (iops === undefined) {
    if (rule.required) throw new CloudError('MissingParameter', `The request must contain the parameter iops for ${type} volumes.`);
    return rule.default;
  }
  if (iops < rule.least) throw new CloudError('InvalidParameterValue', `Volume iops of ${iops} is too low; minimum is ${rule.least}.`);
  if (iops > rule.most && type === 'io2') {
    const text = 'io2 volumes configured with greater than 64 TiB or 256K IOPS or 1000:1 IOPS:GB ratio are not supported';
    throw new CloudError('InvalidParameterCombination', text);
  }
  // The CSI driver reads the maximum from this text.
  if (iops > rule.most) throw new CloudError('InvalidParameterValue', `Volume iops of ${iops} is too high; maximum is ${rule.most}.`);
  const ratio = iops / sizeGiB;
  if (ratio > rule.perGiB && iops !== rule.default)
    throw new CloudError('InvalidParameterValue', `Iops to volume size ratio of ${ratio.toFixed(6)} is too high; maximum is ${rule.perGiB}.`);
  return iops;
}

function checkedThroughput(type: VolumeType, throughput: number | undefined): number | undefined {
  const rule = rules[type].throughput;
  if (rule === undefined) {
    if (throughput !== undefined) throw new CloudError('InvalidParameterCombination', `The parameter throughput is not supported for ${type} volumes.`);
    return undefined;
  }
  if (throughput === undefined) return rule.default;
  if (throughput < rule.least || throughput > rule.most)
    throw new CloudError('InvalidParameterValue', `Throughput value ${throughput} is not valid; it must be between ${rule.least} and ${rule.most}.`);
  return throughput;
}
