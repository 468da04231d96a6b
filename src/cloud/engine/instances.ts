import type { Context, Outcome } from './context.ts';
import { CloudError } from './errors.ts';
import { instanceTypes, type InstanceType } from './instance-types.ts';
import { drawLatency } from './latency.ts';
import { freeAddress, imagesOf, securityGroupId, subnetsOf, type Subnet } from './network.ts';
import { isOffered } from './offerings.ts';
import type { CapacityType, Change, Instance, Tags, Volume } from './records.ts';
import { madeBefore, tokenChanges } from './tokens.ts';

export interface RunInstancesRequest {
  readonly instanceType: string;
  /** Absent: the image of the type's architecture. */
  readonly imageId?: string | undefined;
  readonly count?: { readonly least: number; readonly most: number } | undefined;
  /** Either of them; absent: the first zone that has the type. */
  readonly subnetId?: string | undefined;
  readonly zone?: string | undefined;
  readonly capacityType?: CapacityType | undefined;
  readonly securityGroupIds?: readonly string[] | undefined;
  readonly tags?: Tags | undefined;
  readonly volumeTags?: Tags | undefined;
  /** Text, not base64. */
  readonly userData?: string | undefined;
  readonly clientToken?: string | undefined;
}

export function runInstances(request: RunInstancesRequest, context: Context): Outcome<readonly Instance[]> {
  const { clientToken, ...parameters } = request;
  const token = { action: 'RunInstances', clientToken, parameters };
  const made = madeBefore(token, context);
  if (made !== undefined) return { value: made.map((id) => findInstance(context, id)), changes: [] };
  const type = findType(request.instanceType);
  const subnet = subnetFor(request, context);
  const { least = 1, most = 1 } = request.count ?? {};
  if (least < 1 || most < least) throw new CloudError('InvalidParameterValue', `Invalid value '${most}' for instance count`);
  const capacityType = request.capacityType ?? 'on-demand';
  checkCapacity(type, { zone: subnet.zone, capacityType, count: least }, context);
  const launched = launch({ ...request, type, subnet, capacityType, count: most }, context);
  return {
    value: launched.value,
    changes: [
      ...launched.changes,
      ...tokenChanges(
        token,
        launched.value.map(({ id }) => id),
        context,
      ),
    ],
  };
}

export interface Launch extends Pick<RunInstancesRequest, 'imageId' | 'securityGroupIds' | 'tags' | 'volumeTags' | 'userData' | 'clientToken'> {
  readonly type: InstanceType;
  readonly subnet: Subnet;
  readonly capacityType: CapacityType;
  readonly count: number;
  readonly fleetId?: string | undefined;
}

/** New instances, each with its root volume. Their capacity was checked. */
export function launch(options: Launch, context: Context): Outcome<readonly Instance[]> {
  const { type, subnet, count } = options;
  const { region, newId } = context;
  const image = imagesOf(region).find(({ id, architecture }) => (options.imageId === undefined ? architecture === type.architecture : id === options.imageId));
  if (image === undefined) throw new CloudError('InvalidAMIID.NotFound', `The image id '[${options.imageId ?? ''}]' does not exist`);
  if (image.architecture !== type.architecture) {
    const text = `The architecture '${type.architecture}' of the specified instance type does not match the architecture '${image.architecture}' of the specified AMI. Specify an instance type and an AMI that have matching architectures, and try again.`;
    throw new CloudError('InvalidParameterValue', text);
  }
  const reservationId = newId('r');
  const taken = new Set<string>();
  const pairs = Array.from({ length: count }, () => {
    const address = freeAddress(subnet, (each) => taken.has(each) || context.state.isAddressUsed(each), context.random);
    if (address === undefined)
      throw new CloudError('InsufficientFreeAddressesInSubnet', `The specified subnet does not have enough free addresses to satisfy the request.`);
    taken.add(address);
    return newInstance(options, { address, imageId: image.id, reservationId }, context);
  });
  const changes: readonly Change[] = pairs.flatMap(({ instance, root }) => [
    { in: 'instances', id: instance.id, record: instance },
    { in: 'volumes', id: root.id, record: root },
  ]);
  return { value: pairs.map(({ instance }) => instance), changes };
}

interface Placed {
  readonly address: string;
  readonly imageId: string;
  readonly reservationId: string;
}

function newInstance(options: Launch, { address, imageId, reservationId }: Placed, context: Context): { instance: Instance; root: Volume } {
  const { type, subnet, capacityType, tags = {}, volumeTags = {} } = options;
  const { now, newId, random, latencies, region } = context;
  const [id, rootVolumeId] = [newId('i'), newId('vol')];
  const instance: Instance = {
    id,
    type: type.name,
    zone: subnet.zone,
    capacityType,
    state: 'pending',
    launchTime: now,
    imageId,
    subnetId: subnet.id,
    securityGroupIds: options.securityGroupIds ?? [securityGroupId(region)],
    privateAddress: address,
    rootVolumeId,
    networkInterfaces: 1,
    tags,
    reservationId,
    clientToken: options.clientToken,
    userData: options.userData,
    fleetId: options.fleetId,
    due: { at: now + drawLatency(latencies.launch, random), to: 'running' },
  };
  const root: Volume = {
    id: rootVolumeId,
    zone: subnet.zone,
    sizeGiB: 20,
    type: 'gp3',
    iops: 3000,
    throughput: 125,
    encrypted: false,
    multiAttach: false,
    createTime: now,
    state: 'in-use',
    attachments: [{ instanceId: id, device: '/dev/xvda', state: 'attached', attachTime: now, deleteOnTermination: true }],
    tags: volumeTags,
  };
  return { instance, root };
}

