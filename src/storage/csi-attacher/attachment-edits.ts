/** Attachments and volumes with one thing changed; the very same object if that changes nothing. */
import type { PersistentVolume, VolumeAttachment, VolumeAttachmentStatus } from '../../api/generated/types.ts';
import { withAnnotations, withFinalizers } from '../volumes/edits.ts';
import type { KubeObject } from '../../api/object.ts';

const nodeIdAnnotation = 'csi.alpha.kubernetes.io/node-id';

/** The finalizer of external-attacher, by the driver's name. */
export function finalizerOf(driver: string): string {
  const name = driver.replaceAll(/[^a-zA-Z0-9-]/g, '-');
  return `external-attacher/${name.endsWith('-') ? `${name}X` : name}`;
}

export const isHeld = ({ metadata }: KubeObject, driver: string): boolean => metadata.finalizers?.includes(finalizerOf(driver)) ?? false;

export const held = <T extends VolumeAttachment | PersistentVolume>(object: T, driver: string): T =>
  isHeld(object, driver) ? object : withFinalizers(object, [...(object.metadata.finalizers ?? []), finalizerOf(driver)]);

export const released = <T extends VolumeAttachment | PersistentVolume>(object: T, driver: string): T =>
  withFinalizers(
    object,
    (object.metadata.finalizers ?? []).filter((name) => name !== finalizerOf(driver)),
  );

/** The driver's name for the node stays on the attachment: the node may be gone when the volume is detached. */
export const withNodeId = (attachment: VolumeAttachment, nodeId: string): VolumeAttachment => withAnnotations(attachment, { [nodeIdAnnotation]: nodeId });

export const nodeIdOn = ({ metadata }: VolumeAttachment): string | undefined => metadata.annotations?.[nodeIdAnnotation];

export function attachedWith(attachment: VolumeAttachment, context: Readonly<Record<string, string>>): VolumeAttachment {
  const { attachError, attachmentMetadata = {}, ...rest } = attachment.status;
  if (rest.attached && attachError === undefined && sameEntries(attachmentMetadata, context)) return attachment;
  const metadata = Object.keys(context).length === 0 ? {} : { attachmentMetadata: { ...context } };
  return { ...attachment, status: { ...rest, attached: true, ...metadata } };
}

export function detached(attachment: VolumeAttachment): VolumeAttachment {
  const { detachError: _, attachmentMetadata: __, ...rest } = attachment.status;
  return attachment.status.attached ? { ...attachment, status: { ...rest, attached: false } } : attachment;
}

interface AttachmentFailure {
  readonly message: string;
  /** gRPC's number. */
  readonly errorCode?: number;
}

/** A kubelet that finds code 8 asks the driver for its volume limit anew. */
export const attachFailed = (attachment: VolumeAttachment, { message, errorCode }: AttachmentFailure, now: number): VolumeAttachment =>
  withError(attachment, 'attachError', { message, time: timeOf(now), ...(errorCode === undefined ? {} : { errorCode }) });

export const detachFailed = (attachment: VolumeAttachment, { message }: AttachmentFailure, now: number): VolumeAttachment =>
  withError(attachment, 'detachError', { message, time: timeOf(now) });

function withError(
  attachment: VolumeAttachment,
  field: 'attachError' | 'detachError',
  error: NonNullable<VolumeAttachmentStatus['attachError']>,
): VolumeAttachment {
  return { ...attachment, status: { ...attachment.status, [field]: error } };
}

const timeOf = (now: number): string => `${new Date(now).toISOString().slice(0, 19)}Z`;

const sameEntries = (a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([key, value]) => b[key] === value);
