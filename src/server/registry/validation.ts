import type { FieldError } from '../../api/field-error.ts';
import type { Namespace } from '../../api/generated/types.ts';
import { type Check, usualChecks, type WriteChecks } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { statusErrors } from '../../api/status.ts';
import { validateFinalizerName, validateObjectMeta, validateObjectMetaUpdate, validateQualifiedFinalizerName } from '../../api/validation/metadata.ts';
import { pathSegmentProblems } from '../../api/validation/names.ts';
import type { Resource } from './resources.ts';

/** A write that is about to be stored. `old` is undefined for a creation. */
export interface Validation {
  readonly resource: Resource;
  readonly object: KubeObject;
  readonly old: KubeObject | undefined;
  readonly write: keyof WriteChecks | 'finalize';
}

/** @throws ApiError 422 with all that is wrong */
export function validate(validation: Validation): void {
  const { resource, object, write } = validation;
  const { kind } = resource;
  const errors: FieldError[] = [];
  if (write === 'finalize') errors.push(...finalizeErrors(validation));
  else for (const check of kind.checks?.[write] ?? usualChecks[write]) errors.push(...run(check, validation));
  // A kind may allow names that cannot be a part of a path.
  if (errors.length === 0 && write === 'create') errors.push(...pathErrors(object));
  if (errors.length > 0) throw statusErrors.invalid(kind, object.metadata.name ?? '', errors);
}

function run(check: Check, { resource, object, old, write }: Validation): readonly FieldError[] {
  const { kind, metadataRules } = resource;
  switch (check) {
    case 'metadata':
      return validateObjectMeta(object.metadata, metadataRules);
    case 'object':
      return [...(kind.validate?.(object) ?? []), ...(old === undefined ? (kind.validateCreate?.(object) ?? []) : [])];
    case 'metadataChange':
      return old === undefined ? [] : validateObjectMetaUpdate(object.metadata, old.metadata, metadataRules);
    case 'change':
      if (old === undefined) return [];
      return (write === 'status' ? kind.status?.validateUpdate?.(object, old) : kind.validateUpdate?.(object, old)) ?? [];
  }
}

/** Whoever empties a namespace takes its name from `spec.finalizers`, and changes nothing else. */
function finalizeErrors(validation: Validation): FieldError[] {
  const { finalizers = [] } = (validation.object as Namespace).spec;
  const names = finalizers.flatMap((name, i) => [...validateFinalizerName(name, at(i)), ...validateQualifiedFinalizerName(name, at(i))]);
  return [...run('metadataChange', validation), ...names];
}

const at = (i: number): string => `spec.finalizers[${i}]`;

const pathErrors = ({ metadata: { name = '' } }: KubeObject): FieldError[] =>
  pathSegmentProblems(name, false).map((detail) => ({ type: 'Invalid', field: 'metadata.name', value: name, detail }));
