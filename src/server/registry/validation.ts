import type { FieldError } from '../../api/field-error.ts';
import type { Namespace } from '../../api/generated/types.ts';
import { type Check, type Kind, usualChecks, type WriteChecks } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { statusErrors } from '../../api/status.ts';
import {
  type MetadataRules,
  validateFinalizerName,
  validateObjectMeta,
  validateObjectMetaUpdate,
  validateQualifiedFinalizerName,
} from '../../api/validation/metadata.ts';
import { pathSegmentProblems } from '../../api/validation/names.ts';

/** A write that is about to be stored. `old` is undefined for a creation. */
export interface Validation {
  readonly kind: Kind;
  readonly object: KubeObject;
  readonly old: KubeObject | undefined;
  readonly write: keyof WriteChecks | 'finalize';
}

/** @throws ApiError 422 with all that is wrong */
export function validate(validation: Validation): void {
  const { kind, object, write } = validation;
  const errors = write === 'finalize' ? finalizeErrors(validation) : (kind.checks?.[write] ?? usualChecks[write]).flatMap((check) => run(check, validation));
  // A kind may allow names that cannot be a part of a path.
  if (errors.length === 0 && write === 'create') errors.push(...pathErrors(object));
  if (errors.length > 0) throw statusErrors.invalid(kind, object.metadata.name ?? '', errors);
}

function run(check: Check, { kind, object, old, write }: Validation): readonly FieldError[] {
  switch (check) {
    case 'metadata':
      return validateObjectMeta(object.metadata, rulesOf(kind));
    case 'object':
      return [...(kind.validate?.(object) ?? []), ...(old === undefined ? (kind.validateCreate?.(object) ?? []) : [])];
    case 'metadataChange':
      return old === undefined ? [] : validateObjectMetaUpdate(object.metadata, old.metadata, rulesOf(kind));
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

const rulesOf = (kind: Kind): MetadataRules => ({
  namespaced: kind.namespaced,
  validateName: (name, prefix) => kind.validateName(name, prefix),
  qualifiedFinalizers: kind.looseFinalizers !== true,
});

const pathErrors = ({ metadata: { name = '' } }: KubeObject): FieldError[] =>
  pathSegmentProblems(name, false).map((detail) => ({ type: 'Invalid', field: 'metadata.name', value: name, detail }));
