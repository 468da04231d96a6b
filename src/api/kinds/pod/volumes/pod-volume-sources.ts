import { type FieldError, invalid, required } from '../../../field-error.ts';
import type {
  AzureFileVolumeSource,
  CinderVolumeSource,
  CSIVolumeSource,
  FlexVolumeSource,
  GitRepoVolumeSource,
  GlusterfsVolumeSource,
  ImageVolumeSource,
  ISCSIVolumeSource,
  LocalObjectReference,
  RBDVolumeSource,
  ScaleIOVolumeSource,
  StorageOSVolumeSource,
} from '../../../generated/types.ts';
import { localDescendingPath } from '../../../validation/paths.ts';
import {
  requireAll,
  validateCsiDriverName,
  validateFlexOptions,
  validateIscsiName,
  validateIscsiSession,
  validateStorageOsNames,
} from '../../../validation/volume-sources.ts';
import { validatePullPolicy } from '../container-image.ts';
import { dnsSubdomain, present } from '../../../validation/field-rules.ts';

/** Sources that only pods have, or have in a form of their own. Secrets are in the pod's namespace here. */

export const validateGitRepo = (source: GitRepoVolumeSource, field: string): FieldError[] => [
  ...requireAll({ repository: source.repository }, field),
  ...localDescendingPath(source.directory ?? '', `${field}.directory`),
];

const ISCSI_NAME = 'must be valid format starting with iqn, eui, or naa';

export const validateIscsi = (source: ISCSIVolumeSource, field: string): FieldError[] => [
  ...requireAll({ targetPortal: source.targetPortal }, field),
  ...(source.iqn === '' ? [required(`${field}.iqn`)] : validateIscsiName(source.iqn, `${field}.iqn`, ISCSI_NAME)),
  ...validateIscsiSession(source, field),
  ...(source.initiatorName === undefined ? [] : validateIscsiName(source.initiatorName, `${field}.initiatorname`, ISCSI_NAME)),
];

const MAX_INITIATOR_LENGTH = 64;

/** The node logs in to the portal under a name made of both; it has room for no more. */
export function validateInitiatorLength({ initiatorName, targetPortal }: ISCSIVolumeSource, volumeName: string, field: string): FieldError[] {
  if (initiatorName === undefined || `${volumeName}:${targetPortal}`.length <= MAX_INITIATOR_LENGTH) return [];
  const detail = 'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  return [invalid(field, volumeName, detail)];
}

export const validateGlusterfs = (source: GlusterfsVolumeSource, field: string): FieldError[] =>
  requireAll({ endpoints: source.endpoints, path: source.path }, field);

export const validateRbd = (source: RBDVolumeSource, field: string): FieldError[] => [
  ...present(source.monitors, `${field}.monitors`),
  ...requireAll({ image: source.image }, field),
];

const secretName = (secret: LocalObjectReference | undefined, field: string): FieldError[] =>
  secret === undefined ? [] : requireAll({ name: secret.name }, `${field}.secretRef`);

export const validateCinder = (source: CinderVolumeSource, field: string): FieldError[] => [
  ...requireAll({ volumeID: source.volumeID }, field),
  ...secretName(source.secretRef, field),
];

export const validateFlexVolume = (source: FlexVolumeSource, field: string): FieldError[] => [
  ...requireAll({ driver: source.driver }, field),
  ...validateFlexOptions(source.options, `${field}.options`),
];

export const validateAzureFile = (source: AzureFileVolumeSource, field: string): FieldError[] =>
  requireAll({ secretName: source.secretName, shareName: source.shareName }, field);

export const validateStorageOs = (source: StorageOSVolumeSource, field: string): FieldError[] => [
  ...validateStorageOsNames(source, field),
  ...secretName(source.secretRef, field),
];

export const validateScaleIo = (source: ScaleIOVolumeSource, field: string): FieldError[] =>
  requireAll({ gateway: source.gateway, system: source.system, volumeName: source.volumeName }, field);

export function validateCsi({ driver, nodePublishSecretRef }: CSIVolumeSource, field: string): FieldError[] {
  const errors = validateCsiDriverName(driver, `${field}.driver`);
  if (nodePublishSecretRef === undefined) return errors;
  const { name = '' } = nodePublishSecretRef;
  // Kubernetes names the wrong field when the secret's name is not empty but wrong.
  return [...errors, ...(name === '' ? [required(`${field}.nodePublishSecretRef.name`)] : dnsSubdomain(name, `${field}.name`))];
}

export const validateImage = (source: ImageVolumeSource, field: string, isPod: boolean): FieldError[] => [
  ...(isPod ? requireAll({ reference: source.reference }, field) : []),
  ...validatePullPolicy(source.pullPolicy, `${field}.pullPolicy`),
];
