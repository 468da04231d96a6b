import { attachVolume, detachVolume, type VolumeAttachment } from '../../engine/attachments.ts';
import type { Context } from '../../engine/context.ts';
import { CloudError } from '../../engine/errors.ts';
import type { Attachment, Volume } from '../../engine/records.ts';
import { copyVolume, createVolume, deleteVolume, modifyVolume } from '../../engine/volumes.ts';
import { type Filters, filterOf, pageOf, pick, tagSet, tagsFor } from '../listing.ts';
import type { Parameters } from '../parameters.ts';
import type { Answer } from '../xml.ts';
import { type Action, answer, written } from './action.ts';

const volumeNotFound = ([id = '']: readonly string[]): CloudError =>
  /^vol-[0-9a-f]{8,17}$/.test(id)
    ? new CloudError('InvalidVolume.NotFound', `The volume '${id}' does not exist.`)
    : new CloudError('InvalidParameterValue', `Value (${id}) for parameter volumes is invalid. Expected: 'vol-...'.`);

export const volumeAttachment = ({ volumeId, instanceId, device, state, attachTime, deleteOnTermination }: VolumeAttachment): Answer => ({
  volumeId,
  instanceId,
  device,
  status: state,
  attachTime,
  deleteOnTermination,
});

const attachmentsOf = ({ id: volumeId, attachments }: Volume): readonly VolumeAttachment[] =>
  attachments.map((attachment: Attachment) => ({ ...attachment, volumeId }));

const describedVolume =
  ({ region }: Context) =>
  (volume: Volume): Answer => ({
    volumeId: volume.id,
    size: volume.sizeGiB,
    snapshotId: volume.snapshotId ?? '',
    availabilityZone: volume.zone,
    availabilityZoneId: region.zones.find(({ name }) => name === volume.zone)?.id,
    status: volume.state,
    createTime: volume.createTime,
    attachmentSet: attachmentsOf(volume).map(volumeAttachment),
    tagSet: tagSet(volume.tags),
    volumeType: volume.type,
    iops: volume.iops,
    throughput: volume.throughput,
    encrypted: volume.encrypted,
    kmsKeyId: volume.kmsKeyId,
    multiAttachEnabled: volume.multiAttach,
    sourceVolumeId: volume.sourceVolumeId,
  });

const shapeOf = (parameters: Parameters) => ({
  sizeGiB: parameters.number('Size'),
  type: parameters.text('VolumeType'),
  iops: parameters.number('Iops'),
  throughput: parameters.number('Throughput'),
  multiAttach: parameters.boolean('MultiAttachEnabled'),
});

const createVolumeAction: Action = (parameters, { region }) => {
  const [zone, zoneId] = [parameters.text('AvailabilityZone'), parameters.text('AvailabilityZoneId')];
  if (zone === undefined && zoneId === undefined) throw new CloudError('MissingParameter', 'The request must contain the parameter AvailabilityZone');
  if (zone !== undefined && zoneId !== undefined)
    throw new CloudError('InvalidParameterCombination', 'The parameter AvailabilityZone cannot be used with the parameter AvailabilityZoneId');
  const request = {
    ...shapeOf(parameters),
    zone: zone ?? region.zones.find(({ id }) => id === zoneId)?.name ?? zoneId ?? '',
    encrypted: parameters.boolean('Encrypted'),
    kmsKeyId: parameters.text('KmsKeyId'),
    snapshotId: emptyToUndefined(parameters.text('SnapshotId')),
    tags: tagsFor(parameters, 'volume'),
    clientToken: emptyToUndefined(parameters.text('ClientToken')),
  };
  return (context) => written(createVolume(request, context), describedVolume(context));
};

const emptyToUndefined = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

const copyVolumesAction: Action = (parameters) => {
  const request = {
    ...shapeOf(parameters),
    sourceVolumeId: parameters.requiredText('SourceVolumeId'),
    tags: tagsFor(parameters, 'volume'),
    clientToken: emptyToUndefined(parameters.text('ClientToken')),
  };
  return (context) => written(copyVolume(request, context), (volume) => ({ volumeSet: [describedVolume(context)(volume)] }));
};

const deleteVolumeAction: Action = (parameters) => {
  const id = parameters.requiredText('VolumeId');
  return (context) => written(deleteVolume(id, context), () => ({}));
};

const attachVolumeAction: Action = (parameters) => {
  const card = parameters.number('EbsCardIndex') ?? 0;
  if (card !== 0) throw new CloudError('InvalidParameterValue', `Value (${card}) for parameter EbsCardIndex is invalid: the instance has one EBS card.`);
  const request = {
    volumeId: parameters.requiredText('VolumeId'),
    instanceId: parameters.requiredText('InstanceId'),
    device: parameters.requiredText('Device'),
  };
  return (context) => written(attachVolume(request, context), volumeAttachment);
};

const detachVolumeAction: Action = (parameters) => {
  const request = {
    volumeId: parameters.requiredText('VolumeId'),
    instanceId: parameters.text('InstanceId'),
    device: parameters.text('Device'),
    force: parameters.boolean('Force'),
  };
  return (context) => written(detachVolume(request, context), volumeAttachment);
};

