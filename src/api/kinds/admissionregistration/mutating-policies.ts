import type { ExpressionScope } from '../../admission/expressions.ts';
import { type FieldError, invalid, notSupported, required } from '../../field-error.ts';
import type { MutatingAdmissionPolicy, MutatingAdmissionPolicySpec, Mutation } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { ageColumn, integerColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { admissionKind } from './admission-kind.ts';
import { validateExpression } from './conditions.ts';
import { paramKindCell, readVariables, validatePolicyHead } from './policy-rules.ts';
import { defaultMatchResources, reservedNameWarnings, validateMutatingOperations, validateReinvocationPolicy } from './rules.ts';

function validate({ spec }: MutatingAdmissionPolicy, old: MutatingAdmissionPolicySpec | undefined): FieldError[] {
  const { mutations = [], reinvocationPolicy = '', matchConstraints, paramKind } = spec;
  const { errors, types } = readVariables(spec, true);
  const known: ExpressionScope = { params: paramKind !== undefined, authorizer: true, ...(types === undefined ? {} : { variables: types }) };
  return [
    ...validatePolicyHead(spec, old),
    ...validateMutatingOperations(matchConstraints?.resourceRules, 'spec.matchConstraints'),
    ...errors,
    ...(mutations.length === 0 ? [required('spec.mutations', 'mutations must contain at least one item')] : []),
    ...mutations.flatMap((mutation, i) => validateMutation(mutation, known, `spec.mutations[${i}]`)),
    ...(reinvocationPolicy === '' ? [required('spec.reinvocationPolicy')] : validateReinvocationPolicy(reinvocationPolicy, 'spec.reinvocationPolicy')),
  ];
}

function validateMutation({ patchType, jsonPatch, applyConfiguration }: Mutation, known: ExpressionScope, field: string): FieldError[] {
  const given = { jsonPatch, applyConfiguration };
  const check = (wanted: keyof typeof given, other: keyof typeof given): FieldError[] => {
    const patch = given[wanted];
    return [
      ...(patch === undefined
        ? [required(`${field}.${wanted}`, `must be specified when patchType is ${patchType}`)]
        : validatePatchExpression(patch.expression ?? '', known, `${field}.${wanted}.expression`)),
      ...(given[other] === undefined ? [] : [invalid(`${field}.${other}`, `{${other}}`, `must not be specified when patchType is ${patchType}`)]),
    ];
  };
  switch (patchType) {
    case '':
      return [required(`${field}.patchType`)];
    case 'JSONPatch':
      return check('jsonPatch', 'applyConfiguration');
    case 'ApplyConfiguration':
      return check('applyConfiguration', 'jsonPatch');
    default:
      return [notSupported(`${field}.patchType`, patchType, ['ApplyConfiguration', 'JSONPatch'])];
  }
}

function validatePatchExpression(expression: string, known: ExpressionScope, field: string): FieldError[] {
  const text = expression.trim();
  return text === '' ? [required(field)] : validateExpression(text, { ...known, patches: true }, { types: [], field });
}

export const mutatingAdmissionPolicyKind: Kind<MutatingAdmissionPolicy> = {
  ...admissionKind('MutatingAdmissionPolicy', 'mutatingadmissionpolicies'),
  defaults: ({ spec }) => {
    spec.failurePolicy ??= 'Fail';
    defaultMatchResources(spec.matchConstraints);
  },
  validate: (policy) => validate(policy, undefined),
  validateUpdate: (policy, old) => validate(policy, old.spec),
  warnings: ({ metadata }) => reservedNameWarnings(metadata.name),
  columns: [
    nameColumn,
    integerColumn('Mutations', ({ spec }) => (spec.mutations ?? []).length),
    textColumn('ParamKind', ({ spec }) => paramKindCell(spec.paramKind)),
    ageColumn,
  ],
};
