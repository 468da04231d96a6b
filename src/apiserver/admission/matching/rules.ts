/** Which requests rules match (upstream: admission/plugin/webhook/predicates/rules). */
import type { NamedRuleWithOperations } from '../../../api/generated/types.ts';
import type { Resource, Resources } from '../../objects/resources.ts';
import type { AdmissionOperation } from './attributes.ts';

/** The attributes of a request that rules match. */
export interface MatchAttributes {
  readonly operation: AdmissionOperation;
  readonly resource: Resource;
  readonly subresource: string;
  /** Absent: any name. */
  readonly name?: string;
}

const includes = (items: readonly string[] | undefined, wanted: string): boolean => items?.some((item) => item === '*' || item === wanted) === true;

function ruleMatches(rule: NamedRuleWithOperations, { operation, resource: { kind }, subresource, name }: MatchAttributes): boolean {
  return (
    scopeMatches(rule.scope, kind.namespaced) &&
    includes(rule.operations, operation) &&
    includes(rule.apiGroups, kind.group) &&
    includes(rule.apiVersions, kind.version) &&
    (rule.resources ?? []).some((given) => resourceMatches(given, kind.plural, subresource)) &&
    (name === undefined || rule.resourceNames === undefined || rule.resourceNames.length === 0 || rule.resourceNames.includes(name))
  );
}

function scopeMatches(scope: string | undefined, namespaced: boolean): boolean {
  return scope === undefined || scope === '*' || scope === (namespaced ? 'Namespaced' : 'Cluster');
}

function resourceMatches(given: string, plural: string, subresource: string): boolean {
  const slash = given.indexOf('/');
  const [resource, sub] = slash < 0 ? [given, ''] : [given.slice(0, slash), given.slice(slash + 1)];
  return (resource === '*' || resource === plural) && (sub === '*' || sub === subresource);
}

/** Other versions of the same objects. */
const equivalents = (resources: Resources, resource: Resource): Resource[] =>
  [...resources.all()].filter((other) => other !== resource && other.base === resource.base);

/** Rules, and whether they also match other versions of the same objects (matchPolicy). */
export interface MatchCriteria {
  readonly rules: readonly NamedRuleWithOperations[];
  readonly matchPolicy: string | undefined;
}

/** The resource that a rule matches: the requested one, or an equivalent one. */
export function matchedResource({ rules, matchPolicy }: MatchCriteria, attributes: MatchAttributes, resources: Resources): Resource | undefined {
  if (rules.some((rule) => ruleMatches(rule, attributes))) return attributes.resource;
  if (matchPolicy !== 'Equivalent') return undefined;
  const others = equivalents(resources, attributes.resource);
  for (const rule of rules) {
    const found = others.find((resource) => ruleMatches(rule, { ...attributes, resource }));
    if (found !== undefined) return found;
  }
  return undefined;
}
