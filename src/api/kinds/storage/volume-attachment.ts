import { type FieldError, forbidden, invalid, required, tooLong } from '../../field-error.ts';
import type { VolumeAttachment, VolumeAttachmentSource, VolumeAttachmentStatus, VolumeError } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { semanticallyEqual } from '../../validation/equality.ts';
import { goForm } from '../../validation/go-form.ts';
import { IMMUTABLE } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { validatePersistentVolumeSpec } from '../../validation/persistent-volume-spec.ts';
import { byteLength, outOfRange } from '../../validation/text.ts';
import { validateCsiDriverName } from '../../validation/volume-sources.ts';
import { ageColumn, booleanColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { keepMetadata } from '../status-metadata.ts';
import { everyVerb } from '../../verbs.ts';
import { defaultVolumeSources } from '../core/volume-source-defaults.ts';

const MAX_METADATA_SIZE = 256 * 1024;
const MAX_MESSAGE_LENGTH = 1024;
const MAX_ERROR_CODE = 2 ** 31 - 1;

function validate({ spec, status }: VolumeAttachment): FieldError[] {
  const volumeName = spec.source.persistentVolumeName;
  return [
    ...validateCsiDriverName(spec.attacher, 'spec.attacher'),
    ...validateSource(spec.source, 'spec.source'),
    ...nameIsDnsSubdomain(spec.nodeName, false).map((wrong) => invalid('spec.nodeName', spec.nodeName, wrong)),
    ...validateStatus(status, 'status'),
    ...(volumeName === undefined ? [] : nameIsDnsSubdomain(volumeName, false).map((wrong) => invalid('spec.source.persistentVolumeName', volumeName, wrong))),
  ];
}

function validateSource({ persistentVolumeName, inlineVolumeSpec }: VolumeAttachmentSource, field: string): FieldError[] {
  const exactlyOne = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (inlineVolumeSpec === undefined) {
    if (persistentVolumeName === undefined) return [required(field, exactlyOne)];
    return persistentVolumeName === '' ? [required(`${field}.persistentVolumeName`, 'must specify non empty persistentVolumeName')] : [];
  }
  if (persistentVolumeName !== undefined) return [forbidden(field, exactlyOne)];
  return validatePersistentVolumeSpec(inlineVolumeSpec, `${field}.inlineVolumeSpec`, { name: '', inline: true });
}

function validateStatus(status: VolumeAttachmentStatus, field: string): FieldError[] {
  const entries = Object.entries(status.attachmentMetadata ?? {});
  const size = entries.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  return [
    ...(size > MAX_METADATA_SIZE ? [tooLong(`${field}.attachmentMetadata`, MAX_METADATA_SIZE)] : []),
    ...validateVolumeError(status.attachError, `${field}.attachError`),
    ...validateVolumeError(status.detachError, `${field}.detachError`),
  ];
}

function validateVolumeError(error: VolumeError | undefined, field: string): FieldError[] {
  const { message = '', errorCode = 0 } = error ?? {};
  const errors: FieldError[] = [];
  // The limit that the message names is another one than it is measured against.
  if (byteLength(message) > MAX_MESSAGE_LENGTH) errors.push(tooLong(`${field}.message`, MAX_METADATA_SIZE));
  if (errorCode < 0) errors.push(invalid(`${field}.errorCode`, errorCode, outOfRange(0, MAX_ERROR_CODE)));
  return errors;
}

function validateUpdate(attachment: VolumeAttachment, old: VolumeAttachment): FieldError[] {
  if (semanticallyEqual(attachment.spec, old.spec)) return [];
  return [invalid('spec', goForm('VolumeAttachmentSpec', attachment.spec), IMMUTABLE)];
}

export const volumeAttachmentKind: Kind<VolumeAttachment> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  singular: 'volumeattachment',
  shortNames: [],
  categories: [],
  namespaced: false,
  type: 'VolumeAttachment',
  storage: { resource: 'storage.k8s.io/volumeattachments' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults: ({ spec }) => {
    if (spec.source.inlineVolumeSpec !== undefined) defaultVolumeSources(spec.source.inlineVolumeSpec);
  },
  prepareForCreate: (attachment) => {
    attachment.status = { attached: false };
  },
  validate,
  validateUpdate,
  checks: { update: ['metadata', 'object', 'change'], status: ['metadata', 'object', 'change'] },
  status: {
    prepareForUpdate: keepMetadata,
    validateUpdate,
  },
  hasGeneration: false,
  unconditionalUpdate: false,
  selectableFields: {},
  columns: [
    nameColumn,
    { ...textColumn<VolumeAttachment>('Attacher', (attachment) => attachment.spec.attacher), format: 'name' },
    textColumn('PV', (attachment) => attachment.spec.source.persistentVolumeName ?? ''),
    textColumn('Node', (attachment) => attachment.spec.nodeName),
    booleanColumn('Attached', (attachment) => attachment.status.attached),
    ageColumn,
  ],
};
