/** What policies that validate and policies that mutate have in common. */
import { type ExpressionScope, loadedExpressions } from '../../admission/expressions.ts';
import { type FieldError, forbidden, invalid, notOneOf, required } from '../../field-error.ts';
import type { MatchCondition, MatchResources, ParamKind, ParamRef, Variable } from '../../generated/types.ts';
import { semanticallyEqual } from '../../validation/equality.ts';
import { validateLabelSelector } from '../../validation/labels.ts';
import { dns1035LabelProblems, dnsSubdomainProblems, pathSegmentProblems } from '../../validation/names.ts';
import { validateExpression, validateMatchConditions } from './conditions.ts';
import { validateFailurePolicy, validateMatchResources } from './rules.ts';

export interface PolicySpec {
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly failurePolicy?: string;
  readonly matchConditions?: MatchCondition[];
  readonly variables?: Variable[];
}

/** `old`: what is there already, of which conditions that stay are not looked at again. */
export function validatePolicyHead(spec: PolicySpec, old: PolicySpec | undefined): FieldError[] {
  const { paramKind, matchConstraints, failurePolicy, matchConditions } = spec;
  const unchanged = old !== undefined && semanticallyEqual(paramKind, old.paramKind) && semanticallyEqual(matchConditions, old.matchConditions);
  const known: ExpressionScope = { params: paramKind !== undefined, authorizer: true };
  return [
    ...(failurePolicy === undefined ? [required('spec.failurePolicy')] : validateFailurePolicy(failurePolicy, 'spec.failurePolicy')),
    ...(paramKind === undefined ? [] : validateParamKind(paramKind, 'spec.paramKind')),
    ...validateConstraints(matchConstraints, 'spec.matchConstraints'),
    ...(unchanged ? [] : validateMatchConditions(matchConditions, known, 'spec.matchConditions')),
  ];
}

function validateConstraints(match: MatchResources | undefined, field: string): FieldError[] {
  if (match === undefined) return [required(field)];
  const errors = validateMatchResources(match, field);
  return (match.resourceRules ?? []).length === 0 ? [...errors, required(`${field}.resourceRules`)] : errors;
}

function validateParamKind({ apiVersion = '', kind = '' }: ParamKind, field: string): FieldError[] {
  const errors: FieldError[] = apiVersion === '' ? [required(`${field}.apiVersion`)] : validateApiVersion(apiVersion, `${field}.apiVersion`);
  if (kind === '') return [...errors, required(`${field}.kind`)];
  const problems = dns1035LabelProblems(kind.toLowerCase());
  if (problems.length > 0) errors.push(invalid(`${field}.kind`, kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`));
  return errors;
}

function validateApiVersion(apiVersion: string, field: string): FieldError[] {
  const parts = apiVersion === '/' ? ['', ''] : apiVersion.split('/');
  if (parts.length > 2) return [invalid(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  const [version = '', group = ''] = parts.toReversed();
  const errors: FieldError[] = [];
  const groupProblems = group === '' ? [] : dnsSubdomainProblems(group);
  if (groupProblems.length > 0) errors.push(invalid(field, group, groupProblems.join(',')));
  if (version === '') return [...errors, invalid(field, apiVersion, 'version must be specified')];
  const versionProblems = dns1035LabelProblems(version);
  if (versionProblems.length > 0) errors.push(invalid(field, version, versionProblems.join(',')));
  return errors;
}

const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const reserved: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);

/** What later expressions know of a policy's variables: each knows those before it. */
export interface ReadVariables {
  readonly errors: readonly FieldError[];
  /** undefined: there are none, and no expression knows `variables`. */
  readonly types: ReadonlyMap<string, string> | undefined;
}

export function readVariables({ variables = [], paramKind }: PolicySpec, always: boolean): ReadVariables {
  const types = new Map<string, string>();
  const errors: FieldError[] = [];
  for (const [i, { name, expression }] of variables.entries()) {
    const field = `spec.variables[${i}]`;
    if (name.trim() === '') errors.push(required(`${field}.name`, 'name is not specified'));
    else if (!identifier.test(name) || reserved.has(name)) errors.push(invalid(`${field}.name`, name, 'must be a valid CEL identifier'));
    if (expression.trim() === '') {
      errors.push(required(`${field}.expression`, 'expression is not specified'));
      continue;
    }
    const known: ExpressionScope = { params: paramKind !== undefined, authorizer: true, variables: new Map(types) };
    errors.push(...validateExpression(expression, known, { types: [], field: `${field}.expression` }));
    const compilation = loadedExpressions()?.compile(expression, known);
    types.set(name, compilation?.ok === true ? compilation.compiled.type : 'dyn');
  }
  return { errors, types: variables.length > 0 || always ? types : undefined };
}

export function validateParamRef(ref: ParamRef | undefined, field: string): FieldError[] {
  if (ref === undefined) return [];
  const { name = '', selector, parameterNotFoundAction: action = '' } = ref;
  const errors: FieldError[] = [];
  const both = name !== '' && selector !== undefined;
  for (const problem of name === '' ? [] : pathSegmentProblems(name, false)) errors.push(invalid(`${field}.name`, name, problem));
  if (both) errors.push(forbidden(`${field}.name`, 'name and selector are mutually exclusive'));
  errors.push(...validateLabelSelector(selector, `${field}.selector`));
  if (both) errors.push(forbidden(`${field}.selector`, 'name and selector are mutually exclusive'));
  if (name === '' && selector === undefined) errors.push(required(field, 'one of name or selector must be specified'));
  if (action === '') errors.push(required(`${field}.parameterNotFoundAction`));
  else if (action !== 'Deny' && action !== 'Allow') errors.push(notOneOf(`${field}.parameterNotFoundAction`, action, ['Deny', 'Allow']));
  return errors;
}

export function validatePolicyName(name: string | undefined, field: string): FieldError[] {
  if (name === undefined || name === '') return [required(field)];
  return dnsSubdomainProblems(name).map((problem) => invalid(field, name, problem));
}

/** As tables show it. */
export const paramKindCell = (kind: ParamKind | undefined): string => (kind === undefined ? '<unset>' : `${kind.apiVersion ?? ''}/${kind.kind ?? ''}`);
