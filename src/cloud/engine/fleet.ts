/** EC2's CreateFleet of type instant: as many instances as wanted, of the cheapest of the given types and subnets that has capacity. */
import type { Context, Outcome } from './context.ts';
import { CloudError } from './errors.ts';
import { checkCapacity, findType, launch, type RunInstancesRequest } from './instances.ts';
import type { InstanceType } from './instance-types.ts';
import { subnetsOf, type Subnet } from './network.ts';
import { spotPrice } from './offerings.ts';
import type { CapacityType, Instance } from './records.ts';
import { madeBefore, tokenChanges } from './tokens.ts';

export interface FleetRequest extends Pick<RunInstancesRequest, 'securityGroupIds' | 'tags' | 'volumeTags' | 'userData' | 'clientToken'> {
  readonly capacityType: CapacityType;
  readonly count: number;
  readonly overrides: readonly FleetOverride[];
}

export interface FleetOverride {
  readonly instanceType: string;
  /** One of them. */
  readonly subnetId?: string | undefined;
  readonly zone?: string | undefined;
  readonly imageId?: string | undefined;
}

export interface FleetError {
  readonly override: FleetOverride;
  readonly code: string;
  readonly message: string;
}

export interface Fleet {
  readonly id: string;
  /** Fewer than wanted, or none, if capacity is short: `errors` says where. */
  readonly instances: readonly Instance[];
  readonly errors: readonly FleetError[];
}

interface Candidate {
  readonly override: FleetOverride;
  readonly type: InstanceType;
  readonly subnet: Subnet;
  readonly price: number;
}

export function createFleet(request: FleetRequest, context: Context): Outcome<Fleet> {
  const { clientToken, ...parameters } = request;
  const token = { action: 'CreateFleet', clientToken, parameters };
  const made = madeBefore(token, context);
  if (made !== undefined) {
    const [id = '', ...ids] = made;
    return { value: { id, instances: ids.flatMap((each) => context.state.instances.get(each) ?? []), errors: [] }, changes: [] };
  }
  if (request.overrides.length === 0) throw new CloudError('MissingParameter', 'The request must contain the parameter LaunchTemplateConfigs');
  const { capacityType, count } = request;
  const id = context.newId('fleet');
  const errors: FleetError[] = [];
  for (const { override, type, subnet } of candidates(request, context)) {
    const problem = capacityProblem(type, { zone: subnet.zone, capacityType, count }, context);
    if (problem !== undefined) {
      errors.push({ override, code: problem.code, message: problem.message });
      continue;
    }
    const launched = launch({ ...request, ...(override.imageId === undefined ? {} : { imageId: override.imageId }), type, subnet, fleetId: id }, context);
    const resources = [id, ...launched.value.map((instance) => instance.id)];
    return { value: { id, instances: launched.value, errors }, changes: [...launched.changes, ...tokenChanges(token, resources, context)] };
  }
  return { value: { id, instances: [], errors }, changes: [] };
}

/** The cheapest first: lowest-price, and price-capacity-optimized where every pool is as deep as any other. */
function candidates({ overrides, capacityType }: FleetRequest, { region }: Context): readonly Candidate[] {
  const subnets = subnetsOf(region);
  return overrides
    .flatMap((override): readonly Candidate[] => {
      const type = findType(override.instanceType);
      const chosen = subnets.filter(({ id, zone }) => id === (override.subnetId ?? id) && zone === (override.zone ?? zone));
      if (chosen.length === 0) {
        if (override.subnetId !== undefined) throw new CloudError('InvalidSubnetID.NotFound', `The subnet ID '${override.subnetId}' does not exist`);
        throw new CloudError('InvalidParameterValue', `Invalid availability zone: [${override.zone ?? ''}]`);
      }
      return chosen.map((subnet) => ({ override, type, subnet, price: capacityType === 'spot' ? spotPrice(type, subnet.zone) : type.price }));
    })
    .sort((a, b) => a.price - b.price);
}

function capacityProblem(type: InstanceType, placement: Parameters<typeof checkCapacity>[1], context: Context): CloudError | undefined {
  try {
    checkCapacity(type, placement, context);
    return undefined;
  } catch (error) {
    if (error instanceof CloudError) return error;
    throw error;
  }
}
