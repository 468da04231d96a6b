import { CloudError } from '../../engine/errors.ts';
import { createFleet, type FleetOverride } from '../../engine/fleet.ts';
import { findInstances, type RunInstancesRequest, runInstances, terminateInstances } from '../../engine/instances.ts';
import { findLaunchTemplate } from '../../engine/launch-templates.ts';
import { accountId, vpcId } from '../../engine/network.ts';
import type { Instance } from '../../engine/records.ts';
import { privateDnsName } from '../../engine/regions.ts';
import { type Filters, filterOf, pageOf, tagsFor } from '../listing.ts';
import type { Parameters } from '../parameters.ts';
import type { Answer } from '../xml.ts';
import { type Action, answer, written } from './action.ts';
import { describedInstance, instanceState } from './described-instance.ts';

const reservation = (reservationId: string, instances: readonly Answer[]): Answer => ({
  reservationId,
  ownerId: accountId,
  groupSet: [],
  instancesSet: instances,
});

/** What changes nothing that this cloud has. */
const cosmetic = [
  'KeyName',
  'Monitoring',
  'EbsOptimized',
  'MetadataOptions',
  'IamInstanceProfile',
  'CreditSpecification',
  'MaintenanceOptions',
  'PrivateDnsNameOptions',
];

const runInstancesAction: Action = (parameters, cloud) => {
  parameters.ignore(...cosmetic, 'DisableApiTermination', 'InstanceInitiatedShutdownBehavior', 'BlockDeviceMapping');
  const market = parameters.structure('InstanceMarketOptions');
  // Its prices do not change, and it interrupts nothing; a limit of the price would be one without effect.
  market?.structure('SpotOptions')?.ignore('SpotInstanceType', 'InstanceInterruptionBehavior');
  const template = parameters.structure('LaunchTemplate');
  const named = template === undefined ? undefined : { id: template.text('LaunchTemplateId'), name: template.text('LaunchTemplateName') };
  template?.ignore('Version');
  const placement = parameters.structure('Placement');
  placement?.ignore('Tenancy');
  const userData = parameters.text('UserData');
  const request: RunInstancesRequest = {
    instanceType: parameters.text('InstanceType') ?? 'm5.large',
    imageId: parameters.text('ImageId'),
    count: { least: parameters.number('MinCount') ?? 1, most: parameters.number('MaxCount') ?? 1 },
    subnetId: parameters.text('SubnetId'),
    zone: placement?.text('AvailabilityZone'),
    capacityType: market?.text('MarketType') === 'spot' ? 'spot' : 'on-demand',
    securityGroupIds: parameters.texts('SecurityGroupId'),
    tags: tagsFor(parameters, 'instance', ['volume', 'network-interface', 'spot-instances-request']),
    volumeTags: tagsFor(parameters, 'volume', ['instance', 'network-interface', 'spot-instances-request']),
    userData: userData === undefined ? undefined : decodedUserData(userData),
    clientToken: parameters.text('ClientToken'),
  };
  return (context) => {
    const data = named === undefined ? undefined : findLaunchTemplate(named, context).data;
    const full = { ...request, imageId: request.imageId ?? data?.imageId, userData: request.userData ?? data?.userData };
    return written(runInstances(full, context), (instances) =>
      reservation(
        instances[0]?.reservationId ?? '',
        instances.map((instance) => describedInstance(instance, cloud)),
      ),
    );
  };
};

/** @throws CloudError */
export function decodedUserData(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
  } catch {
    throw new CloudError('InvalidParameterValue', 'Invalid BASE64 encoding of user data.');
  }
}

/** How a fleet is spread over offers, and what an interruption does: this cloud launches the cheapest, and interrupts nothing. */
const allocation = [
  'AllocationStrategy',
  'CapacityReservationOptions',
  'InstanceInterruptionBehavior',
  'InstancePoolsToUseCount',
  'MaintenanceStrategies',
  'SingleAvailabilityZone',
  'SingleInstanceType',
];

const createFleetAction: Action = (parameters) => {
  const type = parameters.text('Type') ?? 'maintain';
  if (type !== 'instant') throw new CloudError('UnsupportedOperation', `Fleets of type '${type}' are not supported by this cloud; 'instant' is.`);
  parameters.ignore('Context', 'ReservedCapacityOptions', 'ExcessCapacityTerminationPolicy');
  for (const options of ['SpotOptions', 'OnDemandOptions']) parameters.structure(options)?.ignore(...allocation);
  const target = parameters.structure('TargetCapacitySpecification');
  target?.ignore('OnDemandTargetCapacity', 'SpotTargetCapacity', 'TargetCapacityUnitType');
  const capacityType = target?.text('DefaultTargetCapacityType') === 'spot' ? ('spot' as const) : ('on-demand' as const);
  const configurations = parameters.structures('LaunchTemplateConfigs').map(fleetConfiguration);
  const common = {
    capacityType,
    count: target?.number('TotalTargetCapacity') ?? 1,
    tags: tagsFor(parameters, 'instance', ['volume', 'fleet', 'network-interface', 'spot-instances-request', 'launch-template']),
    volumeTags: tagsFor(parameters, 'volume', ['instance', 'fleet', 'network-interface', 'spot-instances-request', 'launch-template']),
    clientToken: parameters.text('ClientToken'),
  };
  return (context) => {
    const templates = configurations.map(({ template }) => findLaunchTemplate(template, context));
    const overrides = configurations.flatMap((configuration, i) =>
      configuration.overrides.map((override) => ({ ...override, imageId: override.imageId ?? templates[i]?.data.imageId })),
    );
    const data = templates[0]?.data;
    const request = {
      ...common,
      overrides,
      userData: data?.userData,
      tags: { ...data?.instanceTags, ...common.tags },
      ...(data === undefined || data.securityGroupIds.length === 0 ? {} : { securityGroupIds: data.securityGroupIds }),
    };
    return written(createFleet(request, context), ({ id, instances, errors }) => ({
      fleetId: id,
      errorSet: errors.map(({ override, code, message }) => ({
        launchTemplateAndOverrides: { overrides: overrideAnswer(override) },
        lifecycle: capacityType,
        errorCode: code,
        errorMessage: message,
      })),
      fleetInstanceSet: instances.map((instance) => ({
        launchTemplateAndOverrides: { overrides: { instanceType: instance.type, subnetId: instance.subnetId, availabilityZone: instance.zone } },
        lifecycle: capacityType,
        instanceIds: [instance.id],
        instanceType: instance.type,
      })),
    }));
  };
};

