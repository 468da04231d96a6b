import type { FieldError } from '../field-error.ts';
import { type Check, type Kind, type SpecPart, usualChecks, type WriteChecks } from '../kind.ts';
import type { KubeObject } from '../object.ts';
import { type MetadataRules, validateObjectMeta, validateObjectMetaUpdate } from './metadata.ts';
import { pathSegmentProblems } from './names.ts';

/** A write that is about to be stored. `old` is undefined for a creation. */
export interface ObjectWrite<T extends KubeObject = KubeObject> {
  readonly object: T;
  readonly old?: T | undefined;
  readonly write: keyof WriteChecks | 'approval' | SpecPart;
}

/**
 * All that is wrong with a write, in Kubernetes' order. Kubernetes runs some checks of metadata two or three times, and
 * each time adds a cause; clients that count causes see the same number here.
 */
export function writeErrors<T extends KubeObject>(kind: Kind<T>, written: ObjectWrite<T>, rules = metadataRulesOf(kind)): readonly FieldError[] {
  const { object, old, write } = written;
  const checked = checkedAs(write);
  const checks = kind.checks?.[checked] ?? usualChecks[checked];
  const refused = old === undefined ? [] : (specPartOf(kind, write)?.refuse(old) ?? []);
  const found = refused.length > 0 ? refused : checks.flatMap((check) => run(check, kind, { written, rules }));
  const errors = old === undefined && kind.validateCreate !== undefined ? [...found, ...kind.validateCreate(object)] : found;
  return withErrorsOfAnyKind(kind, { object, old }, { checks, errors });
}

/** Which of a kind's lists of checks a write runs. */
function checkedAs(write: ObjectWrite['write']): keyof WriteChecks {
  switch (write) {
    case 'approval':
      return 'status';
    case 'ephemeralcontainers':
    case 'resize':
      return 'update';
    default:
      return write;
  }
}

const specPartOf = <T extends KubeObject>(kind: Kind<T>, write: ObjectWrite['write']) =>
  write === 'ephemeralcontainers' || write === 'resize' ? kind.parts?.[write] : undefined;

/**
 * Adds what no object of any kind may have: in a change it comes first, in a creation only if the kind itself has
 * nothing to say. What the kind's own checks have found to be right is not looked at once more.
 */
export function withErrorsOfAnyKind(
  kind: Pick<Kind, 'namespaced'>,
  { object, old }: Pick<ObjectWrite, 'object' | 'old'>,
  own: { readonly checks: readonly Check[]; readonly errors: readonly FieldError[] },
): readonly FieldError[] {
  const { checks, errors } = own;
  const anyName: MetadataRules = { namespaced: kind.namespaced, validateName: pathSegmentProblems };
  if (old === undefined) {
    if (errors.length > 0) return errors;
    // A kind may allow names that cannot be a part of a path.
    const seen = checks.includes('metadata') && pathSegmentProblems(object.metadata.name ?? '', false).length === 0;
    return seen ? [] : validateObjectMeta(object.metadata, anyName);
  }
  if (errors.length === 0 && checks.includes('metadata') && checks.includes('metadataChange')) return [];
  return [...validateObjectMeta(object.metadata, anyName), ...validateObjectMetaUpdate(object.metadata, old.metadata), ...errors];
}

export const createErrors = <T extends KubeObject>(kind: Kind<T>, object: T): readonly FieldError[] => writeErrors(kind, { object, write: 'create' });

export const updateErrors = <T extends KubeObject>(kind: Kind<T>, object: T, old: T): readonly FieldError[] =>
  writeErrors(kind, { object, old, write: 'update' });

/** The same for a write to the status subresource. */
export const statusUpdateErrors = <T extends KubeObject>(kind: Kind<T>, object: T, old: T): readonly FieldError[] =>
  writeErrors(kind, { object, old, write: 'status' });

export const metadataRulesOf = (kind: Pick<Kind, 'namespaced' | 'validateName' | 'looseFinalizers'>): MetadataRules => ({
  namespaced: kind.namespaced,
  validateName: (name, prefix) => kind.validateName(name, prefix),
  qualifiedFinalizers: kind.looseFinalizers !== true,
});

function run<T extends KubeObject>(check: Check, kind: Kind<T>, { written, rules }: { written: ObjectWrite<T>; rules: MetadataRules }): readonly FieldError[] {
  const { object, old, write } = written;
  switch (check) {
    case 'metadata':
      return validateObjectMeta(object.metadata, rules);
    case 'object':
      return kind.validate?.(object) ?? [];
    case 'metadataChange':
      return old === undefined ? [] : validateObjectMetaUpdate(object.metadata, old.metadata, rules);
    case 'change':
      return old === undefined ? [] : (changeRules(kind, write)?.validateUpdate?.(object, old) ?? []);
  }
}

const changeRules = <T extends KubeObject>(kind: Kind<T>, write: ObjectWrite['write']): Pick<Kind<T>, 'validateUpdate'> | undefined =>
  write === 'status' ? kind.status : write === 'approval' ? kind.approval : (specPartOf(kind, write) ?? kind);
