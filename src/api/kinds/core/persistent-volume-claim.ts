import { type FieldError, forbidden, invalid, notSupported, required } from '../../field-error.ts';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { compareQuantities } from '../../quantity.ts';
import { validateClaimSpec } from '../../validation/claim-spec.ts';
import { semanticallyEqual } from '../../validation/equality.ts';
import { goDiff } from '../../validation/go-diff.ts';
import { IMMUTABLE, immutable } from '../../validation/metadata.ts';
import { labelKeyProblems, nameIsDnsSubdomain } from '../../validation/names.ts';
import { equalResourceLists, isFractional, isNativeResource, validateBasicResource, validateResourceQuantity } from '../../validation/resources.ts';
import { droppedDataSource, normalizeDataSources } from './claim-data-source.ts';
import { accessModes, ageColumn, nameColumn, textColumn, wideColumn } from '../../printer-columns.ts';
import { BETA_STORAGE_CLASS_ANNOTATION } from './persistent-volume.ts';
import { roundUpResourceList } from '../resource-list.ts';
import { everyVerb } from '../../verbs.ts';

const resizeStatuses = ['ControllerResizeInProgress', 'ControllerResizeInfeasible', 'NodeResizePending', 'NodeResizeInProgress', 'NodeResizeInfeasible'];

function defaults(claim: PersistentVolumeClaim): void {
  claim.status.phase ??= 'Pending';
  claim.spec.volumeMode ??= 'Filesystem';
  roundUpResourceList(claim.spec.resources.limits);
  roundUpResourceList(claim.spec.resources.requests);
  roundUpResourceList(claim.status.capacity);
  roundUpResourceList(claim.status.allocatedResources);
}

function validateUpdate(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  return [
    ...validateSpecChange(claim, old),
    ...validateSizeChange(claim, old),
    ...immutable(claim.spec.volumeMode, old.spec.volumeMode, 'volumeMode'),
    ...validateAttributesClassChange(claim, old),
  ];
}

/** A spec is fixed, but for what is set to the old value here before both are compared. */
function validateSpecChange(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const errors: FieldError[] = [];
  const before: PersistentVolumeClaimSpec = { ...old.spec };
  const after: PersistentVolumeClaimSpec = { ...claim.spec, resources: { ...claim.spec.resources } };
  // The binder fills in the volume, once.
  if ((before.volumeName ?? '') === '') copyField(before, after, 'volumeName');
  const oldAnnotation = old.metadata.annotations?.[BETA_STORAGE_CLASS_ANNOTATION];
  const annotation = claim.metadata.annotations?.[BETA_STORAGE_CLASS_ANNOTATION];
  if (classMovesFromAnnotation(claim, old)) delete after.storageClassName;
  else {
    if ((oldAnnotation ?? '') !== (annotation ?? '')) {
      errors.push(invalid(`metadata.annotations.${BETA_STORAGE_CLASS_ANNOTATION}`, annotation ?? '', IMMUTABLE));
    }
    // An unset class may be set, to the one of the annotation if there is any: so do defaults reach old claims.
    const mayBeSet = before.storageClassName === undefined && (oldAnnotation === undefined || after.storageClassName === oldAnnotation);
    if (mayBeSet) delete after.storageClassName;
  }
  if (claim.status.phase === 'Bound') {
    const storage = old.spec.resources.requests?.storage;
    if (after.resources.requests !== undefined && storage !== undefined) after.resources.requests = { ...after.resources.requests, storage };
    copyField(after, before, 'volumeAttributesClassName');
  }
  if (equalSpecs(after, before)) return errors;
  const detail = 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
  return [...errors, forbidden('spec', `${detail}\n${goDiff('PersistentVolumeClaimSpec', before, after)}`)];
}

function copyField(to: PersistentVolumeClaimSpec, from: PersistentVolumeClaimSpec, field: 'volumeName' | 'volumeAttributesClassName'): void {
  const value = from[field];
  if (value === undefined) delete to[field];
  else to[field] = value;
}

/** The class may move from the annotation of old to the field, if it stays the same. */
function classMovesFromAnnotation(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const before = old.metadata.annotations?.[BETA_STORAGE_CLASS_ANNOTATION];
  const after = claim.metadata.annotations?.[BETA_STORAGE_CLASS_ANNOTATION];
  if (before === undefined || old.spec.storageClassName !== undefined) return false;
  return claim.spec.storageClassName === before && (after === undefined || after === before);
}

function equalSpecs(a: PersistentVolumeClaimSpec, b: PersistentVolumeClaimSpec): boolean {
  const { resources: left, ...others } = a;
  const { resources: right, ...rest } = b;
  return semanticallyEqual(others, rest) && equalResourceLists(left.limits, right.limits) && equalResourceLists(left.requests, right.requests);
}

