import { duplicate, type FieldError, invalid, notSupported, required } from '../../field-error.ts';
import type { MutatingAdmissionPolicyBinding, ParamRef, ValidatingAdmissionPolicyBinding } from '../../generated/types.ts';
import type { Column, Kind } from '../../kind.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { admissionKind } from './admission-kind.ts';
import { validateParamRef, validatePolicyName } from './policy-rules.ts';
import { defaultMatchResources, reservedNameWarnings, validateMatchResources, validateMutatingOperations } from './rules.ts';

type Binding = ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding;

const actions = ['Audit', 'Deny', 'Warn'];

const validateBinding = ({ spec: { policyName, paramRef, matchResources } }: Binding): FieldError[] => [
  ...validatePolicyName(policyName, 'spec.policyName'),
  ...validateParamRef(paramRef, 'spec.paramRef'),
  ...(matchResources === undefined ? [] : validateMatchResources(matchResources, 'spec.matchResources')),
];

function validateActions(given: readonly string[], field: string): FieldError[] {
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const [i, action] of given.entries()) {
    if (!actions.includes(action)) errors.push(notSupported(`${field}[${i}]`, action, actions));
    if (seen.has(action)) errors.push(duplicate(`${field}[${i}]`, action));
    seen.add(action);
  }
  if (seen.has('Deny') && seen.has('Warn')) {
    const why = 'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    errors.push(invalid(field, given, why));
  }
  return given.length === 0 ? [required(field, 'at least one validation action is required')] : errors;
}

const validateValidating = (binding: ValidatingAdmissionPolicyBinding): FieldError[] => [
  ...validateBinding(binding),
  ...validateActions(binding.spec.validationActions ?? [], 'spec.validationActions'),
];

const validateMutating = (binding: MutatingAdmissionPolicyBinding): FieldError[] => [
  ...validateBinding(binding),
  ...validateMutatingOperations(binding.spec.matchResources?.resourceRules, 'spec.matchResources'),
];

const defaults = ({ spec }: Binding): void => defaultMatchResources(spec.matchResources);

function paramRefCell(ref: ParamRef | undefined): string {
  if (ref === undefined) return '<unset>';
  const { name = '', namespace = '', selector } = ref;
  if (name !== '') return `${namespace === '' ? '*' : namespace}/${name}`;
  return selector === undefined ? '<unset>' : goSelector(selector);
}

/** As Go prints the struct. */
function goSelector({ matchLabels = {}, matchExpressions = [] }: NonNullable<ParamRef['selector']>): string {
  const labels = Object.entries(matchLabels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`);
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}

const columns = <T extends Binding>(): readonly Column<T>[] => [
  nameColumn,
  textColumn('PolicyName', ({ spec }) => spec.policyName ?? ''),
  textColumn('ParamRef', ({ spec }) => paramRefCell(spec.paramRef)),
  ageColumn,
];

export const validatingAdmissionPolicyBindingKind: Kind<ValidatingAdmissionPolicyBinding> = {
  ...admissionKind('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'),
  defaults,
  validate: validateValidating,
  validateUpdate: validateValidating,
  warnings: ({ metadata }) => reservedNameWarnings(metadata.name),
  columns: columns(),
};

export const mutatingAdmissionPolicyBindingKind: Kind<MutatingAdmissionPolicyBinding> = {
  ...admissionKind('MutatingAdmissionPolicyBinding', 'mutatingadmissionpolicybindings'),
  defaults,
  validate: validateMutating,
  validateUpdate: validateMutating,
  warnings: ({ metadata }) => reservedNameWarnings(metadata.name),
  columns: columns(),
};
