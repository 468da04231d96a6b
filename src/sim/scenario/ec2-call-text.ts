import { child, parseXml, textOf } from '../../drivers/aws-ebs/xml.ts';
import type { Ec2Call } from '../cluster/simulated-ebs.ts';
import type { BackendCallRecord } from './simulated-backend.ts';

/** 'AttachVolume vol-0a… to i-0b…', with EC2's refusal if it was one; undefined: the call only reads. */
export function ec2CallText({ form, answer }: Ec2Call): Pick<BackendCallRecord, 'call' | 'failure'> | undefined {
  const of = (name: string): string => form.get(name) ?? '';
  const text = texts[of('Action')]?.(of);
  if (text === undefined) return undefined;
  if (answer.status === 200) return { call: text };
  const error = child(child(parseXml(answer.body), 'Errors'), 'Error');
  return { call: text, failure: { code: textOf(error, 'Code'), message: textOf(error, 'Message') } };
}

const texts: Readonly<Record<string, (of: (name: string) => string) => string>> = {
  CreateVolume: (of) => `CreateVolume in ${of('AvailabilityZone')}`,
  DeleteVolume: (of) => `DeleteVolume ${of('VolumeId')}`,
  AttachVolume: (of) => `AttachVolume ${of('VolumeId')} to ${of('InstanceId')}`,
  DetachVolume: (of) => `DetachVolume ${of('VolumeId')} from ${of('InstanceId')}${of('Force') === 'true' ? ' by force' : ''}`,
  ModifyVolume: (of) => `ModifyVolume ${of('VolumeId')}`,
};
