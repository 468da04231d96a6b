import type { FieldError } from '../../api/field-error.ts';
import type { Namespace } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import { statusErrors } from '../../api/status.ts';
import { validateFinalizerName, validateObjectMetaUpdate, validateQualifiedFinalizerName } from '../../api/validation/metadata.ts';
import { type ObjectWrite, withErrorsOfAnyKind, writeErrors } from '../../api/validation/strategy.ts';
import type { Resource } from '../objects/resources.ts';

/** `old` is undefined for a creation. */
export interface Validation {
  readonly resource: Resource;
  readonly object: KubeObject;
  readonly old: KubeObject | undefined;
  readonly write: ObjectWrite['write'] | 'finalize';
}

/** @throws ApiError 422 with all errors */
export function validate(validation: Validation): void {
  const { resource, object } = validation;
  const errors = findErrors(validation);
  if (errors.length > 0) throw statusErrors.invalid(resource.kind, object.metadata.name ?? '', errors);
}

function findErrors({ resource, object, old, write }: Validation): readonly FieldError[] {
  const { kind, metadataRules } = resource;
  try {
    if (write !== 'finalize') return writeErrors(kind, { object, old, write }, metadataRules);
    return old === undefined ? [] : finalizeErrors(resource, object, old);
  } catch (error) {
    // A list of a hundred thousand wrong elements has more errors than `push(...errors)` takes as arguments.
    if (!(error instanceof RangeError)) throw error;
    return [{ type: 'TooMany', field: 'metadata', detail: 'the object has more errors than can be reported' }];
  }
}

/** /finalize: the namespace controller removes itself from `spec.finalizers` and changes nothing else. */
function finalizeErrors({ kind, metadataRules }: Resource, object: KubeObject, old: KubeObject): readonly FieldError[] {
  const { finalizers = [] } = (object as Namespace).spec;
  const names = finalizers.flatMap((name, i) => [...validateFinalizerName(name, at(i)), ...validateQualifiedFinalizerName(name, at(i))]);
  const errors = [...validateObjectMetaUpdate(object.metadata, old.metadata, metadataRules), ...names];
  return withErrorsOfAnyKind(kind, { object, old }, { checks: ['metadataChange'], errors });
}

const at = (i: number): string => `spec.finalizers[${i}]`;
