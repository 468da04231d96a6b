import { type FieldError, forbidden, invalid, notSupported, required } from '../../field-error.ts';
import type { FlowcontrolSubject, NonResourcePolicyRule, PolicyRulesWithSubjects, ResourcePolicyRule } from '../../generated/types.ts';
import { dnsLabel, dnsSubdomain, present } from '../../validation/field-rules.ts';
import { dnsLabelProblems } from '../../validation/names.ts';

const ALL = '*';
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];
const subjectKinds = ['Group', 'ServiceAccount', 'User'];

export function validatePolicyRules({ subjects, resourceRules = [], nonResourceRules = [] }: PolicyRulesWithSubjects, field: string): FieldError[] {
  const hasRules = resourceRules.length + nonResourceRules.length > 0;
  return [
    ...present(subjects, `${field}.subjects`, 'subjects must contain at least one value'),
    ...(subjects ?? []).flatMap((subject, i) => validateSubject(subject, `${field}.subjects[${i}]`)),
    ...(hasRules ? [] : [required(field, 'at least one of resourceRules and nonResourceRules has to be non-empty')]),
    ...resourceRules.flatMap((rule, i) => validateResourceRule(rule, `${field}.resourceRules[${i}]`)),
    ...nonResourceRules.flatMap((rule, i) => validatePathRule(rule, `${field}.nonResourceRules[${i}]`)),
  ];
}

function validateSubject(subject: FlowcontrolSubject, field: string): FieldError[] {
  const { kind } = subject;
  if (!subjectKinds.includes(kind)) return [notSupported(`${field}.kind`, kind, subjectKinds)];
  const of = { ServiceAccount: 'serviceAccount', User: 'user', Group: 'group' } as const;
  const own = of[kind as keyof typeof of];
  const others = Object.entries(of).filter(([other, name]) => other !== kind && subject[name] !== undefined);
  return [
    ...(subject[own] === undefined ? [required(`${field}.${own}`, `${own} is required when subject kind is '${kind}'`)] : validateNames(subject, field)),
    ...others.map(([other, name]) => forbidden(`${field}.${name}`, `${name} is forbidden when subject kind is not '${other}'`)),
  ];
}

function validateNames({ kind, user, group, serviceAccount }: FlowcontrolSubject, field: string): FieldError[] {
  if (kind === 'User') return present(user?.name, `${field}.user.name`);
  if (kind === 'Group') return present(group?.name, `${field}.group.name`);
  const { name = '', namespace = '' } = serviceAccount ?? {};
  const at = `${field}.serviceAccount`;
  return [
    ...(name === '' ? [required(`${at}.name`)] : name === ALL ? [] : dnsSubdomain(name, `${at}.name`)),
    ...(namespace === '' ? [required(`${at}.namespace`, 'must specify namespace for service account')] : dnsLabel(namespace, `${at}.namespace`)),
  ];
}

function validateResourceRule(rule: ResourcePolicyRule, field: string): FieldError[] {
  return [
    ...validateVerbs(rule.verbs ?? [], `${field}.verbs`),
    ...alone(rule.apiGroups ?? [], `${field}.apiGroups`, { missing: 'resource rules must supply at least one api group', others: 'api groups' }),
    ...alone(rule.resources ?? [], `${field}.resources`, { missing: 'resource rules must supply at least one resource', others: 'resources' }),
    ...validateNamespaces(rule, `${field}.namespaces`),
  ];
}

function validateNamespaces({ namespaces, clusterScope = false }: ResourcePolicyRule, field: string): FieldError[] {
  const names = namespaces ?? [];
  if (names.length === 0) {
    return clusterScope ? [] : [required(field, 'resource rules that are not cluster scoped must supply at least one namespace')];
  }
  if (names.includes(ALL)) return alone(names, field, { missing: '', others: 'namespaces' });
  const intro = "each member of this list must be '*' or a DNS-1123 label; ";
  return names.flatMap((name, i) => dnsLabelProblems(name).map((problem) => invalid(`${field}[${i}]`, name, intro + problem)));
}

function validatePathRule(rule: NonResourcePolicyRule, field: string): FieldError[] {
  const urls = rule.nonResourceURLs ?? [];
  const at = `${field}.nonResourceURLs`;
  return [
    ...validateVerbs(rule.verbs ?? [], `${field}.verbs`),
    ...alone(urls, at, { missing: 'nonResourceURLs must contain at least one value', others: 'non-resource URLs' }),
    ...(urls.includes(ALL) ? [] : urls.flatMap((url, i) => validatePath(url, `${at}[${i}]`))),
  ];
}

function validateVerbs(given: readonly string[], field: string): FieldError[] {
  const errors = alone(given, field, { missing: 'verbs must contain at least one value', others: 'verbs' });
  if (errors.length > 0 || given.includes(ALL) || given.every((verb) => verbs.includes(verb))) return errors;
  return [notSupported(field, given, verbs)];
}

/** A list that is not empty, and in which '*' is the only one. */
function alone(values: readonly string[], field: string, { missing, others }: { readonly missing: string; readonly others: string }): FieldError[] {
  if (values.length === 0) return [required(field, missing)];
  return values.length > 1 && values.includes(ALL) ? [invalid(field, values, `if '*' is present, must not specify other ${others}`)] : [];
}

function validatePath(path: string, field: string): FieldError[] {
  const problem = pathProblem(path);
  return problem === undefined ? [] : [invalid(field, path, problem)];
}

function pathProblem(path: string): string | undefined {
  if (path === '') return 'must not be empty';
  if (path === '/') return undefined;
  if (!path.startsWith('/')) return 'must start with slash';
  if (path.includes(' ')) return 'must not contain white-space';
  if (path.includes('//')) return 'must not contain double slash';
  const wildcards = path.split(ALL).length - 1;
  return wildcards > 1 || (wildcards === 1 && !path.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined;
}
