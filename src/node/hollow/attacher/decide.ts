import type { VolumeAttachment } from '../../../api/generated/types.ts';
import { timestamp } from '../../../api/kinds/timestamps.ts';
import type { Decision } from './actions.ts';

export interface AttachmentSight {
  readonly attachment: VolumeAttachment;
  /** How many volumes of the driver the node can have; undefined: any number. */
  readonly limit: number | undefined;
  /** How many others it has. */
  readonly others: number;
}

/** 'external-attacher/ebs-csi-aws-com' */
const finalizerOf = ({ spec }: VolumeAttachment): string => `external-attacher/${spec.attacher.replaceAll(/[^a-zA-Z0-9-]/g, '-')}`;

/** What the attacher of a CSI driver does, for drivers that nobody runs: a volume is where its attachment says. */
export function decideAttachment({ attachment, limit, others }: AttachmentSight, now: number): Decision {
  const { metadata, status } = attachment;
  const finalizer = finalizerOf(attachment);
  const finalizers = metadata.finalizers ?? [];
  if (metadata.deletionTimestamp !== undefined) {
    if (!finalizers.includes(finalizer)) return { actions: [], reasons: [{ code: 'Detached', text: 'the volume is detached' }] };
    const object = { ...attachment, metadata: { ...metadata, finalizers: finalizers.filter((each) => each !== finalizer) } };
    return { actions: [{ do: 'update', object }], reasons: [{ code: 'Detaching', text: 'the volume is to be detached' }] };
  }
  if (!finalizers.includes(finalizer)) {
    const object = { ...attachment, metadata: { ...metadata, finalizers: [...finalizers, finalizer] } };
    return { actions: [{ do: 'update', object }], reasons: [{ code: 'Attaching', text: 'the volume is to be attached' }] };
  }
  if (status.attached) return { actions: [], reasons: [{ code: 'Attached', text: 'the volume is attached' }] };
  return limit !== undefined && others >= limit ? refuse(attachment, limit, now) : attach(attachment);
}

const attach = (attachment: VolumeAttachment): Decision => ({
  actions: [{ do: 'answer', object: { ...attachment, status: { attached: true } }, taking: true }],
  reasons: [{ code: 'Attaching', text: 'there is room for the volume' }],
});

function refuse(attachment: VolumeAttachment, limit: number, now: number): Decision {
  const message = `rpc error: code = ResourceExhausted desc = node ${attachment.spec.nodeName} has no room for another volume: ${limit} are attached`;
  const reasons = [{ code: 'NoRoom', text: message }];
  if (attachment.status.attachError?.message === message) return { actions: [], reasons };
  const status = { attached: false, attachError: { time: timestamp(now), message, errorCode: 8 } };
  return { actions: [{ do: 'answer', object: { ...attachment, status }, taking: false }], reasons };
}