const modifyVolumeAction: Action = (parameters) => {
  const request = { ...shapeOf(parameters), volumeId: parameters.requiredText('VolumeId') };
  return (context) => written(modifyVolume(request, context), (volume) => ({ volumeModification: modificationOf(volume) }));
};

function modificationOf({ id, modification }: Volume): Answer {
  if (modification === undefined) return {};
  const { state, original, target, startTime, endTime } = modification;
  const progress = state === 'completed' ? 100 : state === 'optimizing' ? 50 : 0;
  return {
    volumeId: id,
    modificationState: state,
    targetSize: target.sizeGiB,
    targetVolumeType: target.type,
    targetIops: target.iops,
    targetThroughput: target.throughput,
    targetMultiAttachEnabled: target.multiAttach,
    originalSize: original.sizeGiB,
    originalVolumeType: original.type,
    originalIops: original.iops,
    originalThroughput: original.throughput,
    originalMultiAttachEnabled: original.multiAttach,
    progress,
    startTime,
    endTime,
  };
}

const volumeFilters: Filters<Volume> = {
  'attachment.attach-time': ({ attachments }) => attachments.map(({ attachTime }) => new Date(attachTime).toISOString()),
  'attachment.delete-on-termination': ({ attachments }) => attachments.map(({ deleteOnTermination }) => String(deleteOnTermination)),
  'attachment.device': ({ attachments }) => attachments.map(({ device }) => device),
  'attachment.instance-id': ({ attachments }) => attachments.map(({ instanceId }) => instanceId),
  'attachment.status': ({ attachments }) => attachments.map(({ state }) => state),
  'availability-zone': ({ zone }) => [zone],
  'create-time': ({ createTime }) => [new Date(createTime).toISOString()],
  encrypted: ({ encrypted }) => [String(encrypted)],
  'multi-attach-enabled': ({ multiAttach }) => [String(multiAttach)],
  size: ({ sizeGiB }) => [String(sizeGiB)],
  'snapshot-id': ({ snapshotId }) => [snapshotId],
  status: ({ state }) => [state],
  'volume-id': ({ id }) => [id],
  'volume-type': ({ type }) => [type],
};

const idOf = ({ id }: { readonly id: string }): string => id;

const describeVolumesAction: Action = (parameters) => {
  const ids = parameters.texts('VolumeId');
  const passes = filterOf(parameters, volumeFilters, ({ tags }) => tags);
  parameters.ignore('IncludeManagedResources');
  const page = pageOf(parameters, { ids: 'VolumeId' });
  return (context) => {
    const { items, nextToken } = page(pick(context.state.volumes, ids, volumeNotFound).filter(passes), idOf);
    return answer({ volumeSet: items.map(describedVolume(context)), nextToken });
  };
};

const statusFilters: Filters<Volume> = { 'availability-zone': ({ zone }) => [zone], 'volume-status.status': () => ['ok'] };

const describeVolumeStatusAction: Action = (parameters) => {
  const ids = parameters.texts('VolumeId');
  const passes = filterOf(parameters, statusFilters);
  parameters.ignore('IncludeManagedResources');
  const page = pageOf(parameters, { ids: 'VolumeId' });
  return (context) => {
    const { items, nextToken } = page(pick(context.state.volumes, ids, volumeNotFound).filter(passes), idOf);
    const details = [
      { name: 'io-enabled', status: 'passed' },
      { name: 'io-performance', status: 'not-applicable' },
    ];
    const volumeStatusSet = items.map(({ id, zone, state, snapshotId }) => ({
      volumeId: id,
      availabilityZone: zone,
      volumeStatus: { status: state === 'creating' ? 'insufficient-data' : 'ok', details },
      ...(snapshotId === undefined ? {} : { initializationStatusDetails: { progress: 100 } }),
    }));
    return answer({ volumeStatusSet, nextToken });
  };
};

const modificationFilters: Filters<Volume> = {
  'modification-state': ({ modification }) => [modification?.state],
  'volume-id': ({ id }) => [id],
};

const describeVolumesModificationsAction: Action = (parameters) => {
  const ids = parameters.texts('VolumeId');
  const passes = filterOf(parameters, modificationFilters);
  const page = pageOf(parameters, { ids: 'VolumeId' });
  return (context) => {
    const found = pick(context.state.volumes, ids, volumeNotFound).filter(({ modification }) => modification !== undefined);
    const missing = (ids ?? []).find((id) => !found.some((volume) => volume.id === id));
    if (missing !== undefined) throw new CloudError('InvalidVolumeModification.NotFound', `Modification for volume '${missing}' does not exist.`);
    const { items, nextToken } = page(found.filter(passes), idOf);
    return answer({ volumeModificationSet: items.map(modificationOf), nextToken });
  };
};

export const volumeActions: Readonly<Record<string, Action>> = {
  AttachVolume: attachVolumeAction,
  CopyVolumes: copyVolumesAction,
  CreateVolume: createVolumeAction,
  DeleteVolume: deleteVolumeAction,
  DescribeVolumes: describeVolumesAction,
  DescribeVolumeStatus: describeVolumeStatusAction,
  DescribeVolumesModifications: describeVolumesModificationsAction,
  DetachVolume: detachVolumeAction,
  ModifyVolume: modifyVolumeAction,
};
