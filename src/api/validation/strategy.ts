import type { FieldError } from '../field-error.ts';
import { type Check, type Kind, usualChecks } from '../kind.ts';
import type { KubeObject } from '../object.ts';
import { type MetadataRules, validateObjectMeta, validateObjectMetaUpdate } from './metadata.ts';
import { pathSegmentProblems } from './names.ts';

/**
 * All that is wrong with an object of a kind, in Kubernetes' order. Kubernetes runs some checks of metadata two or three
 * times, and each time adds a cause; clients that count causes see the same number here.
 */
export function createErrors<T extends KubeObject>(kind: Kind<T>, object: T): FieldError[] {
  const checks = kind.checks?.create ?? usualChecks.create;
  const errors = [...checks.flatMap((check) => run(check, kind, { object })), ...(kind.validateCreate?.(object) ?? [])];
  // What every kind must keep to is said only if the kind itself has nothing to say.
  return errors.length > 0 ? errors : validateObjectMeta(object.metadata, anyName(kind));
}

export function updateErrors<T extends KubeObject>(kind: Kind<T>, object: T, old: T): FieldError[] {
  const checks = kind.checks?.update ?? usualChecks.update;
  return [...errorsOfAnyKind(kind, object, old), ...checks.flatMap((check) => run(check, kind, { object, old, rule: kind.validateUpdate }))];
}

/** The same for a write to the status subresource. */
export function statusUpdateErrors<T extends KubeObject>(kind: Kind<T>, object: T, old: T): FieldError[] {
  const checks = kind.checks?.status ?? usualChecks.status;
  return [...errorsOfAnyKind(kind, object, old), ...checks.flatMap((check) => run(check, kind, { object, old, rule: kind.status?.validateUpdate }))];
}

interface Write<T> {
  readonly object: T;
  readonly old?: T;
  readonly rule?: ((object: T, old: T) => readonly FieldError[]) | undefined;
}

function run<T extends KubeObject>(check: Check, kind: Kind<T>, { object, old, rule }: Write<T>): readonly FieldError[] {
  const qualifiedFinalizers = kind.looseFinalizers !== true;
  switch (check) {
    case 'metadata':
      return validateObjectMeta(object.metadata, {
        namespaced: kind.namespaced,
        validateName: (name, prefix) => kind.validateName(name, prefix),
        qualifiedFinalizers,
      });
    case 'object':
      return kind.validate?.(object) ?? [];
    case 'metadataChange':
      return old === undefined ? [] : validateObjectMetaUpdate(object.metadata, old.metadata, { qualifiedFinalizers });
    case 'change':
      return old === undefined ? [] : (rule?.(object, old) ?? []);
  }
}

const anyName = (kind: Pick<Kind, 'namespaced'>): MetadataRules => ({ namespaced: kind.namespaced, validateName: pathSegmentProblems });

const errorsOfAnyKind = (kind: Pick<Kind, 'namespaced'>, object: KubeObject, old: KubeObject): FieldError[] => [
  ...validateObjectMeta(object.metadata, anyName(kind)),
  ...validateObjectMetaUpdate(object.metadata, old.metadata),
];
