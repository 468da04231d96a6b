import { createLaunchTemplate, deleteLaunchTemplate } from '../../engine/launch-templates.ts';
import { accountId } from '../../engine/network.ts';
import type { LaunchTemplate } from '../../engine/records.ts';
import { CloudError } from '../../engine/errors.ts';
import { type Filters, filterOf, pageOf, tagSet, tagsFor } from '../listing.ts';
import type { Answer } from '../xml.ts';
import { type Action, answer, written } from './action.ts';
import { decodedUserData } from './instances.ts';

const described = ({ id, name, createTime, tags }: LaunchTemplate): Answer => ({
  launchTemplateId: id,
  launchTemplateName: name,
  createTime,
  createdBy: `arn:aws:iam::${accountId}:user/mooring`,
  defaultVersionNumber: 1,
  latestVersionNumber: 1,
  tagSet: tagSet(tags),
});

const createLaunchTemplateAction: Action = (parameters) => {
  const data = parameters.structure('LaunchTemplateData');
  if (data === undefined) throw new CloudError('MissingParameter', 'The request must contain the parameter LaunchTemplateData');
  data.ignore(
    'BlockDeviceMapping',
    'IamInstanceProfile',
    'Monitoring',
    'MetadataOptions',
    'EbsOptimized',
    'KeyName',
    'PrivateDnsNameOptions',
    'CapacityReservationSpecification',
  );
  const interfaces = data.structures('NetworkInterface');
  const groups = interfaces.flatMap((each) => {
    each.ignore('AssociatePublicIpAddress', 'DeviceIndex', 'NetworkCardIndex', 'InterfaceType', 'Ipv6AddressCount', 'PrimaryIpv6');
    return each.texts('SecurityGroupId') ?? [];
  });
  const userData = data.text('UserData');
  const request = {
    name: parameters.requiredText('LaunchTemplateName'),
    tags: tagsFor(parameters, 'launch-template'),
    data: {
      imageId: data.text('ImageId'),
      userData: userData === undefined ? undefined : decodedUserData(userData),
      securityGroupIds: data.texts('SecurityGroupId') ?? groups,
      instanceTags: tagsFor(data, 'instance', ['volume', 'network-interface', 'spot-instances-request']),
    },
  };
  parameters.ignore('ClientToken', 'VersionDescription');
  return (context) => written(createLaunchTemplate(request, context), (template) => ({ launchTemplate: described(template) }));
};

const deleteLaunchTemplateAction: Action = (parameters) => {
  const name = { id: parameters.text('LaunchTemplateId'), name: parameters.text('LaunchTemplateName') };
  return (context) => written(deleteLaunchTemplate(name, context), (template) => ({ launchTemplate: described(template) }));
};

const filters: Filters<LaunchTemplate> = {
  'create-time': ({ createTime }) => [new Date(createTime).toISOString()],
  'launch-template-name': ({ name }) => [name],
};

const describeLaunchTemplatesAction: Action = (parameters) => {
  const [ids, names] = [parameters.texts('LaunchTemplateId'), parameters.texts('LaunchTemplateName')];
  const passes = filterOf(parameters, filters, ({ tags }) => tags);
  const page = pageOf(parameters, { least: 1, most: 200 });
  return ({ state }) => {
    const all = [...state.launchTemplates.values()];
    const missing = names?.find((name) => !all.some((template) => template.name === name));
    if (missing !== undefined || ids?.some((id) => !state.launchTemplates.has(id)) === true)
      throw new CloudError('InvalidLaunchTemplateName.NotFoundException', 'At least one of the launch templates specified in the request does not exist.');
    const found = all.filter((each) => (ids?.includes(each.id) ?? true) && (names?.includes(each.name) ?? true) && passes(each));
    const { items, nextToken } = page(found, ({ id }) => id);
    return answer({ launchTemplates: items.map(described), nextToken });
  };
};

export const launchTemplateActions: Readonly<Record<string, Action>> = {
  CreateLaunchTemplate: createLaunchTemplateAction,
  DeleteLaunchTemplate: deleteLaunchTemplateAction,
  DescribeLaunchTemplates: describeLaunchTemplatesAction,
};
