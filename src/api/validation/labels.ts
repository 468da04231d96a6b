import { type FieldError, forbidden, invalid, maxReportedErrors, required } from '../field-error.ts';
import type { LabelSelector, LabelSelectorRequirement } from '../generated/types.ts';
import { labelValueProblems, labelKeyProblems } from './names.ts';

export function validateLabelName(name: string, field: string): FieldError[] {
  return labelKeyProblems(name).map((wrong) => invalid(field, name, wrong));
}

export function validateLabels(labels: Readonly<Record<string, string>> | undefined, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (labels === undefined) return errors;
  for (const key of Object.keys(labels)) {
    if (errors.length >= maxReportedErrors) break;
    const value = labels[key] ?? '';
    for (const wrong of labelKeyProblems(key)) errors.push(invalid(field, key, wrong));
    for (const wrong of labelValueProblems(value)) errors.push(invalid(field, value, wrong));
  }
  return errors;
}

export interface LabelSelectorRules {
  /** Objects that were stored before values were checked keep what they have. */
  readonly allowInvalidValues?: boolean;
}

export function validateLabelSelector(selector: LabelSelector | undefined, field: string, rules: LabelSelectorRules = {}): FieldError[] {
  if (selector === undefined) return [];
  return [
    ...validateLabels(selector.matchLabels, `${field}.matchLabels`),
    ...(selector.matchExpressions ?? []).flatMap((requirement, i) => validateRequirement(requirement, `${field}.matchExpressions[${i}]`, rules)),
  ];
}

function validateRequirement(requirement: LabelSelectorRequirement, field: string, rules: LabelSelectorRules): FieldError[] {
  const values = requirement.values ?? [];
  return [
    ...validateOperator(requirement.operator, values, field),
    ...validateLabelName(requirement.key, `${field}.key`),
    ...(rules.allowInvalidValues === true ? [] : validateValues(values, `${field}.values`)),
  ];
}

function validateOperator(operator: string, values: readonly string[], field: string): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? [] : [required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0 ? [] : [forbidden(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    default:
      return [invalid(`${field}.operator`, operator, 'not a valid selector operator')];
  }
}

const validateValues = (values: readonly string[], field: string): FieldError[] =>
  values.flatMap((value, i) => labelValueProblems(value).map((wrong) => invalid(`${field}[${i}]`, value, wrong)));
