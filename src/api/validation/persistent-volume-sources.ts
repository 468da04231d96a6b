import { type FieldError, invalid, required } from '../field-error.ts';
import type {
  AzureFilePersistentVolumeSource,
  CinderPersistentVolumeSource,
  CSIPersistentVolumeSource,
  FlexPersistentVolumeSource,
  GlusterfsPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  LocalVolumeSource,
  PersistentVolumeSource,
  PersistentVolumeSpec,
  RBDPersistentVolumeSource,
  SecretReference,
  StorageOSPersistentVolumeSource,
} from '../generated/types.ts';
import { dnsLabelProblems, dnsSubdomainProblems, nameIsDnsLabel } from './names.ts';
import { noBacksteps } from './paths.ts';
import { byteLength } from './text.ts';
import {
  moreThanOneSource,
  requireAll,
  validateAwsElasticBlockStore,
  validateAzureDisk,
  validateCsiDriverName,
  validateFibreChannel,
  validateFlexOptions,
  validateFlocker,
  validateGcePersistentDisk,
  validateHostPath,
  validateIscsiName,
  validateIscsiSession,
  validateNfs,
  validateQuobyte,
  validateStorageOsNames,
} from './volume-sources.ts';

type SourceName = keyof PersistentVolumeSource;
type Source<N extends SourceName> = NonNullable<PersistentVolumeSource[N]>;

interface SourceRule<N extends SourceName> {
  readonly name: N;
  readonly validate: (source: Source<N>, field: string, volumeName: string) => FieldError[];
  /** Where errors within the source are reported, if not below its name. */
  readonly innerField?: string;
  /** Where a second source is refused, if not at its name. */
  readonly refusedField?: string;
  /** Kubernetes does not mind this one beside others. */
  readonly besideOthers?: boolean;
}

const rule = <N extends SourceName>(name: N, validate: SourceRule<N>['validate'], more: Partial<SourceRule<N>> = {}): SourceRule<SourceName> =>
  // The name and what validates the source belong together; the table forgets which one it is.
  ({ name, validate, ...more }) as unknown as SourceRule<SourceName>;

/** In the order in which Kubernetes looks for them: of several the first counts. */
const sources: readonly SourceRule<SourceName>[] = [
  rule('hostPath', validateHostPath),
  rule('gcePersistentDisk', validateGcePersistentDisk, { innerField: 'persistentDisk' }),
  rule('awsElasticBlockStore', validateAwsElasticBlockStore),
  rule('glusterfs', validateGlusterfs),
  rule('flocker', validateFlocker),
  rule('nfs', validateNfs),
  rule('rbd', validateRbd),
  rule('quobyte', validateQuobyte),
  rule('cephfs', (source, field) => requireMonitors(source.monitors, field), { refusedField: 'cephFS' }),
  rule('iscsi', validateIscsi),
  rule('cinder', validateCinder),
  rule('fc', validateFibreChannel),
  rule('flexVolume', validateFlexVolume, { besideOthers: true }),
  rule('azureFile', validateAzureFile),
  rule('vsphereVolume', (source, field) => requireAll({ volumePath: source.volumePath }, field)),
  rule('photonPersistentDisk', (source, field) => requireAll({ pdID: source.pdID }, field)),
  rule('portworxVolume', (source, field) => requireAll({ volumeID: source.volumeID }, field)),
  rule('azureDisk', validateAzureDisk),
  rule('scaleIO', ({ gateway, system, volumeName }, field) => requireAll({ gateway, system, volumeName }, field)),
  rule('local', validateLocal),
  rule('storageos', validateStorageOs),
  rule('csi', validateCsi),
];

export const sourceNames: readonly SourceName[] = sources.map(({ name }) => name);

/** A volume has exactly one source, and a local one says where it is. */
export function validatePersistentVolumeSource(spec: PersistentVolumeSpec, field: string, volumeName: string): FieldError[] {
  const errors: FieldError[] = [];
  let found = 0;
  for (const { name, validate, innerField, refusedField, besideOthers } of sources) {
    const source = spec[name];
    if (source === undefined) continue;
    if (found > 0 && besideOthers !== true) {
      errors.push(moreThanOneSource(`${field}.${refusedField ?? name}`));
      continue;
    }
    found++;
    errors.push(...validate(source, `${field}.${innerField ?? name}`, volumeName));
    if (name === 'local' && spec.nodeAffinity === undefined) errors.push(required(`${field}.nodeAffinity`, 'Local volume requires node affinity'));
  }
  return found > 0 ? errors : [required(field, 'must specify a volume type')];
}

