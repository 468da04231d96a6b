/** What the cloud offers: regions, zones, types, prices, and the network that every account has. */
import { CloudError } from '../../engine/errors.ts';
import { instanceTypes, type InstanceType } from '../../engine/instance-types.ts';
import { accountId, type Image, imagesOf, securityGroupId, type Subnet, subnetsOf, vpcCidr, vpcId } from '../../engine/network.ts';
import { isOffered, spotPrice } from '../../engine/offerings.ts';
import { type Region, regions, type Zone } from '../../engine/regions.ts';
import { type Filters, filterOf, pageOf, pick } from '../listing.ts';
import type { Answer } from '../xml.ts';
import { type Action, answer } from './action.ts';

const byKey = <T>(records: readonly T[], keyOf: (record: T) => string): ReadonlyMap<string, T> => new Map(records.map((record) => [keyOf(record), record]));

const invalid =
  (text: (name: string) => string, code = 'InvalidParameterValue') =>
  ([name = '']: readonly string[]): CloudError =>
    new CloudError(code, text(name));

const zoneFilters = (region: Region, state: (zone: Zone) => string): Filters<Zone> => ({
  'group-name': () => [region.name],
  'opt-in-status': () => ['opt-in-not-required'],
  'region-name': () => [region.name],
  state: (zone) => [state(zone)],
  'zone-id': ({ id }) => [id],
  'zone-name': ({ name }) => [name],
  'zone-type': () => ['availability-zone'],
});

const describeAvailabilityZones: Action = (parameters, { region, faults }) => {
  const [names, ids] = [parameters.texts('ZoneName'), parameters.texts('ZoneId')];
  parameters.ignore('AllAvailabilityZones');
  const stateOf = ({ name }: Zone): string => (faults.isDark(name) ? 'impaired' : 'available');
  const passes = filterOf(parameters, zoneFilters(region, stateOf));
  return () => {
    const named = pick(
      byKey(region.zones, ({ name }) => name),
      names,
      invalid((name) => `Invalid availability zone: [${name}]`),
    );
    const found = pick(
      byKey(named, ({ id }) => id),
      ids,
      invalid((id) => `Invalid availability zone-id: [${id}]`),
    ).filter(passes);
    const availabilityZoneInfo = found.map((zone) => ({
      zoneName: zone.name,
      zoneState: stateOf(zone),
      regionName: region.name,
      zoneId: zone.id,
      groupName: `${region.name}-zg-1`,
      networkBorderGroup: region.name,
      zoneType: 'availability-zone',
      optInStatus: 'opt-in-not-required',
      messageSet: [],
    }));
    return answer({ availabilityZoneInfo });
  };
};

const describeRegions: Action = (parameters) => {
  const names = parameters.texts('RegionName');
  parameters.ignore('AllRegions');
  const passes = filterOf<Region>(parameters, { 'region-name': ({ name }) => [name], 'opt-in-status': () => ['opt-in-not-required'] });
  return () => {
    const found = pick(
      regions,
      names,
      invalid((name) => `Invalid region provided: ${name}`),
    ).filter(passes);
    return answer({
      regionInfo: found.map(({ name }) => ({ regionName: name, regionEndpoint: `ec2.${name}.amazonaws.com`, optInStatus: 'opt-in-not-required' })),
    });
  };
};

const typeFilters: Filters<InstanceType> = {
  'bare-metal': () => ['false'],
  'current-generation': ({ family }) => [String(family !== 'm4')],
  hypervisor: ({ hypervisor }) => [hypervisor],
  'instance-type': ({ name }) => [name],
  'memory-info.size-in-mib': ({ memoryMiB }) => [String(memoryMiB)],
  'processor-info.supported-architecture': ({ architecture }) => [architecture],
  'supported-usage-class': () => ['on-demand', 'spot'],
  'supported-virtualization-type': () => ['hvm'],
  'vcpu-info.default-vcpus': ({ vcpus }) => [String(vcpus)],
};

const describedType = (type: InstanceType): Answer => ({
  instanceType: type.name,
  currentGeneration: type.family !== 'm4',
  freeTierEligible: false,
  supportedUsageClasses: ['on-demand', 'spot'],
  supportedRootDeviceTypes: ['ebs'],
  supportedVirtualizationTypes: ['hvm'],
  bareMetal: false,
  hypervisor: type.hypervisor,
  processorInfo: {
    supportedArchitectures: [type.architecture],
    manufacturer: type.architecture === 'arm64' ? 'AWS' : type.family.endsWith('a') ? 'AMD' : 'Intel',
  },
  vCpuInfo: { defaultVCpus: type.vcpus },
  memoryInfo: { sizeInMiB: type.memoryMiB },
  instanceStorageSupported: false,
  ebsInfo: {
    ebsOptimizedSupport: 'default',
    encryptionSupport: 'supported',
    nvmeSupport: type.hypervisor === 'nitro' ? 'required' : 'unsupported',
    // What the model calls a shared limit counts the first network interface as well.
    maximumEbsAttachments: type.attachments.type === 'shared' ? type.attachments.most + 1 : type.attachments.most,
    attachmentLimitType: type.attachments.type,
  },
  networkInfo: {
    maximumNetworkInterfaces: type.networkInterfaces,
    maximumNetworkCards: 1,
    defaultNetworkCardIndex: 0,
    networkCards: [{ networkCardIndex: 0, maximumNetworkInterfaces: type.networkInterfaces }],
    ipv4AddressesPerInterface: type.addressesPerInterface,
    ipv6AddressesPerInterface: type.addressesPerInterface,
    ipv6Supported: true,
    enaSupport: 'required',
    efaSupported: false,
    encryptionInTransitSupported: type.hypervisor === 'nitro',
  },
  hibernationSupported: false,
  burstablePerformanceSupported: type.family.startsWith('t'),
  dedicatedHostsSupported: false,
  autoRecoverySupported: true,
});

