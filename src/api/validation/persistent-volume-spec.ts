import { type FieldError, forbidden, invalid, notOneOf, notSupported, required } from '../field-error.ts';
import type { PersistentVolumeSpec } from '../generated/types.ts';
import { nameIsDnsSubdomain } from './names.ts';
import { validateNodeSelector } from './node-selector.ts';
import { isRoot } from './paths.ts';
import { validatePersistentVolumeSource } from './persistent-volume-sources.ts';
import { positiveQuantity, validateBasicResource } from './resources.ts';

const supportedAccessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const reclaimPolicies = ['Delete', 'Recycle', 'Retain'];
export const volumeModes = ['Block', 'Filesystem'];

export interface VolumeSpecRules {
  /** The name of the volume; of an inline one, none. */
  readonly name: string;
  /** Within an attachment: for volumes of drivers that pods name directly. */
  readonly inline: boolean;
}

export function validatePersistentVolumeSpec(spec: PersistentVolumeSpec, field: string, rules: VolumeSpecRules): FieldError[] {
  return [
    ...(rules.inline ? validateInlineOnly(spec, field) : []),
    ...(spec.accessModes === undefined || spec.accessModes.length === 0 ? [required(`${field}.accessModes`)] : []),
    ...validateAccessModes(spec.accessModes ?? [], `${field}.accessModes`),
    ...(rules.inline ? [] : validateCapacity(spec.capacity ?? {}, `${field}.capacity`)),
    ...validateReclaimPolicy(spec, field, rules),
    ...validateAffinity(spec, field, rules),
    ...validatePersistentVolumeSource(spec, field, rules.name),
    ...validateRecycledRoot(spec, field),
    ...validateClass(spec, field, rules),
    ...validateVolumeMode(spec, field, rules),
    ...(rules.inline ? [] : validateAttributesClass(spec, field)),
  ];
}

function validateInlineOnly(spec: PersistentVolumeSpec, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.claimRef !== undefined) errors.push(forbidden(`${field}.claimRef`, 'may not be specified in the context of inline volumes'));
  if (spec.capacity !== undefined && Object.keys(spec.capacity).length > 0) {
    errors.push(forbidden(`${field}.capacity`, 'may not be specified in the context of inline volumes'));
  }
  if (spec.csi === undefined) errors.push(required(`${field}.csi`, 'has to be specified in the context of inline volumes'));
  return errors;
}

/** Known modes; the one that means a single pod excludes all others. */
export function validateAccessModes(modes: readonly string[], field: string): FieldError[] {
  const errors = modes.filter((mode) => !supportedAccessModes.includes(mode)).map((mode) => notSupported(field, mode, supportedAccessModes));
  const others = modes.some((mode) => mode !== 'ReadWriteOncePod' && supportedAccessModes.includes(mode));
  if (modes.includes('ReadWriteOncePod') && others) errors.push(forbidden(field, 'may not use ReadWriteOncePod with other access modes'));
  return errors;
}

function validateCapacity(capacity: Readonly<Record<string, string>>, field: string): FieldError[] {
  const resources = Object.entries(capacity);
  const errors: FieldError[] = resources.length === 0 ? [required(field)] : [];
  if (!Object.hasOwn(capacity, 'storage') || resources.length > 1) {
    errors.push(notOneOf(field, resources.length === 0 ? null : capacity, ['storage']));
  }
  for (const [name, quantity] of resources) {
    errors.push(...validateBasicResource(quantity, `${field}[${name}]`), ...positiveQuantity(quantity, `${field}[${name}]`));
  }
  return errors;
}

function validateReclaimPolicy(spec: PersistentVolumeSpec, field: string, rules: VolumeSpecRules): FieldError[] {
  const policy = spec.persistentVolumeReclaimPolicy ?? '';
  const at = `${field}.persistentVolumeReclaimPolicy`;
  if (policy === '') return [];
  if (rules.inline) return policy === 'Retain' ? [] : [forbidden(at, 'may only be Retain in the context of inline volumes')];
  return reclaimPolicies.includes(policy) ? [] : [notSupported(at, policy, reclaimPolicies)];
}

function validateAffinity(spec: PersistentVolumeSpec, field: string, rules: VolumeSpecRules): FieldError[] {
  if (spec.nodeAffinity === undefined) return [];
  const at = `${field}.nodeAffinity`;
  if (rules.inline) return [forbidden(at, 'may not be specified in the context of inline volumes')];
  if (spec.nodeAffinity.required === undefined) return [required(`${at}.required`, 'must specify required node constraints')];
  return validateNodeSelector(spec.nodeAffinity.required, `${at}.required`);
}

/** Scrubbing the root of a node would be its end. */
function validateRecycledRoot(spec: PersistentVolumeSpec, field: string): FieldError[] {
  if (spec.hostPath === undefined || spec.persistentVolumeReclaimPolicy !== 'Recycle' || !isRoot(spec.hostPath.path)) return [];
  return [forbidden(`${field}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'")];
}

function validateClass(spec: PersistentVolumeSpec, field: string, rules: VolumeSpecRules): FieldError[] {
  const name = spec.storageClassName ?? '';
  const at = `${field}.storageClassName`;
  if (name === '') return [];
  if (rules.inline) return [forbidden(at, 'may not be specified in the context of inline volumes')];
  return nameIsDnsSubdomain(name, false).map((wrong) => invalid(at, name, wrong));
}

function validateVolumeMode(spec: PersistentVolumeSpec, field: string, rules: VolumeSpecRules): FieldError[] {
  const mode = spec.volumeMode;
  const at = `${field}.volumeMode`;
  if (mode === undefined) return [];
  if (!rules.inline) return volumeModes.includes(mode) ? [] : [notSupported(at, mode, volumeModes)];
  return mode === 'Filesystem' ? [] : [forbidden(at, 'may not specify volumeMode other than Filesystem in the context of inline volumes')];
}

function validateAttributesClass(spec: PersistentVolumeSpec, field: string): FieldError[] {
  const name = spec.volumeAttributesClassName;
  const at = `${field}.volumeAttributesClassName`;
  if (name === undefined) return [];
  const errors = name === '' ? [required(at, 'an empty string is disallowed')] : nameIsDnsSubdomain(name, false).map((wrong) => invalid(at, name, wrong));
  if (spec.csi === undefined) errors.push(required(`${field}.csi`, 'has to be specified when using volumeAttributesClassName'));
  return errors;
}
