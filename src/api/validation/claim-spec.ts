import { type FieldError, invalid, notSupported, required } from '../field-error.ts';
import type { PersistentVolumeClaimSpec, TypedLocalObjectReference, TypedObjectReference } from '../generated/types.ts';
import { validateLabelSelector } from './labels.ts';
import { dnsSubdomainProblems, nameIsDnsLabel, nameIsDnsSubdomain } from './names.ts';
import { validateAccessModes, volumeModes } from './persistent-volume-spec.ts';
import { positiveQuantity, validateResourceQuantity } from './resources.ts';

/** A claim's spec, also within templates of claims. */
export function validateClaimSpec(spec: PersistentVolumeClaimSpec, field: string): FieldError[] {
  const modes = spec.accessModes ?? [];
  return [
    ...(modes.length === 0 ? [required(`${field}.accessModes`, 'at least 1 access mode is required')] : []),
    ...validateLabelSelector(spec.selector, `${field}.selector`),
    ...validateAccessModes(modes, `${field}.accessModes`),
    ...validateRequest(spec, `${field}.resources[storage]`),
    ...validateClassName(spec.storageClassName, `${field}.storageClassName`),
    ...(spec.volumeMode === undefined || volumeModes.includes(spec.volumeMode) ? [] : [notSupported(`${field}.volumeMode`, spec.volumeMode, volumeModes)]),
    ...validateDataSources(spec, field),
    ...validateClassName(spec.volumeAttributesClassName, `${field}.volumeAttributesClassName`),
  ];
}

function validateRequest(spec: PersistentVolumeClaimSpec, field: string): FieldError[] {
  const storage = spec.resources.requests?.storage;
  if (storage === undefined) return [required(field)];
  const errors = positiveQuantity(storage, field);
  return errors.length > 0 ? errors : validateResourceQuantity('storage', storage, field);
}

/** No class at all is fine, as is the empty name, which asks for none. */
function validateClassName(name: string | undefined, field: string): FieldError[] {
  if (name === undefined || name === '') return [];
  return nameIsDnsSubdomain(name, false).map((wrong) => invalid(field, name, wrong));
}

function validateDataSources(spec: PersistentVolumeClaimSpec, field: string): FieldError[] {
  const { dataSource, dataSourceRef } = spec;
  const namespace = dataSourceRef?.namespace ?? '';
  const errors: FieldError[] = [];
  if (dataSource !== undefined) errors.push(...validateDataSource(dataSource, `${field}.dataSource`));
  if (dataSourceRef !== undefined) errors.push(...validateDataSource(dataSourceRef, `${field}.dataSourceRef`));
  if (namespace !== '') errors.push(...nameIsDnsLabel(namespace, false).map((wrong) => invalid(`${field}.dataSourceRef.namespace`, namespace, wrong)));
  if (dataSource === undefined || dataSourceRef === undefined) return errors;
  // The value that Kubernetes shows here is the name of a field, which prints as an empty object.
  if (namespace !== '') errors.push(invalid(field, {}, 'may not be specified when dataSourceRef.namespace is specified'));
  else if (!sameSource(dataSource, dataSourceRef)) errors.push(invalid(field, {}, 'must match dataSourceRef'));
  return errors;
}

function validateDataSource(source: TypedLocalObjectReference | TypedObjectReference, field: string): FieldError[] {
  const group = source.apiGroup ?? '';
  const errors: FieldError[] = [];
  if (source.name === '') errors.push(required(`${field}.name`));
  if (source.kind === '') errors.push(required(`${field}.kind`));
  if (group === '' && source.kind !== 'PersistentVolumeClaim') {
    errors.push(invalid(field, source.kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  }
  if (group === '') return errors;
  return [...errors, ...dnsSubdomainProblems(group).map((wrong) => invalid(`${field}.apiGroup`, group, wrong))];
}

const sameSource = (source: TypedLocalObjectReference, reference: TypedObjectReference): boolean =>
  source.apiGroup === reference.apiGroup && source.kind === reference.kind && source.name === reference.name;
