import type { Cloud } from '../../engine/cloud.ts';
import { instanceTypes } from '../../engine/instance-types.ts';
import { accountId, vpcId } from '../../engine/network.ts';
import type { Instance, InstanceState } from '../../engine/records.ts';
import { privateDnsName } from '../../engine/regions.ts';
import { tagSet } from '../listing.ts';
import type { Answer } from '../xml.ts';

/** EC2's number of each state. */
const codes: Readonly<Record<InstanceState, number>> = { pending: 0, running: 16, 'shutting-down': 32, terminated: 48, stopping: 64, stopped: 80 };

export const instanceState = (name: InstanceState): Answer => ({ code: codes[name], name });

/** An instance as DescribeInstances and RunInstances show it. */
export function describedInstance(instance: Instance, cloud: Cloud): Answer {
  const { id, type, zone, state, launchTime, imageId, subnetId, privateAddress, capacityType, tags, stateReason, clientToken } = instance;
  const { region } = cloud;
  const isEnded = state === 'terminated';
  const dnsName = isEnded ? '' : privateDnsName(privateAddress, region.name);
  const groupSet = instance.securityGroupIds.map((groupId) => ({ groupId, groupName: 'default' }));
  return {
    instanceId: id,
    imageId,
    instanceState: instanceState(state),
    privateDnsName: dnsName,
    dnsName: '',
    reason: stateReason?.message ?? '',
    amiLaunchIndex: 0,
    instanceType: type,
    launchTime,
    placement: { availabilityZone: zone, availabilityZoneId: region.zones.find(({ name }) => name === zone)?.id, groupName: '', tenancy: 'default' },
    monitoring: { state: 'disabled' },
    ...(isEnded ? {} : { subnetId, vpcId: vpcId(region), privateIpAddress: privateAddress }),
    architecture: instanceTypes.get(type)?.architecture,
    rootDeviceType: 'ebs',
    rootDeviceName: '/dev/xvda',
    blockDeviceMapping: cloud.describedAttachments(id).map(({ volume, attachment }) => ({
      deviceName: attachment.device,
      ebs: { volumeId: volume.id, status: attachment.state, attachTime: attachment.attachTime, deleteOnTermination: attachment.deleteOnTermination },
    })),
    virtualizationType: 'hvm',
    hypervisor: 'xen',
    clientToken: clientToken ?? '',
    ...(capacityType === 'spot' ? { instanceLifecycle: 'spot' } : {}),
    tagSet: tagSet(tags),
    groupSet: isEnded ? [] : groupSet,
    networkInterfaceSet: isEnded ? [] : networkInterfaces(instance, cloud, groupSet),
    ...(stateReason === undefined ? {} : { stateReason: { code: stateReason.code, message: stateReason.message } }),
    ebsOptimized: false,
    enaSupport: true,
    sourceDestCheck: true,
    metadataOptions: { state: 'applied', httpTokens: 'required', httpPutResponseHopLimit: 2, httpEndpoint: 'enabled' },
  };
}

function networkInterfaces(
  { id, subnetId, privateAddress, networkInterfaces: count }: Instance,
  { region }: Cloud,
  groupSet: readonly Answer[],
): readonly Answer[] {
  return Array.from({ length: count }, (_, deviceIndex) => ({
    networkInterfaceId: `eni-${id.slice('i-'.length)}`,
    subnetId,
    vpcId: vpcId(region),
    ownerId: accountId,
    status: 'in-use',
    macAddress: macAddressOf(privateAddress),
    privateIpAddress: privateAddress,
    privateDnsName: privateDnsName(privateAddress, region.name),
    sourceDestCheck: true,
    groupSet,
    attachment: { attachmentId: `eni-attach-${id.slice('i-'.length)}`, deviceIndex, status: 'attached', deleteOnTermination: true, networkCardIndex: 0 },
    interfaceType: 'interface',
  }));
}

/** '10.0.52.243' → '0a:ff:0a:00:34:f3' */
export const macAddressOf = (address: string): string =>
  ['0a', 'ff', ...address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'))].join(':');
