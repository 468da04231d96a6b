import type { FieldError } from '../../api/field-error.ts';
import type { Namespace } from '../../api/generated/types.ts';
import { type Check, type Kind, usualChecks, type WriteChecks } from '../../api/kind.ts';
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
  readonly write: keyof WriteChecks | 'approval' | 'finalize';
}

/** @throws ApiError 422 with all that is wrong */
export function validate(validation: Validation): void {
  const { resource, object, write } = validation;
  const { kind } = resource;
  let errors = findErrors(validation);
  // A kind may allow names that cannot be a part of a path.
  if (errors.length === 0 && write === 'create') errors = pathErrors(object);
  if (errors.length > 0) throw statusErrors.invalid(kind, object.metadata.name ?? '', errors);
}

function findErrors(validation: Validation): readonly FieldError[] {
  const { resource, write } = validation;
  try {
    if (write === 'finalize') return finalizeErrors(validation);
    const checks = write === 'approval' ? 'status' : write;
    return (resource.kind.checks?.[checks] ?? usualChecks[checks]).flatMap((check) => run(check, validation));
  } catch (error) {
    // More errors than a call can pass on at once: a list of a hundred thousand elements, each of them wrong.
    if (!(error instanceof RangeError)) throw error;
    return [{ type: 'TooMany', field: 'metadata', detail: 'the object has more errors than can be reported' }];
  }
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
      return changeRules(kind, write)?.validateUpdate?.(object, old) ?? [];
  }
}

const changeRules = (kind: Kind, write: Validation['write']): Pick<Kind, 'validateUpdate'> | undefined =>
  write === 'status' ? kind.status : write === 'approval' ? kind.approval : kind;

/** Whoever empties a namespace takes its name from `spec.finalizers`, and changes nothing else. */
function finalizeErrors(validation: Validation): FieldError[] {
  const { finalizers = [] } = (validation.object as Namespace).spec;
  const names = finalizers.flatMap((name, i) => [...validateFinalizerName(name, at(i)), ...validateQualifiedFinalizerName(name, at(i))]);
  return [...run('metadataChange', validation), ...names];
}

const at = (i: number): string => `spec.finalizers[${i}]`;

const pathErrors = ({ metadata: { name = '' } }: KubeObject): FieldError[] =>
  pathSegmentProblems(name, false).map((detail) => ({ type: 'Invalid', field: 'metadata.name', value: name, detail }));
