import { type FieldError, forbidden, invalid, maxReportedErrors, required, tooLong } from '../field-error.ts';
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../generated/types.ts';
import { semanticallyEqual } from './equality.ts';
import { validateLabels } from './labels.ts';
import { labelKeyProblems, nameIsDnsLabel } from './names.ts';
import { byteLength } from './text.ts';

export const TOTAL_ANNOTATION_SIZE_LIMIT = 256 * 1024;
export const IMMUTABLE = 'field is immutable';
const FIELD_MANAGER_MAX_LENGTH = 128;
const SUBRESOURCE_MAX_LENGTH = 256;
const ORPHAN_DEPENDENTS = 'orphan';
const DELETE_DEPENDENTS = 'foregroundDeletion';
/** Finalizers from before names had to be qualified. */
const standardFinalizers: ReadonlySet<string> = new Set(['kubernetes', ORPHAN_DEPENDENTS, DELETE_DEPENDENTS]);

export interface MetadataRules {
  readonly namespaced: boolean;
  readonly validateName: (name: string, prefix: boolean) => readonly string[];
  /** Names of finalizers need a domain, as all but a few kinds demand. */
  readonly qualifiedFinalizers?: boolean;
}

/** What is wrong with the metadata of an object; its name was generated already. */
export function validateObjectMeta(metadata: ObjectMeta, rules: MetadataRules, field = 'metadata'): FieldError[] {
  return [
    ...validateGivenName(metadata, rules, field),
    ...validateNamespace(metadata, rules, field),
    ...nonNegative(metadata.generation ?? 0, `${field}.generation`),
    ...validateLabels(metadata.labels, `${field}.labels`),
    ...validateAnnotations(metadata.annotations, `${field}.annotations`),
    ...validateOwnerReferences(metadata.ownerReferences ?? [], `${field}.ownerReferences`),
    ...validateFinalizers(metadata.finalizers ?? [], `${field}.finalizers`),
    ...validateManagedFields(metadata.managedFields ?? [], `${field}.managedFields`),
    ...(rules.qualifiedFinalizers === true ? validateQualifiedFinalizers(metadata, field) : []),
  ];
}

/** What is wrong with a change of metadata. */
export function validateObjectMetaUpdate(
  metadata: ObjectMeta,
  old: ObjectMeta,
  rules: Pick<MetadataRules, 'qualifiedFinalizers'> = {},
  field = 'metadata',
): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) errors.push(...validateNoNewFinalizers(metadata, old, `${field}.finalizers`));
  const version = metadata.resourceVersion ?? '';
  if (version === '') errors.push(invalid(`${field}.resourceVersion`, version, 'must be specified for an update'));
  if ((metadata.generation ?? 0) < (old.generation ?? 0)) errors.push(invalid(`${field}.generation`, metadata.generation ?? 0, 'must not be decremented'));
  for (const name of ['name', 'namespace', 'uid'] as const) errors.push(...immutable(metadata[name] ?? '', old[name] ?? '', `${field}.${name}`));
  for (const name of ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    errors.push(...immutable(metadata[name], old[name], `${field}.${name}`));
  }
  errors.push(
    ...validateLabels(metadata.labels, `${field}.labels`),
    ...validateAnnotations(metadata.annotations, `${field}.annotations`),
    ...validateOwnerReferences(metadata.ownerReferences ?? [], `${field}.ownerReferences`),
    ...validateManagedFields(metadata.managedFields ?? [], `${field}.managedFields`),
  );
  return rules.qualifiedFinalizers === true ? [...errors, ...validateQualifiedFinalizers(metadata, field)] : errors;
}

function validateGivenName(metadata: ObjectMeta, rules: MetadataRules, field: string): FieldError[] {
  const { generateName, name = '' } = metadata;
  const errors: FieldError[] = [];
  if (generateName !== undefined && generateName !== '') {
    errors.push(...rules.validateName(generateName, true).map((wrong) => invalid(`${field}.generateName`, generateName, wrong)));
  }
  if (name === '') errors.push(required(`${field}.name`, 'name or generateName is required'));
  else errors.push(...rules.validateName(name, false).map((wrong) => invalid(`${field}.name`, name, wrong)));
  return errors;
}

function validateNamespace(metadata: ObjectMeta, rules: MetadataRules, field: string): FieldError[] {
  const namespace = metadata.namespace ?? '';
  if (!rules.namespaced) return namespace === '' ? [] : [forbidden(`${field}.namespace`, 'not allowed on this type')];
  if (namespace === '') return [required(`${field}.namespace`)];
  return nameIsDnsLabel(namespace, false).map((wrong) => invalid(`${field}.namespace`, namespace, wrong));
}

export function validateAnnotations(annotations: Readonly<Record<string, string>> | undefined, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (annotations === undefined) return errors;
  let size = 0;
  for (const key of Object.keys(annotations)) {
    // Keys are qualified names but for their case.
    if (errors.length < maxReportedErrors) for (const wrong of labelKeyProblems(key.toLowerCase())) errors.push(invalid(field, key, wrong));
    size += byteLength(key) + byteLength(annotations[key] ?? '');
  }
  if (size > TOTAL_ANNOTATION_SIZE_LIMIT) errors.push(tooLong(field, TOTAL_ANNOTATION_SIZE_LIMIT));
  return errors;
}