const describeInstanceTypes: Action = (parameters) => {
  const names = parameters.texts('InstanceType');
  const passes = filterOf(parameters, typeFilters);
  const page = pageOf(parameters, { most: 100, ids: 'InstanceType' });
  return () => {
    const refuse = (missing: readonly string[]) =>
      new CloudError('InvalidInstanceType', `The following supplied instance types do not exist: [${missing.join(', ')}]`);
    const { items, nextToken } = page(pick(instanceTypes, names, refuse).filter(passes), ({ name }) => name);
    return answer({ instanceTypeSet: items.map(describedType), nextToken });
  };
};

interface OfferedType {
  readonly type: InstanceType;
  readonly location: string;
}

const describeInstanceTypeOfferings: Action = (parameters, { region }) => {
  const locationType = parameters.text('LocationType') ?? 'region';
  if (!['region', 'availability-zone', 'availability-zone-id'].includes(locationType))
    throw new CloudError('InvalidParameterValue', `The location type '${locationType}' is invalid`);
  const passes = filterOf<OfferedType>(parameters, { 'instance-type': ({ type }) => [type.name], location: ({ location }) => [location] });
  const page = pageOf(parameters);
  return () => {
    const all = [...instanceTypes.values()].flatMap((type): readonly OfferedType[] => {
      if (locationType === 'region') return [{ type, location: region.name }];
      const zones = region.zones.filter(({ name }) => isOffered(type.name, name));
      return zones.map(({ name, id }) => ({ type, location: locationType === 'availability-zone' ? name : id }));
    });
    const { items, nextToken } = page(all.filter(passes), ({ type, location }) => `${type.name} ${location}`);
    return answer({ instanceTypeOfferingSet: items.map(({ type, location }) => ({ instanceType: type.name, locationType, location })), nextToken });
  };
};

const spotFilters: Filters<OfferedType> = {
  'availability-zone': ({ location }) => [location],
  'instance-type': ({ type }) => [type.name],
  'product-description': () => ['Linux/UNIX'],
};

/** Prices do not change with time: each has one entry. */
const describeSpotPriceHistory: Action = (parameters, { region }) => {
  const [types, products, zone] = [parameters.texts('InstanceType'), parameters.texts('ProductDescription'), parameters.text('AvailabilityZone')];
  parameters.ignore('StartTime', 'EndTime');
  const passes = filterOf(parameters, spotFilters);
  const page = pageOf(parameters, { least: 1 });
  return ({ now }) => {
    const isLinux = products?.some((product) => product.startsWith('Linux/UNIX')) ?? true;
    const all = [...instanceTypes.values()].flatMap((type) =>
      region.zones.filter(({ name }) => isOffered(type.name, name) && (zone ?? name) === name).map(({ name }): OfferedType => ({ type, location: name })),
    );
    const found = all.filter((each) => isLinux && (types?.includes(each.type.name) ?? true) && passes(each));
    const { items, nextToken } = page(found, ({ type, location }) => `${type.name} ${location}`);
    const spotPriceHistorySet = items.map(({ type, location }) => ({
      instanceType: type.name,
      productDescription: 'Linux/UNIX',
      spotPrice: spotPrice(type, location).toFixed(6),
      timestamp: now - (now % 3_600_000),
      availabilityZone: location,
    }));
    return answer({ spotPriceHistorySet, nextToken: nextToken ?? '' });
  };
};

const imageFilters: Filters<Image> = {
  architecture: ({ architecture }) => [architecture],
  'image-id': ({ id }) => [id],
  name: ({ name }) => [name],
  'owner-id': () => [accountId],
  state: () => ['available'],
};

const describeImages: Action = (parameters, { region }) => {
  const ids = parameters.texts('ImageId');
  parameters.ignore('Owner', 'ExecutableBy', 'IncludeDeprecated', 'IncludeDisabled');
  const passes = filterOf(parameters, imageFilters, () => ({}));
  const page = pageOf(parameters, { ids: 'ImageId' });
  return () => {
    const refuse = (missing: readonly string[]) => new CloudError('InvalidAMIID.NotFound', `The image id '[${missing.join(', ')}]' does not exist`);
    const { items, nextToken } = page(
      pick(
        byKey(imagesOf(region), ({ id }) => id),
        ids,
        refuse,
      ).filter(passes),
      ({ id }) => id,
    );
    const imagesSet = items.map(({ id, name, architecture, createTime }) => ({
      imageId: id,
      imageLocation: `amazon/${name}`,
      imageState: 'available',
      imageOwnerId: accountId,
      isPublic: true,
      architecture,
      imageType: 'machine',
      name,
      creationDate: createTime,
      rootDeviceType: 'ebs',
      rootDeviceName: '/dev/xvda',
      virtualizationType: 'hvm',
      hypervisor: 'xen',
      enaSupport: true,
      tagSet: [],
    }));
    return answer({ imagesSet, nextToken });
  };
};

