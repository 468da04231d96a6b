import { duplicate, type FieldError, forbidden, invalid, required } from '../../../field-error.ts';
import type { EmptyDirVolumeSource, Volume, VolumeSource } from '../../../generated/types.ts';
import { quantitySign } from '../../../quantity.ts';
import { validateClaimTemplate } from '../../../validation/claim-template.ts';
import { nameIsDnsSubdomain } from '../../../validation/names.ts';
import * as shared from '../../../validation/volume-sources.ts';
import { dnsLabel, present } from '../../../validation/field-rules.ts';
import * as projected from './pod-projected-volumes.ts';
import * as sources from './pod-volume-sources.ts';

export interface VolumeContext {
  /** The pod's name, if these are the volumes of a pod and not of a template. */
  readonly podName?: string;
  /** Pods must be complete; a template may leave the image of an image volume empty. */
  readonly isPod: boolean;
}

export interface VolumesVerdict {
  readonly errors: readonly FieldError[];
  /** The volumes with which nothing is wrong: what mounts may refer to. */
  readonly usable: ReadonlyMap<string, VolumeSource>;
}

export function validateVolumes(volumes: readonly Volume[], field: string, context: VolumeContext): VolumesVerdict {
  const errors: FieldError[][] = [];
  const usable = new Map<string, VolumeSource>();
  const madeForPod = claimsMadeForPod(volumes, context);
  volumes.forEach((volume, i) => {
    const at = `${field}[${i}]`;
    const wrong = validateVolume(volume, at, context);
    if (usable.has(volume.name)) wrong.push(duplicate(`${at}.name`, volume.name));
    if (wrong.length === 0) usable.set(volume.name, volume);
    errors.push(wrong);
    const claim = volume.persistentVolumeClaim?.claimName;
    if (claim !== undefined && madeForPod.has(claim)) {
      errors.push([invalid(`${at}.persistentVolumeClaim.claimName`, claim, 'must not reference a PVC that gets created for an ephemeral volume')]);
    }
  });
  return { errors: errors.flat(), usable };
}

/** The names of the claims that will be made for the ephemeral volumes of a pod. */
function claimsMadeForPod(volumes: readonly Volume[], { podName }: VolumeContext): ReadonlySet<string> {
  if (podName === undefined || podName === '') return new Set();
  return new Set(volumes.filter((volume) => volume.ephemeral !== undefined).map((volume) => `${podName}-${volume.name}`));
}

function validateVolume(volume: Volume, field: string, context: VolumeContext): FieldError[] {
  const name = volume.name === '' ? [required(`${field}.name`)] : dnsLabel(volume.name, `${field}.name`);
  return [...validateSource(volume, field, context), ...name];
}

/** A volume has exactly one source; only the first is looked at more closely. */
function validateSource(volume: Volume, field: string, context: VolumeContext): FieldError[] {
  const errors: FieldError[][] = [];
  let found = false;
  for (const { key, asSecond, validate } of sourceRules) {
    if (volume[key] === undefined) continue;
    errors.push(found ? [shared.moreThanOneSource(`${field}.${asSecond}`)] : validate(volume, field, context));
    found = true;
    // Said also where iscsi is a second source.
    if (volume.iscsi !== undefined && key === 'iscsi') errors.push(sources.validateInitiatorLength(volume.iscsi, volume.name, `${field}.name`));
  }
  return found ? errors.flat() : [required(field, 'must specify a volume type')];
}

interface SourceRule {
  readonly key: keyof VolumeSource;
  /** What Kubernetes calls it where it is refused. */
  readonly asSecond: string;
  readonly validate: (volume: Volume, field: string, context: VolumeContext) => FieldError[];
}

/** `names`: where Kubernetes' messages call a source otherwise than the field. */
function source<K extends keyof VolumeSource>(
  key: K,
  validate: (source: NonNullable<VolumeSource[K]>, field: string, context: VolumeContext) => FieldError[],
  names: { readonly asSecond?: string; readonly asFirst?: string } = {},
): SourceRule {
  return {
    key,
    asSecond: names.asSecond ?? key,
    validate: ({ [key]: value }, field, context) => (value === undefined ? [] : validate(value, `${field}.${names.asFirst ?? key}`, context)),
  };
}

/** In the order in which Kubernetes looks: of two sources the later one in this list is refused. */
const sourceRules: readonly SourceRule[] = [
  source('emptyDir', validateEmptyDir),
  source('hostPath', shared.validateHostPath),
  source('gitRepo', sources.validateGitRepo),
  source('gcePersistentDisk', shared.validateGcePersistentDisk, { asFirst: 'persistentDisk' }),
  source('awsElasticBlockStore', shared.validateAwsElasticBlockStore),
  source('secret', projected.validateSecret),
  source('nfs', shared.validateNfs),
  source('iscsi', sources.validateIscsi),
  source('glusterfs', sources.validateGlusterfs),
  source('flocker', shared.validateFlocker),
  source('persistentVolumeClaim', (claim, field) => present(claim.claimName, `${field}.claimName`)),
  source('rbd', sources.validateRbd),
  source('cinder', sources.validateCinder),
  source('cephfs', (cephfs, field) => present(cephfs.monitors, `${field}.monitors`), { asSecond: 'cephFS' }),
  source('quobyte', shared.validateQuobyte),
  source('downwardAPI', projected.validateDownwardApi, { asSecond: 'downwarAPI' }),
  source('fc', shared.validateFibreChannel),
  source('flexVolume', sources.validateFlexVolume),
  source('configMap', projected.validateConfigMap),
  source('azureFile', sources.validateAzureFile),
  source('vsphereVolume', (volume, field) => present(volume.volumePath, `${field}.volumePath`)),
  source('photonPersistentDisk', (disk, field) => present(disk.pdID, `${field}.pdID`)),
  source('portworxVolume', (volume, field) => present(volume.volumeID, `${field}.volumeID`)),
  source('azureDisk', shared.validateAzureDisk),
  source('storageos', sources.validateStorageOs),
  source('projected', projected.validateProjected),
  source('scaleIO', sources.validateScaleIo),
  source('csi', sources.validateCsi),
  { key: 'ephemeral', asSecond: 'ephemeral', validate: validateEphemeral },
  source('image', (image, field, { isPod }) => sources.validateImage(image, field, isPod)),
];

function validateEmptyDir({ sizeLimit }: EmptyDirVolumeSource, field: string): FieldError[] {
  if (sizeLimit === undefined || quantitySign(sizeLimit) >= 0) return [];
  return [forbidden(`${field}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')];
}

function validateEphemeral({ name, ephemeral }: Volume, field: string, { podName = '' }: VolumeContext): FieldError[] {
  const at = `${field}.ephemeral.volumeClaimTemplate`;
  const template = ephemeral?.volumeClaimTemplate;
  const errors = template === undefined ? [required(at)] : validateClaimTemplate(template, at);
  if (podName === '' || name === '') return errors;
  // The claim is named after pod and volume, and must have a name that claims can have.
  const claim = `${podName}-${name}`;
  return [...errors, ...nameIsDnsSubdomain(claim, false).map((wrong) => invalid(`${field}.name`, name, `PVC name "${claim}": ${wrong}`))];
}
