/** Which instance type is offered where, and at which price. */
import type { Faults } from './faults.ts';
import { instanceTypes, type InstanceType } from './instance-types.ts';
import type { CapacityType } from './records.ts';
import type { Region } from './regions.ts';

export interface Offering {
  readonly zone: string;
  readonly capacityType: CapacityType;
  /** Dollars an hour. */
  readonly price: number;
  /** False: the cloud has none left. */
  readonly available: boolean;
}

/** Old hardware is not in every zone. */
export const isOffered = (type: string, zone: string): boolean => instanceTypes.has(type) && !(type.startsWith('m4.') && !/[ab]$/.test(zone));

/** Between a fifth and two fifths of the on-demand price, by type and zone. */
export function spotPrice(type: InstanceType, zone: string): number {
  let hash = 2_166_136_261;
  for (const character of `${type.name} ${zone}`) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  return Math.round(type.price * (0.2 + (hash % 1000) / 5000) * 1e4) / 1e4;
}

export function offeringsOf(type: InstanceType, { zones }: Region, faults: Faults): readonly Offering[] {
  return zones
    .filter(({ name }) => isOffered(type.name, name))
    .flatMap(({ name: zone }) =>
      (['on-demand', 'spot'] as const).map((capacityType) => ({
        zone,
        capacityType,
        price: capacityType === 'spot' ? spotPrice(type, zone) : type.price,
        available: !faults.lacksCapacity(type.name, zone, capacityType),
      })),
    );
}