function validateOwnerReferences(references: readonly OwnerReference[], field: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller = '';
  for (const reference of references) {
    if (errors.length >= maxReportedErrors) break;
    errors.push(...validateOwnerReference(reference, field));
    if (reference.controller !== true) continue;
    const name = `${reference.kind}/${reference.name}`;
    if (controller === '') controller = name;
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.push(invalid(field, references, detail));
    }
  }
  return errors;
}

function validateOwnerReference(reference: OwnerReference, field: string): FieldError[] {
  const { apiVersion, kind, name, uid } = reference;
  const errors: FieldError[] = [];
  const version = versionOf(apiVersion);
  if (version === '') errors.push(invalid(`${field}.apiVersion`, apiVersion, 'version must not be empty'));
  for (const [key, value] of Object.entries({ kind, name, uid })) if (value === '') errors.push(invalid(`${field}.${key}`, value, 'must not be empty'));
  if (apiVersion === 'v1' && kind === 'Event') errors.push(invalid(field, reference, '/v1, Kind=Event is disallowed from being an owner'));
  return errors;
}

function versionOf(apiVersion: string): string {
  const parts = apiVersion.split('/');
  return parts.length > 2 ? '' : (parts[parts.length - 1] ?? '');
}

function validateFinalizers(finalizers: readonly string[], field: string): FieldError[] {
  const errors = errorsOfEach(finalizers, (finalizer) => validateFinalizerName(finalizer, field));
  if (finalizers.includes(ORPHAN_DEPENDENTS) && finalizers.includes(DELETE_DEPENDENTS)) {
    errors.push(invalid(field, finalizers, `finalizer ${ORPHAN_DEPENDENTS} and ${DELETE_DEPENDENTS} cannot be both set`));
  }
  return errors;
}

export const validateFinalizerName = (finalizer: string, field: string): FieldError[] =>
  labelKeyProblems(finalizer).map((wrong) => invalid(field, finalizer, wrong));

export function validateQualifiedFinalizerName(finalizer: string, field: string): FieldError[] {
  if (finalizer.includes('/') || standardFinalizers.has(finalizer)) return [];
  return [invalid(field, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')];
}

const validateQualifiedFinalizers = (metadata: ObjectMeta, field: string): FieldError[] =>
  errorsOfEach(metadata.finalizers ?? [], (finalizer, i) => validateQualifiedFinalizerName(finalizer, `${field}.finalizers[${i}]`));

function validateNoNewFinalizers(metadata: ObjectMeta, old: ObjectMeta, field: string): FieldError[] {
  const before = new Set(old.finalizers);
  const added = [...new Set(metadata.finalizers)].filter((finalizer) => !before.has(finalizer)).sort();
  if (added.length === 0) return [];
  const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
  return [forbidden(field, `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`)];
}

/** What is wrong with the elements of a list, up to what is reported at all. */
function errorsOfEach<T>(elements: readonly T[], check: (element: T, index: number) => FieldError[]): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, element] of elements.entries()) {
    if (errors.length >= maxReportedErrors) break;
    errors.push(...check(element, i));
  }
  return errors;
}

function validateManagedFields(entries: readonly ManagedFieldsEntry[], field: string): FieldError[] {
  return errorsOfEach(entries, (entry, i) => {
    const at = `${field}[${i}]`;
    const errors: FieldError[] = [];
    const { operation = '', fieldsType = '', manager = '', subresource = '' } = entry;
    if (operation !== 'Apply' && operation !== 'Update') errors.push(invalid(`${at}.operation`, operation, 'must be `Apply` or `Update`'));
    if (fieldsType !== '' && fieldsType !== 'FieldsV1') errors.push(invalid(`${at}.fieldsType`, fieldsType, 'must be `FieldsV1`'));
    errors.push(...validateFieldManager(manager, `${at}.manager`));
    if (byteLength(subresource) > SUBRESOURCE_MAX_LENGTH) errors.push(tooLong(`${at}.subresource`, SUBRESOURCE_MAX_LENGTH));
    return errors;
  });
}

/** The name under which a client owns fields: short and printable. */
export function validateFieldManager(manager: string, field: string): FieldError[] {
  const errors = byteLength(manager) > FIELD_MANAGER_MAX_LENGTH ? [tooLong(field, FIELD_MANAGER_MAX_LENGTH)] : [];
  let position = 0;
  for (const character of manager) {
    if (!isPrintable(character) && errors.length < maxReportedErrors)
      errors.push(invalid(field, manager, `invalid character ${codePoint(character)} (at position ${position})`));
    position += byteLength(character);
  }
  return errors;
}

const isPrintable = (character: string): boolean => character === ' ' || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character);
const codePoint = (character: string): string => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

export function nonNegative(value: number, field: string): FieldError[] {
  return value < 0 ? [invalid(field, value, 'must be greater than or equal to 0')] : [];
}

export function immutable(value: unknown, old: unknown, field: string): FieldError[] {
  return semanticallyEqual(value, old) ? [] : [invalid(field, value, IMMUTABLE)];
}