const describeSubnets: Action = (parameters, { region }) => {
  const ids = parameters.texts('SubnetId');
  const passes = filterOf<Subnet>(
    parameters,
    {
      'availability-zone': ({ zone }) => [zone],
      'availability-zone-id': ({ zoneId }) => [zoneId],
      'subnet-id': ({ id }) => [id],
      'vpc-id': () => [vpcId(region)],
    },
    () => discoveryTags,
  );
  const page = pageOf(parameters, { ids: 'SubnetId' });
  return ({ state }) => {
    const used = new Map<string, number>();
    for (const { subnetId, state: phase } of state.instances.values()) if (phase !== 'terminated') used.set(subnetId, (used.get(subnetId) ?? 0) + 1);
    const refuse = invalid((id) => `The subnet ID '${id}' does not exist`, 'InvalidSubnetID.NotFound');
    const { items, nextToken } = page(
      pick(
        byKey(subnetsOf(region), ({ id }) => id),
        ids,
        refuse,
      ).filter(passes),
      ({ id }) => id,
    );
    const subnetSet = items.map(({ id, zone, zoneId, cidr }) => ({
      subnetId: id,
      state: 'available',
      vpcId: vpcId(region),
      cidrBlock: cidr,
      availableIpAddressCount: 8000 - (used.get(id) ?? 0),
      availabilityZone: zone,
      availabilityZoneId: zoneId,
      defaultForAz: true,
      mapPublicIpOnLaunch: false,
      ownerId: accountId,
      tagSet: Object.entries(discoveryTags).map(([key, value]) => ({ key, value })),
    }));
    return answer({ subnetSet, nextToken });
  };
};

/** By which Karpenter's documentation selects subnets and security groups. */
const discoveryTags = { 'karpenter.sh/discovery': 'mooring', Name: 'mooring' };

const describeSecurityGroups: Action = (parameters, { region }) => {
  const [ids, names] = [parameters.texts('GroupId'), parameters.texts('GroupName')];
  const id = securityGroupId(region);
  const passes = filterOf<string>(
    parameters,
    { 'group-id': (group) => [group], 'group-name': () => ['default'], 'vpc-id': () => [vpcId(region)] },
    () => discoveryTags,
  );
  const page = pageOf(parameters, { ids: 'GroupId' });
  return () => {
    const refuse = invalid((group) => `The security group '${group}' does not exist`, 'InvalidGroup.NotFound');
    const named = pick(new Map([['default', id]]), names, refuse);
    const { items, nextToken } = page(
      pick(
        byKey(named, (group) => group),
        ids,
        refuse,
      ).filter(passes),
      (group) => group,
    );
    const securityGroupInfo = items.map((groupId) => ({
      groupId,
      groupName: 'default',
      groupDescription: 'default VPC security group',
      vpcId: vpcId(region),
      ownerId: accountId,
      tagSet: Object.entries(discoveryTags).map(([key, value]) => ({ key, value })),
      ipPermissions: [],
      ipPermissionsEgress: [],
    }));
    return answer({ securityGroupInfo, nextToken });
  };
};

const describeVpcs: Action = (parameters, { region }) => {
  const ids = parameters.texts('VpcId');
  const id = vpcId(region);
  const passes = filterOf<string>(parameters, { 'is-default': () => ['true'], 'vpc-id': (vpc) => [vpc], cidr: () => [vpcCidr] }, () => ({}));
  const page = pageOf(parameters, { ids: 'VpcId' });
  return () => {
    const refuse = invalid((vpc) => `The vpc ID '${vpc}' does not exist`, 'InvalidVpcID.NotFound');
    const { items, nextToken } = page(pick(new Map([[id, id]]), ids, refuse).filter(passes), (vpc) => vpc);
    const vpcSet = items.map((vpc) => ({
      vpcId: vpc,
      state: 'available',
      cidrBlock: vpcCidr,
      isDefault: true,
      ownerId: accountId,
      instanceTenancy: 'default',
    }));
    return answer({ vpcSet, nextToken });
  };
};

export const catalogueActions: Readonly<Record<string, Action>> = {
  DescribeAvailabilityZones: describeAvailabilityZones,
  DescribeImages: describeImages,
  DescribeInstanceTypeOfferings: describeInstanceTypeOfferings,
  DescribeInstanceTypes: describeInstanceTypes,
  DescribeRegions: describeRegions,
  DescribeSecurityGroups: describeSecurityGroups,
  DescribeSpotPriceHistory: describeSpotPriceHistory,
  DescribeSubnets: describeSubnets,
  DescribeVpcs: describeVpcs,
};
