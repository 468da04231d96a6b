/** Which requests a webhook or a policy is about. */
import { duplicate, type FieldError, invalid, notSupported, required } from '../../field-error.ts';
import type { MatchResources, NamedRuleWithOperations, Rule, RuleWithOperations } from '../../generated/types.ts';
import { validateLabelSelector } from '../../validation/labels.ts';
import { pathSegmentProblems } from '../../validation/names.ts';

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
/** What can be changed: not what is deleted. */
const mutatingOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];
const failurePolicies = ['Fail', 'Ignore'];
const matchPolicies = ['Equivalent', 'Exact'];
const reinvocationPolicies = ['IfNeeded', 'Never'];

const oneOf = (allowed: readonly string[], value: string, field: string): FieldError[] =>
  allowed.includes(value) ? [] : [notSupported(field, value, allowed)];

/** undefined is validated elsewhere. */
export const validateFailurePolicy = (policy: string | undefined, field: string): FieldError[] =>
  policy === undefined ? [] : oneOf(failurePolicies, policy, field);
export const validateMatchPolicy = (policy: string | undefined, field: string): FieldError[] =>
  policy === undefined ? [] : oneOf(matchPolicies, policy, field);
export const validateReinvocationPolicy = (policy: string | undefined, field: string): FieldError[] =>
  policy === undefined ? [] : oneOf(reinvocationPolicies, policy, field);

export function validateRuleWithOperations(rule: RuleWithOperations, field: string): FieldError[] {
  const given = rule.operations ?? [];
  const errors: FieldError[] = [];
  if (given.length === 0) errors.push(required(`${field}.operations`));
  if (given.length > 1 && given.includes('*')) {
    errors.push(invalid(`${field}.operations`, given, "if '*' is present, must not specify other operations"));
  }
  given.forEach((operation, i) => void errors.push(...oneOf(operations, operation, `${field}.operations[${i}]`)));
  return [...errors, ...validateRule(rule, field)];
}

function validateRule({ apiGroups = [], apiVersions = [], resources = [], scope }: Rule, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (apiGroups.length === 0) errors.push(required(`${field}.apiGroups`));
  if (apiGroups.length > 1 && apiGroups.includes('*')) {
    errors.push(invalid(`${field}.apiGroups`, apiGroups, "if '*' is present, must not specify other API groups"));
  }
  if (apiVersions.length === 0) errors.push(required(`${field}.apiVersions`));
  if (apiVersions.length > 1 && apiVersions.includes('*')) {
    errors.push(invalid(`${field}.apiVersions`, apiVersions, "if '*' is present, must not specify other API versions"));
  }
  apiVersions.forEach((version, i) => {
    if (version === '') errors.push(required(`${field}.apiVersions[${i}]`));
  });
  errors.push(...validateResources(resources, `${field}.resources`));
  if (scope !== undefined) errors.push(...oneOf(scopes, scope, `${field}.scope`));
  return errors;
}

function validateResources(resources: readonly string[], field: string): FieldError[] {
  const errors: FieldError[] = resources.length === 0 ? [required(field)] : [];
  const allSubresourcesOf = new Set<string>();
  const ofAllResources = new Set<string>();
  // Only the last of them counts, as in Kubernetes.
  let lastIsPlain = false;
  for (const [i, given] of resources.entries()) {
    if (given === '') {
      errors.push(required(`${field}[${i}]`));
      continue;
    }
    const slash = given.indexOf('/');
    if (slash < 0) {
      lastIsPlain = given !== '*';
      continue;
    }
    const [resource, subresource] = [given.slice(0, slash), given.slice(slash + 1)];
    if (allSubresourcesOf.has(resource)) errors.push(invalid(`${field}[${i}]`, given, `if '${resource}/*' is present, must not specify ${given}`));
    if (ofAllResources.has(subresource)) errors.push(invalid(`${field}[${i}]`, given, `if '*/${subresource}' is present, must not specify ${given}`));
    if (subresource === '*') allSubresourcesOf.add(resource);
    if (resource === '*') ofAllResources.add(subresource);
  }
  if (resources.length > 1 && resources.includes('*/*')) errors.push(invalid(field, resources, "if '*/*' is present, must not specify other resources"));
  if (resources.includes('*') && lastIsPlain) {
    errors.push(invalid(field, resources, "if '*' is present, must not specify other resources without subresources"));
  }
  return errors;
}

export function validateMatchResources(match: MatchResources, field: string): FieldError[] {
  const { matchPolicy, namespaceSelector, objectSelector, resourceRules = [], excludeResourceRules = [] } = match;
  return [
    ...(matchPolicy === undefined ? [required(`${field}.matchPolicy`)] : validateMatchPolicy(matchPolicy, `${field}.matchPolicy`)),
    ...(namespaceSelector === undefined ? [required(`${field}.namespaceSelector`)] : validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`)),
    ...(objectSelector === undefined ? [required(`${field}.objectSelector`)] : validateLabelSelector(objectSelector, `${field}.objectSelector`)),
    ...resourceRules.flatMap((rule, i) => validateNamedRule(rule, `${field}.resourceRules[${i}]`)),
    ...excludeResourceRules.flatMap((rule, i) => validateNamedRule(rule, `${field}.excludeResourceRules[${i}]`)),
  ];
}

function validateNamedRule(rule: NamedRuleWithOperations, field: string): FieldError[] {
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const [i, name] of (rule.resourceNames ?? []).entries()) {
    const at = `${field}.resourceNames[${i}]`;
    for (const problem of pathSegmentProblems(name, false)) errors.push(invalid(at, name, problem));
    if (seen.has(name)) errors.push(duplicate(at, name));
    seen.add(name);
  }
  return [...errors, ...validateRuleWithOperations(rule, field)];
}

/** Whatever the number of its rule: Kubernetes names the list. */
export const validateMutatingOperations = (rules: readonly NamedRuleWithOperations[] | undefined, field: string): FieldError[] =>
  (rules ?? []).flatMap((rule) => (rule.operations ?? []).flatMap((operation) => oneOf(mutatingOperations, operation, `${field}.resourceRules.operations`)));

export function defaultRules(rules: readonly Rule[] | undefined): void {
  for (const rule of rules ?? []) rule.scope ??= '*';
}

export function defaultMatchResources(match: MatchResources | undefined): void {
  if (match === undefined) return;
  match.matchPolicy ??= 'Equivalent';
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  defaultRules(match.resourceRules);
  defaultRules(match.excludeResourceRules);
}

const reserved = '.static.k8s.io';

/** Names that a later version of Kubernetes keeps for itself. */
export const reservedNameWarnings = (name = ''): string[] =>
  name.endsWith(reserved)
    ? [`metadata.name: names ending with "${reserved}" are reserved for static manifest-based configurations and cannot be managed via the API`]
    : [];
