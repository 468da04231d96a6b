import { type FieldError, forbidden, invalid, notSupported, required, tooLong } from '../field-error.ts';
import type {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  FCVolumeSource,
  FlockerVolumeSource,
  GCEPersistentDiskVolumeSource,
  HostPathVolumeSource,
  ISCSIPersistentVolumeSource,
  ISCSIVolumeSource,
  NFSVolumeSource,
  QuobyteVolumeSource,
} from '../generated/types.ts';
import { rangeProblems } from './formats.ts';
import { dnsLabelProblems, dnsSubdomainProblems } from './names.ts';
import { noBacksteps } from './paths.ts';
import { byteLength, outOfRange } from './text.ts';

/** Sources of volumes that pods and persistent volumes have in common. */

const CSI_DRIVER_NAME_MAX_LENGTH = 63;
const QUOBYTE_TENANT_MAX_LENGTH = 64;
const hostPathTypes = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'];
const azureCachingModes = ['None', 'ReadOnly', 'ReadWrite'];
const azureDiskKinds = ['Dedicated', 'Managed', 'Shared'];
/** Names have at most 223 bytes (RFC 7143, 4.2.7.1). */
const iscsiNames: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([a-zA-Z0-9.-]{1,223})(:[^,;*&$|\t\n\f\r ]{1,223})$/,
  eui: /^eui.[a-zA-Z0-9]{16}$/,
  naa: /^naa.[a-zA-Z0-9]{32}$/,
};

const requiredText = (value: string | undefined, field: string): FieldError[] => (value === undefined || value === '' ? [required(field)] : []);
/** Each of these fields must be given. */
export function requireAll(values: Readonly<Record<string, string | undefined>>, field: string): FieldError[] {
  return Object.entries(values).flatMap(([name, value]) => requiredText(value, `${field}.${name}`));
}

export function validateHostPath(source: HostPathVolumeSource, field: string): FieldError[] {
  if (source.path === '') return [required(`${field}.path`)];
  const errors = noBacksteps(source.path, `${field}.path`);
  if (source.type !== undefined && !hostPathTypes.includes(source.type)) errors.push(notSupported(`${field}.type`, source.type, hostPathTypes));
  return errors;
}

export function validateNfs(source: NFSVolumeSource, field: string): FieldError[] {
  const errors = requireAll({ server: source.server, path: source.path }, field);
  return source.path.startsWith('/') ? errors : [...errors, invalid(`${field}.path`, source.path, 'must be an absolute path')];
}

/** The partition of a disk; the message names 1 although 0 is accepted. */
function validatePartition(partition: number | undefined, field: string): FieldError[] {
  const number = partition ?? 0;
  return number < 0 || number > 255 ? [invalid(`${field}.partition`, number, outOfRange(1, 255))] : [];
}

export const validateGcePersistentDisk = (source: GCEPersistentDiskVolumeSource, field: string): FieldError[] => [
  ...requireAll({ pdName: source.pdName }, field),
  ...validatePartition(source.partition, field),
];

export const validateAwsElasticBlockStore = (source: AWSElasticBlockStoreVolumeSource, field: string): FieldError[] => [
  ...requireAll({ volumeID: source.volumeID }, field),
  ...validatePartition(source.partition, field),
];

