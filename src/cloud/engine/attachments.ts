import type { Context, Outcome } from './context.ts';
import { CloudError } from './errors.ts';
import { instanceTypes, mostVolumes } from './instance-types.ts';
import { findInstance } from './instances.ts';
import { drawLatency } from './latency.ts';
import type { Attachment, Instance, Volume } from './records.ts';
import { checkZone, findVolume, incorrectState } from './volumes.ts';

export interface AttachVolumeRequest {
  readonly volumeId: string;
  readonly instanceId: string;
  readonly device: string;
}

export interface VolumeAttachment extends Attachment {
  readonly volumeId: string;
}

/** Of a volume that may be attached to several instances. */
const mostInstances = 16;

export function attachVolume({ volumeId, instanceId, device }: AttachVolumeRequest, context: Context): Outcome<VolumeAttachment> {
  const volume = findVolume(context, volumeId);
  const instance = findInstance(context, instanceId);
  checkAttachable(volume, instance);
  checkZone(volume.zone, context);
  checkDevice(device, instance, context);
  const { now, random, latencies, faults } = context;
  const isStuck = faults.staysAttaching(volumeId, instanceId, random);
  const attachment: Attachment = {
    instanceId,
    device,
    state: 'attaching',
    attachTime: now,
    deleteOnTermination: false,
    due: isStuck ? undefined : { at: now + drawLatency(latencies.attach, random), to: 'attached' },
  };
  const attached: Volume = { ...volume, state: 'in-use', attachments: [...volume.attachments, attachment] };
  return { value: { ...attachment, volumeId }, changes: [{ in: 'volumes', id: volumeId, record: attached }] };
}

function checkAttachable(volume: Volume, instance: Instance): void {
  if (instance.state !== 'running' && instance.state !== 'stopped') throw new CloudError('IncorrectState', `Instance '${instance.id}' is not 'running'.`);
  if (volume.zone !== instance.zone)
    throw new CloudError('InvalidVolume.ZoneMismatch', `The volume '${volume.id}' is not in the same availability zone as instance '${instance.id}'`);
  const isOpen = volume.state === 'available' || (volume.state === 'in-use' && volume.multiAttach && volume.attachments.length < mostInstances);
  if (volume.attachments.some(({ instanceId }) => instanceId === instance.id) || (volume.state === 'in-use' && !isOpen))
    throw new CloudError('VolumeInUse', `${volume.id} is already attached to an instance`);
  if (!isOpen) throw incorrectState(volume.id, 'available');
}

function checkDevice(device: string, instance: Instance, { state }: Context): void {
  const attached = state.attachedTo(instance.id);
  if (!/^(\/dev\/(xvd|sd)[a-z]{1,2}\d{0,2}|xvd[a-z]{1,2})$/.test(device) || (device.startsWith('/dev/xvd') && device > '/dev/xvddx' && device.length > 9))
    throw new CloudError('InvalidParameterValue', `Value (${device}) for parameter device is invalid. ${device} is not a valid EBS device name.`);
  if (attached.some(({ attachment }) => attachment.device === device)) {
    const text = `Invalid value '${device}' for unixDevice. Attachment point ${device} is already in use`;
    throw new CloudError('InvalidParameterValue', text);
  }
  const type = instanceTypes.get(instance.type);
  if (type !== undefined && attached.length >= mostVolumes(type, instance.networkInterfaces)) {
    const text = `The maximum number of attachments (${type.attachments.most}) for instance ${instance.id} of type ${instance.type} has been reached.`;
    throw new CloudError('AttachmentLimitExceeded', text);
  }
}

export interface DetachVolumeRequest {
  readonly volumeId: string;
  readonly instanceId?: string | undefined;
  readonly device?: string | undefined;
  readonly force?: boolean | undefined;
}

export function detachVolume({ volumeId, instanceId, device, force = false }: DetachVolumeRequest, context: Context): Outcome<VolumeAttachment> {
  const volume = findVolume(context, volumeId);
  if (volume.attachments.length === 0) throw new CloudError('IncorrectState', `Volume '${volumeId}' is in the '${volume.state}' state.`);
  if (instanceId !== undefined) findInstance(context, instanceId);
  const found = volume.attachments.filter((each) => each.instanceId === (instanceId ?? each.instanceId) && each.device === (device ?? each.device));
  const [attachment] = found;
  if (attachment === undefined)
    throw new CloudError(
      'InvalidAttachment.NotFound',
      `The volume '${volumeId}' is not attached to instance '${instanceId ?? ''}'${device === undefined ? '' : ` as device '${device}'`}.`,
    );
  if (found.length > 1) throw new CloudError('InvalidParameterCombination', `The volume '${volumeId}' is attached to several instances: name one.`);
  checkZone(volume.zone, context);
  const { now, random, latencies, faults, state } = context;
  const instance = state.instances.get(attachment.instanceId);
  if (attachment.state === 'detaching' && !force) return { value: { ...attachment, volumeId }, changes: [] };
  // An instance that answers nothing does not let go of its devices.
  const isHeld = !force && instance !== undefined && instance.state === 'running' && faults.isFrozen(instance);
  const detaching: Attachment = {
    ...attachment,
    state: isHeld ? 'busy' : 'detaching',
    due: isHeld ? undefined : { at: now + drawLatency(latencies.detach, random), to: 'detached' },
  };
  const record: Volume = { ...volume, attachments: volume.attachments.map((each) => (each === attachment ? detaching : each)) };
  return { value: { ...detaching, volumeId }, changes: [{ in: 'volumes', id: volumeId, record }] };
}
