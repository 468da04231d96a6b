/** Which requests rules are about. */
import type { NamedRuleWithOperations } from '../../../api/generated/types.ts';
import type { Resource, Resources } from '../../objects/resources.ts';
import type { AdmissionOperation } from './attributes.ts';

/** What rules look at. */
export interface MatchAttributes {
  readonly operation: AdmissionOperation;
  readonly resource: Resource;
  readonly subresource: string;
  /** Absent: whatever its name. */
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

/** Rules, and whether they are meant for other versions of the same objects as well. */
export interface MatchCriteria {
  readonly rules: readonly NamedRuleWithOperations[];
  readonly matchPolicy: string | undefined;
}

/** The resource that the rules name: the one asked for, or else an equivalent one. */
export function matchedResource({ rules, matchPolicy }: MatchCriteria, asked: MatchAttributes, resources: Resources): Resource | undefined {
  if (rules.some((rule) => ruleMatches(rule, asked))) return asked.resource;
  if (matchPolicy !== 'Equivalent') return undefined;
  const others = equivalents(resources, asked.resource);
  for (const rule of rules) {
    const found = others.find((resource) => ruleMatches(rule, { ...asked, resource }));
    if (found !== undefined) return found;
  }
  return undefined;
}