/** A claim may ask for less again after an expansion failed, but for more than it has. */
function validateSizeChange(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const size = claim.spec.resources.requests?.storage ?? '0';
  if (compareQuantities(size, old.spec.resources.requests?.storage ?? '0') >= 0) return [];
  if (compareQuantities(size, old.status.capacity?.storage ?? '0') > 0) return [];
  return [forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')];
}

function validateAttributesClassChange(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const name = claim.spec.volumeAttributesClassName;
  const field = 'spec.volumeAttributesClassName';
  if (name === old.spec.volumeAttributesClassName || old.status.currentVolumeAttributesClassName === undefined) return [];
  if (name === undefined) return [forbidden(field, 'update to nil is forbidden when status.currentVolumeAttributesClassName is not nil')];
  return name === '' ? [forbidden(field, 'update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil')] : [];
}

function validateStatusUpdate(claim: PersistentVolumeClaim): FieldError[] {
  const { capacity = {}, allocatedResources = {}, allocatedResourceStatuses = {} } = claim.status;
  const errors: FieldError[] = (claim.metadata.resourceVersion ?? '') === '' ? [required('resourceVersion')] : [];
  if ((claim.spec.accessModes ?? []).length === 0) errors.push(required('Spec.accessModes'));
  for (const [name, quantity] of Object.entries(capacity)) errors.push(...validateBasicResource(quantity, `status.capacity[${name}]`));
  for (const [name, status] of Object.entries(allocatedResourceStatuses)) {
    errors.push(...validateResourceKey(name, 'status.allocatedResourceStatuses'));
    if (!resizeStatuses.includes(status)) errors.push(notSupported('status.allocatedResourceStatuses', name, resizeStatuses));
  }
  for (const [name, quantity] of Object.entries(allocatedResources)) errors.push(...validateAllocated(name, quantity));
  return errors;
}

function validateAllocated(name: string, quantity: string): FieldError[] {
  const field = 'status.allocatedResources';
  const wrongName = validateResourceKey(name, field);
  if (wrongName.length > 0) return wrongName;
  const negative = validateBasicResource(quantity, `${field}[${name}]`);
  return negative.length > 0 ? negative : validateResourceQuantity('storage', quantity, `${field}[${name}]`);
}

/** Of the resources without a domain, a claim has only storage. */
function validateResourceKey(name: string, field: string): FieldError[] {
  const errors = labelKeyProblems(name).map((wrong) => invalid(field, name, wrong));
  return errors.length === 0 && isNativeResource(name) && name !== 'storage' ? [notSupported(field, name, ['storage'])] : errors;
}

function warnings(claim: PersistentVolumeClaim): string[] {
  const found: string[] = [];
  if (Object.hasOwn(claim.metadata.annotations ?? {}, BETA_STORAGE_CLASS_ANNOTATION)) {
    found.push(`metadata.annotations[${BETA_STORAGE_CLASS_ANNOTATION}]: deprecated since v1.8; use "storageClassName" attribute instead`);
  }
  return [...found, ...claimSpecWarnings(claim.spec, 'spec')];
}

/** Also for claims in templates. */
export function claimSpecWarnings(spec: PersistentVolumeClaimSpec, field: string): string[] {
  return (['requests', 'limits'] as const).flatMap((list) => {
    const storage = spec.resources[list]?.storage;
    if (storage === undefined || !isFractional(storage)) return [];
    return [`${field}.resources.${list}[storage]: fractional byte value ${JSON.stringify(storage)} is invalid, must be an integer`];
  });
}

export const persistentVolumeClaimKind: Kind<PersistentVolumeClaim> = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  singular: 'persistentvolumeclaim',
  shortNames: ['pvc'],
  categories: [],
  namespaced: true,
  type: 'PersistentVolumeClaim',
  storage: { resource: 'persistentvolumeclaims' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults,
  prepareForCreate: (claim) => {
    claim.status = { phase: 'Pending' };
    normalizeDataSources(claim.spec);
  },
  droppedFields: (claim, old) => droppedDataSource(claim.spec, old?.spec),
  prepareForUpdate: (claim, old) => normalizeDataSources(claim.spec, old.spec),
  validate: (claim) => validateClaimSpec(claim.spec, 'spec'),
  validateUpdate,
  checks: { update: ['metadataChange', 'metadata', 'object', 'change'] },
  warnings,
  status: { validateUpdate: validateStatusUpdate },
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [
    nameColumn,
    textColumn('Status', (claim) => (claim.metadata.deletionTimestamp === undefined ? (claim.status.phase ?? '') : 'Terminating')),
    textColumn('Volume', (claim) => claim.spec.volumeName ?? ''),
    textColumn('Capacity', (claim) => (hasVolume(claim) ? (claim.status.capacity?.storage ?? '0') : '')),
    textColumn('Access Modes', (claim) => (hasVolume(claim) ? accessModes(claim.status.accessModes) : '')),
    textColumn('StorageClass', (claim) => claim.metadata.annotations?.[BETA_STORAGE_CLASS_ANNOTATION] ?? claim.spec.storageClassName ?? ''),
    textColumn('VolumeAttributesClass', (claim) => claim.spec.volumeAttributesClassName ?? '<unset>'),
    ageColumn,
    wideColumn('VolumeMode', (claim) => claim.spec.volumeMode ?? '<unset>'),
  ],
};

const hasVolume = (claim: PersistentVolumeClaim): boolean => (claim.spec.volumeName ?? '') !== '';
