import { duplicate, type FieldError, forbidden, invalid, required } from '../field-error.ts';
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PreferredSchedulingTerm, TopologySelectorTerm } from '../generated/types.ts';
import { validateLabelName } from './labels.ts';
import { labelValueProblems, nameIsDnsSubdomain } from './names.ts';
import { repeats } from './repeats.ts';

export interface NodeSelectorRules {
  /** Objects that were stored before values were checked keep what they have. */
  readonly allowInvalidValues?: boolean;
}

export function validateNodeSelector(selector: NodeSelector, field: string, rules: NodeSelectorRules = {}): FieldError[] {
  const terms = selector.nodeSelectorTerms ?? [];
  const at = `${field}.nodeSelectorTerms`;
  if (terms.length === 0) return [required(at, 'must have at least one node selector term')];
  return terms.flatMap((term, i) => validateNodeSelectorTerm(term, `${at}[${i}]`, rules));
}

export function validateNodeSelectorTerm(term: NodeSelectorTerm, field: string, rules: NodeSelectorRules = {}): FieldError[] {
  return [
    ...(term.matchExpressions ?? []).flatMap((requirement, i) => validateExpression(requirement, `${field}.matchExpressions[${i}]`, rules)),
    ...(term.matchFields ?? []).flatMap((requirement, i) => validateFieldRequirement(requirement, `${field}.matchFields[${i}]`)),
  ];
}

function validateExpression(requirement: NodeSelectorRequirement, field: string, rules: NodeSelectorRules): FieldError[] {
  const values = requirement.values ?? [];
  const errors = [...validateOperator(requirement.operator, values.length, field), ...validateLabelName(requirement.key, `${field}.key`)];
  if (rules.allowInvalidValues === true) return errors;
  return [...errors, ...values.flatMap((value, i) => labelValueProblems(value).map((wrong) => invalid(`${field}.values[${i}]`, value, wrong)))];
}

function validateOperator(operator: string, values: number, field: string): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values > 0 ? [] : [required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return values === 0 ? [] : [forbidden(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    case 'Gt':
    case 'Lt':
      return values === 1 ? [] : [required(`${field}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [invalid(`${field}.operator`, operator, 'not a valid selector operator')];
  }
}

/** The only field of a node that can be selected is its name. */
function validateFieldRequirement(requirement: NodeSelectorRequirement, field: string): FieldError[] {
  const { key, operator, values = [] } = requirement;
  const errors: FieldError[] = [];
  if (operator !== 'In' && operator !== 'NotIn') errors.push(invalid(`${field}.operator`, operator, 'not a valid selector operator'));
  else if (values.length !== 1) {
    errors.push(required(`${field}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
  }
  if (key !== 'metadata.name') return [...errors, invalid(`${field}.key`, key, 'not a valid field selector key')];
  return [...errors, ...values.flatMap((value, i) => nameIsDnsSubdomain(value, false).map((wrong) => invalid(`${field}.values[${i}]`, value, wrong)))];
}

export function validatePreferredSchedulingTerms(terms: readonly PreferredSchedulingTerm[], field: string): FieldError[] {
  return terms.flatMap((term, i) => [
    ...(term.weight <= 0 || term.weight > 100 ? [invalid(`${field}[${i}].weight`, term.weight, 'must be in the range 1-100')] : []),
    // What is merely preferred may have any value: it cannot keep a pod from running.
    ...validateNodeSelectorTerm(term.preference, `${field}[${i}].preference`, { allowInvalidValues: true }),
  ]);
}

/** A term of a class's allowedTopologies. */
export function validateTopologySelectorTerm(term: TopologySelectorTerm, field: string): FieldError[] {
  const keys = new Set<string>();
  return (term.matchLabelExpressions ?? []).flatMap((requirement, i) => {
    const at = `${field}.matchLabelExpressions[${i}]`;
    const values = requirement.values ?? [];
    const errors: FieldError[] = values.length === 0 ? [required(`${at}.values`)] : [];
    const isRepeated = repeats(values);
    for (const [j, value] of values.entries()) if (isRepeated[j]) errors.push(duplicate(`${at}.values[${j}]`, value));
    errors.push(...validateLabelName(requirement.key, `${at}.key`));
    if (keys.has(requirement.key)) errors.push(duplicate(`${at}.key`, requirement.key));
    keys.add(requirement.key);
    return errors;
  });
}