function validateGlusterfs(source: GlusterfsPersistentVolumeSource, field: string): FieldError[] {
  const errors = requireAll({ endpoints: source.endpoints, path: source.path }, field);
  const namespace = source.endpointsNamespace;
  const at = `${field}.endpointsNamespace`;
  if (namespace === undefined) return errors;
  if (namespace === '') return [...errors, invalid(at, namespace, 'if the endpointnamespace is set, it must be a valid namespace name')];
  return [...errors, ...nameIsDnsLabel(namespace, false).map((wrong) => invalid(at, namespace, wrong))];
}

const requireMonitors = (monitors: readonly string[] | null | undefined, field: string): FieldError[] =>
  monitors === undefined || monitors === null || monitors.length === 0 ? [required(`${field}.monitors`)] : [];

function validateRbd(source: RBDPersistentVolumeSource, field: string): FieldError[] {
  return [...requireMonitors(source.monitors, field), ...requireAll({ image: source.image }, field)];
}

function validateIscsi(source: ISCSIPersistentVolumeSource, field: string, volumeName: string): FieldError[] {
  const { targetPortal, iqn, initiatorName } = source;
  const errors = requireAll({ targetPortal }, field);
  if (initiatorName !== undefined && byteLength(`${volumeName}:${targetPortal}`) > 64) {
    const detail = 'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
    errors.push(invalid(`${field}.targetportal`, targetPortal, detail));
  }
  if (iqn === '') errors.push(required(`${field}.iqn`));
  else errors.push(...validateIscsiName(iqn, `${field}.iqn`, 'must be valid format'));
  errors.push(...validateIscsiSession(source, field));
  if (source.secretRef !== undefined && (source.secretRef.name ?? '') === '') errors.push(required(`${field}.secretRef.name`));
  if (initiatorName !== undefined) errors.push(...validateIscsiName(initiatorName, `${field}.initiatorname`, 'must be valid format'));
  return errors;
}

const requireSecret = (secret: SecretReference | undefined, field: string): FieldError[] =>
  secret === undefined ? [] : requireAll({ name: secret.name, namespace: secret.namespace }, `${field}.secretRef`);

function validateCinder(source: CinderPersistentVolumeSource, field: string): FieldError[] {
  return [...requireAll({ volumeID: source.volumeID }, field), ...requireSecret(source.secretRef, field)];
}

function validateFlexVolume(source: FlexPersistentVolumeSource, field: string): FieldError[] {
  return [...requireAll({ driver: source.driver }, field), ...validateFlexOptions(source.options, `${field}.options`)];
}

function validateAzureFile(source: AzureFilePersistentVolumeSource, field: string): FieldError[] {
  const errors = requireAll({ secretName: source.secretName, shareName: source.shareName }, field);
  return source.secretNamespace === '' ? [...errors, required(`${field}.secretNamespace`)] : errors;
}

function validateLocal(source: LocalVolumeSource, field: string): FieldError[] {
  return source.path === '' ? [required(`${field}.path`)] : noBacksteps(source.path, `${field}.path`);
}

function validateStorageOs(source: StorageOSPersistentVolumeSource, field: string): FieldError[] {
  const { name = '', namespace = '' } = source.secretRef ?? {};
  const secret = source.secretRef === undefined ? [] : requireAll({ name, namespace }, `${field}.secretRef`);
  return [...validateStorageOsNames(source, field), ...secret];
}

function validateCsi(source: CSIPersistentVolumeSource, field: string): FieldError[] {
  const errors = [...validateCsiDriverName(source.driver, `${field}.driver`), ...requireAll({ volumeHandle: source.volumeHandle }, field)];
  for (const name of ['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef'] as const) {
    const secret = source[name];
    if (secret !== undefined) errors.push(...validateSecretReference(secret, `${field}.${name}`));
  }
  return errors;
}

function validateSecretReference(secret: SecretReference, field: string): FieldError[] {
  const { name = '', namespace = '' } = secret;
  return [
    ...(name === '' ? [required(`${field}.name`)] : dnsSubdomainProblems(name).map((wrong) => invalid(`${field}.name`, name, wrong))),
    ...(namespace === '' ? [required(`${field}.namespace`)] : dnsLabelProblems(namespace).map((wrong) => invalid(`${field}.namespace`, namespace, wrong))),
  ];
}
