import type { InstanceType, Offering } from './cloud-provider.ts';
import { labels } from './labels.ts';
import { allows, haveCommonNodes, type Requirements } from './requirements/requirements.ts';
import { allowsAbsence } from './requirements/value-set.ts';

const meets = ({ zone, capacityType, isAvailable }: Offering, requirements: Requirements): boolean =>
  isAvailable && allows(requirements, labels.zone, zone) && allows(requirements, labels.capacityType, capacityType);

/** The available offerings that meet the requirements, the cheapest first. */
export const offeringsFor = ({ offerings }: InstanceType, requirements: Requirements): readonly Offering[] =>
  offerings.filter((offering) => meets(offering, requirements)).toSorted((a, b) => a.price - b.price || (a.zone < b.zone ? -1 : 1));

/** Infinite: there is none. */
export function cheapestPrice({ offerings }: InstanceType, requirements: Requirements): number {
  let price = Number.POSITIVE_INFINITY;
  for (const offering of offerings) if (offering.price < price && meets(offering, requirements)) price = offering.price;
  return price;
}

const byPreference = ['reserved', 'spot', 'on-demand'] as const;

/** The most that a launch may cost: it takes the preferred capacity type, and any of its zones (WorstLaunchPrice). Infinite: there is no offering. */
export function worstPrice(type: InstanceType, requirements: Requirements): number {
  const offerings = offeringsFor(type, requirements);
  const preferred = byPreference.find((each) => offerings.some(({ capacityType }) => capacityType === each));
  return offerings.findLast(({ capacityType }) => capacityType === preferred)?.price ?? Number.POSITIVE_INFINITY;
}

/** Whether nodes of the type can meet the requirements. A label of instances that the type does not have is absent on its nodes. */
export function typeMeets({ requirements: offered }: InstanceType, requirements: Requirements): boolean {
  if (!haveCommonNodes(requirements, offered)) return false;
  for (const [key, set] of requirements) if (key.startsWith(instanceLabels) && !offered.has(key) && !allowsAbsence(set)) return false;
  return true;
}

const instanceLabels = 'karpenter.k8s.aws/instance-';

export interface Choice {
  readonly type: InstanceType;
  readonly offering: Offering;
}

/** What a NodeClaim can be launched as, the cheapest first. */
export function choicesFor(types: readonly InstanceType[], requirements: Requirements): readonly Choice[] {
  return types
    .filter((type) => typeMeets(type, requirements))
    .flatMap((type) => offeringsFor(type, requirements).map((offering) => ({ type, offering })))
    .toSorted((a, b) => a.offering.price - b.offering.price || compare(a.type.name, b.type.name) || compare(a.offering.zone, b.offering.zone));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