/** @throws CloudError */
export function findType(name: string): InstanceType {
  const type = instanceTypes.get(name);
  if (type === undefined) throw new CloudError('InvalidParameterValue', `Invalid value '${name}' for InstanceType.`);
  return type;
}

function subnetFor({ subnetId, zone, instanceType }: RunInstancesRequest, { region }: Context): Subnet {
  const all = subnetsOf(region);
  if (subnetId !== undefined) {
    const subnet = all.find(({ id }) => id === subnetId);
    if (subnet === undefined) throw new CloudError('InvalidSubnetID.NotFound', `The subnet ID '${subnetId}' does not exist`);
    if (zone !== undefined && zone !== subnet.zone)
      throw new CloudError('InvalidParameterValue', `The availability zone '${zone}' does not match the subnet's, '${subnet.zone}'`);
    return subnet;
  }
  const subnet = all.find((each) => (zone === undefined ? isOffered(instanceType, each.zone) : each.zone === zone));
  if (subnet === undefined) throw new CloudError('InvalidParameterValue', `Invalid availability zone: [${zone ?? ''}]`);
  return subnet;
}

export interface Placement {
  readonly zone: string;
  readonly capacityType: CapacityType;
  readonly count: number;
}

/** @throws CloudError */
export function checkCapacity(type: InstanceType, { zone, capacityType, count }: Placement, { state, quotas, faults, region }: Context): void {
  if (!isOffered(type.name, zone)) {
    const text = `Your requested instance type (${type.name}) is not supported in your requested Availability Zone (${zone}). Please retry your request by not specifying an Availability Zone or choosing ${region.zones
      .map(({ name }) => name)
      .filter((name) => isOffered(type.name, name))
      .join(', ')}.`;
    throw new CloudError('Unsupported', text);
  }
  if (faults.lacksCapacity(type.name, zone, capacityType)) {
    const text = `We currently do not have sufficient ${type.name} capacity in the Availability Zone you requested (${zone}). Our system will be working on provisioning additional capacity.`;
    throw new CloudError('InsufficientInstanceCapacity', text);
  }
  let used = 0;
  for (const instance of state.instances.values()) {
    if (instance.state === 'terminated' || instance.state === 'shutting-down' || instance.capacityType !== capacityType) continue;
    used += instanceTypes.get(instance.type)?.vcpus ?? 0;
  }
  const most = capacityType === 'spot' ? quotas.spotVcpus : quotas.onDemandVcpus;
  if (used + count * type.vcpus <= most) return;
  if (capacityType === 'spot') throw new CloudError('MaxSpotInstanceCountExceeded', 'Max spot instance count exceeded');
  const text = `You have requested more vCPU capacity than your current vCPU limit of ${most} allows for the instance bucket that the specified instance type belongs to.`;
  throw new CloudError('VcpuLimitExceeded', text);
}

export interface StateChange {
  readonly id: string;
  readonly before: Instance['state'];
  readonly after: Instance['state'];
}

/** All or none: an unknown id refuses the whole call. */
export function terminateInstances(ids: readonly string[], context: Context): Outcome<readonly StateChange[]> {
  const found = findInstances(context, ids);
  const ended = found.filter(({ state }) => state !== 'terminated' && state !== 'shutting-down').map((instance) => shuttingDown(instance, context));
  return {
    value: found.map(({ id, state }) => ({ id, before: state, after: state === 'terminated' ? state : 'shutting-down' })),
    changes: ended.map((instance) => ({ in: 'instances', id: instance.id, record: instance })),
  };
}

const userInitiated = { code: 'Client.UserInitiatedShutdown', message: 'Client.UserInitiatedShutdown: User initiated shutdown' };

export function shuttingDown(instance: Instance, { now, random, latencies }: Context, stateReason = userInitiated): Instance {
  return { ...instance, state: 'shutting-down', stateReason, due: { at: now + drawLatency(latencies.terminate, random), to: 'terminated' } };
}

/** @throws CloudError */
export function findInstance(context: Context, id: string): Instance {
  const [instance] = findInstances(context, [id]);
  if (instance === undefined) throw new CloudError('InvalidInstanceID.NotFound', `The instance ID '${id}' does not exist`);
  return instance;
}

/** @throws CloudError that names all that do not exist */
export function findInstances({ state }: Context, ids: readonly string[]): readonly Instance[] {
  const missing = ids.filter((id) => !state.instances.has(id));
  const malformed = ids.find((id) => !/^i-[0-9a-f]{8,17}$/.test(id));
  if (malformed !== undefined) throw new CloudError('InvalidInstanceID.Malformed', `Invalid id: "${malformed}"`);
  if (missing.length === 1) throw new CloudError('InvalidInstanceID.NotFound', `The instance ID '${missing[0] ?? ''}' does not exist`);
  if (missing.length > 1) throw new CloudError('InvalidInstanceID.NotFound', `The instance IDs '${missing.join(', ')}' do not exist`);
  return ids.flatMap((id) => state.instances.get(id) ?? []);
}