export function validateFlocker(source: FlockerVolumeSource, field: string): FieldError[] {
  const { datasetName = '', datasetUUID = '' } = source;
  const errors: FieldError[] = [];
  if (datasetName === '' && datasetUUID === '') errors.push(required(field, 'one of datasetName and datasetUUID is required'));
  if (datasetName !== '' && datasetUUID !== '') errors.push(invalid(field, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'));
  if (datasetName.includes('/')) errors.push(invalid(`${field}.datasetName`, datasetName, "must not contain '/'"));
  return errors;
}

export function validateQuobyte(source: QuobyteVolumeSource, field: string): FieldError[] {
  const pairs = 'must be a host:port pair or multiple pairs separated by commas';
  const errors: FieldError[] = [];
  if (source.registry === '') errors.push(required(`${field}.registry`, pairs));
  else if (byteLength(source.tenant ?? '') > QUOBYTE_TENANT_MAX_LENGTH) {
    errors.push(required(`${field}.tenant`, 'must be a UUID and may not exceed a length of 64 characters'));
  } else {
    for (const pair of source.registry.split(',')) if (!isHostAndPort(pair)) errors.push(invalid(`${field}.registry`, source.registry, pairs));
  }
  return [...errors, ...requireAll({ volume: source.volume }, field)];
}

/** 'host:port' or '[2001:db8::1]:port', whatever host and port are. */
const isHostAndPort = (text: string): boolean => /^(\[[^[\]]*\]|[^[\]:]*):[^[\]:]*$/.test(text);

export function validateFibreChannel(source: FCVolumeSource, field: string): FieldError[] {
  const { targetWWNs = [], wwids = [], lun } = source;
  const errors: FieldError[] = [];
  if (targetWWNs.length === 0 && wwids.length === 0) errors.push(required(`${field}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both'));
  if (targetWWNs.length > 0 && wwids.length > 0) {
    errors.push(invalid(`${field}.targetWWNs`, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously'));
  }
  if (targetWWNs.length === 0) return errors;
  if (lun === undefined) return [...errors, required(`${field}.lun`, 'lun is required if targetWWNs is specified')];
  return [...errors, ...rangeProblems(lun, 0, 255).map((wrong) => invalid(`${field}.lun`, lun, wrong))];
}

/** What the name of an iSCSI target or initiator begins with decides its format. `prefixProblem`: what is said of any other beginning. */
export function validateIscsiName(name: string, field: string, prefixProblem: string): FieldError[] {
  const format = iscsiNames[name.slice(0, 3)];
  if (format === undefined) return [invalid(field, name, prefixProblem)];
  return format.test(name) ? [] : [invalid(field, name, 'must be valid format')];
}

/** What pods and persistent volumes ask of iSCSI alike, from the logical unit on. */
export function validateIscsiSession(source: ISCSIVolumeSource | ISCSIPersistentVolumeSource, field: string): FieldError[] {
  const errors = rangeProblems(source.lun, 0, 255).map((wrong) => invalid(`${field}.lun`, source.lun, wrong));
  const authenticates = source.chapAuthDiscovery === true || source.chapAuthSession === true;
  return authenticates && source.secretRef === undefined ? [...errors, required(`${field}.secretRef`)] : errors;
}

export function validateAzureDisk(source: AzureDiskVolumeSource, field: string): FieldError[] {
  const { diskURI, cachingMode, kind } = source;
  const errors = requireAll({ diskName: source.diskName, diskURI }, field);
  if (cachingMode !== undefined && !azureCachingModes.includes(cachingMode)) {
    errors.push(notSupported(`${field}.cachingMode`, cachingMode, azureCachingModes));
  }
  if (kind !== undefined && !azureDiskKinds.includes(kind)) errors.push(notSupported(`${field}.kind`, kind, azureDiskKinds));
  if (kind === 'Managed' && !diskURI.startsWith('/subscriptions/')) {
    const managed = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
    errors.push(notSupported(`${field}.diskURI`, diskURI, [managed]));
  }
  if (kind !== undefined && kind !== 'Managed' && !diskURI.startsWith('https://')) {
    errors.push(notSupported(`${field}.diskURI`, diskURI, ['https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd']));
  }
  return errors;
}

/** Options of flexVolumes in Kubernetes' own domains are Kubernetes'. */
export function validateFlexOptions(options: Readonly<Record<string, string>> | undefined, field: string): FieldError[] {
  return Object.keys(options ?? {})
    .filter((key) => /\.(kubernetes|k8s)\.io$/.test(`.${(key.split('/', 1)[0] ?? '').toLowerCase()}`))
    .map((key) => invalid(`${field}[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved'));
}

export function validateStorageOsNames(source: { volumeName?: string; volumeNamespace?: string }, field: string): FieldError[] {
  const { volumeName = '', volumeNamespace = '' } = source;
  const name = `${field}.volumeName`;
  return [
    ...(volumeName === '' ? [required(name)] : dnsLabelProblems(volumeName).map((wrong) => invalid(name, volumeName, wrong))),
    ...(volumeNamespace === '' ? [] : dnsLabelProblems(volumeNamespace).map((wrong) => invalid(`${field}.volumeNamespace`, volumeNamespace, wrong))),
  ];
}

export function validateCsiDriverName(name: string, field: string): FieldError[] {
  if (name === '') return [required(field)];
  const errors = byteLength(name) > CSI_DRIVER_NAME_MAX_LENGTH ? [tooLong(field, CSI_DRIVER_NAME_MAX_LENGTH)] : [];
  return [...errors, ...dnsSubdomainProblems(name.toLowerCase()).map((wrong) => invalid(field, name, wrong))];
}

/** Of several sources the first counts, the others are refused. */
export const moreThanOneSource = (field: string): FieldError => forbidden(field, 'may not specify more than 1 volume type');