const overrideAnswer = ({ instanceType, subnetId, zone, imageId }: FleetOverride): Answer => ({ instanceType, subnetId, availabilityZone: zone, imageId });

function fleetConfiguration(configuration: Parameters) {
  const specification = configuration.structure('LaunchTemplateSpecification');
  specification?.ignore('Version');
  const template = { id: specification?.text('LaunchTemplateId'), name: specification?.text('LaunchTemplateName') };
  const overrides = configuration.structures('Overrides').map((override): FleetOverride => {
    override.ignore('Priority', 'WeightedCapacity');
    return {
      instanceType: override.requiredText('InstanceType'),
      subnetId: override.text('SubnetId'),
      zone: override.text('AvailabilityZone'),
      imageId: override.text('ImageId'),
    };
  });
  return { template, overrides };
}

const terminateInstancesAction: Action = (parameters) => {
  const ids = parameters.texts('InstanceId') ?? [];
  parameters.ignore('Force', 'SkipOsShutdown');
  return (context) =>
    written(terminateInstances(ids, context), (changes) => ({
      instancesSet: changes.map(({ id, before, after }) => ({ instanceId: id, currentState: instanceState(after), previousState: instanceState(before) })),
    }));
};

const filters = (region: string, vpc: string): Filters<Instance> => ({
  'availability-zone': ({ zone }) => [zone],
  'block-device-mapping.volume-id': ({ rootVolumeId }) => [rootVolumeId],
  'client-token': ({ clientToken }) => [clientToken],
  'image-id': ({ imageId }) => [imageId],
  'instance-id': ({ id }) => [id],
  'instance-lifecycle': ({ capacityType }) => [capacityType === 'spot' ? 'spot' : undefined],
  'instance-state-name': ({ state }) => [state],
  'instance-type': ({ type }) => [type],
  'private-dns-name': ({ privateAddress }) => [privateDnsName(privateAddress, region)],
  'private-ip-address': ({ privateAddress }) => [privateAddress],
  'subnet-id': ({ subnetId }) => [subnetId],
  'vpc-id': () => [vpc],
});

const describeInstancesAction: Action = (parameters, cloud) => {
  const ids = parameters.texts('InstanceId');
  parameters.ignore('IncludeManagedResources');
  const passes = filterOf(parameters, filters(cloud.region.name, vpcId(cloud.region)), ({ tags }) => tags);
  const page = pageOf(parameters, { ids: 'InstanceId' });
  return (context) => {
    const found = ids === undefined ? [...context.state.instances.values()] : findInstances(context, ids);
    const { items, nextToken } = page(found.filter(passes), ({ reservationId, id }) => `${reservationId} ${id}`);
    const groups = new Map<string, Instance[]>();
    for (const instance of items) groups.set(instance.reservationId, [...(groups.get(instance.reservationId) ?? []), instance]);
    return answer({
      reservationSet: Array.from(groups, ([id, instances]) =>
        reservation(
          id,
          instances.map((instance) => describedInstance(instance, cloud)),
        ),
      ),
      nextToken,
    });
  };
};

const statusFilters: Filters<Instance> = {
  'availability-zone': ({ zone }) => [zone],
  'instance-state-name': ({ state }) => [state],
};

/** Status checks fail for instances that do not answer. */
const describeInstanceStatusAction: Action = (parameters, cloud) => {
  const ids = parameters.texts('InstanceId');
  const includesAll = parameters.boolean('IncludeAllInstances') ?? false;
  const passes = filterOf(parameters, statusFilters);
  const page = pageOf(parameters, { ids: 'InstanceId' });
  return (context) => {
    const found = ids === undefined ? [...context.state.instances.values()] : findInstances(context, ids);
    const { items, nextToken } = page(
      found.filter((instance) => passes(instance) && (includesAll || instance.state === 'running')),
      ({ id }) => id,
    );
    const summary = (instance: Instance): Answer => {
      const isImpaired = cloud.faults.isFrozen(instance);
      const status = instance.state === 'running' ? (isImpaired ? 'impaired' : 'ok') : 'not-applicable';
      return { status, details: instance.state === 'running' ? [{ name: 'reachability', status: isImpaired ? 'failed' : 'passed' }] : [] };
    };
    return answer({
      instanceStatusSet: items.map((instance) => ({
        instanceId: instance.id,
        availabilityZone: instance.zone,
        instanceState: instanceState(instance.state),
        systemStatus: summary(instance),
        instanceStatus: summary(instance),
      })),
      nextToken,
    });
  };
};

export const instanceActions: Readonly<Record<string, Action>> = {
  CreateFleet: createFleetAction,
  DescribeInstances: describeInstancesAction,
  DescribeInstanceStatus: describeInstanceStatusAction,
  RunInstances: runInstancesAction,
  TerminateInstances: terminateInstancesAction,
};
