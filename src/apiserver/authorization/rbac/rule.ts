import type { PolicyRule } from '../../../api/generated/types.ts';
import type { RequestInfo, ResourceRequestInfo } from '../../../api/request-info.ts';
import { withoutTrailing } from '../../../api/trailing.ts';

const ALL = '*';

export function ruleAllows(rule: PolicyRule, wanted: RequestInfo): boolean {
  if (!hasOrAll(rule.verbs, wanted.verb)) return false;
  if (wanted.type === 'path') return (rule.nonResourceURLs ?? []).some((url) => pathMatches(url, wanted.path));
  return hasOrAll(rule.apiGroups, wanted.group) && resourceMatches(rule.resources ?? [], wanted) && nameMatches(rule.resourceNames, wanted.name);
}

const hasOrAll = (allowed: readonly string[] | null | undefined, wanted: string): boolean =>
  allowed !== undefined && allowed !== null && (allowed.includes(ALL) || allowed.includes(wanted));

/** 'pods', 'pods/log', a part of whatever it is part of (any resource's scale), or all there is. */
function resourceMatches(resources: readonly string[], { resource, subresource }: ResourceRequestInfo): boolean {
  if (subresource === '') return resources.includes(ALL) || resources.includes(resource);
  return resources.includes(ALL) || resources.includes(`${resource}/${subresource}`) || resources.includes(`${ALL}/${subresource}`);
}

const nameMatches = (names: readonly string[] | undefined, wanted: string): boolean => names === undefined || names.length === 0 || names.includes(wanted);

/** A rule's path is that path, or, with stars at its end, everything that begins with it. */
const pathMatches = (url: string, path: string): boolean => url === path || (url.endsWith(ALL) && path.startsWith(withoutTrailing(url, ALL)));

/**
 * Single permissions that a rule may stand for. A rule of a few kilobytes can stand for millions, and taking it apart would take all of the
 * server's memory; Kubernetes does it all the same.
 */
const MAX_SINGLE_PERMISSIONS = 10_000;

/**
 * Those of the wanted rules, taken apart into single permissions, that the owned ones do not give. Too large a rule is missing as a whole,
 * unless a single owned one gives all of it.
 */
export function missingRules(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  let left = MAX_SINGLE_PERMISSIONS;
  return wanted.flatMap((rule) => {
    if (owned.some((one) => covers(one, rule))) return [];
    left -= permissionsIn(rule);
    return left < 0 ? [shortened(rule)] : singlePermissions(rule).filter((permission) => !owned.some((one) => covers(one, permission)));
  });
}

/** For messages. */
function shortened({ verbs, ...targets }: PolicyRule): PolicyRule {
  const few = (values: readonly string[]): string[] => (values.length > 10 ? [...values.slice(0, 10), '...'] : [...values]);
  return { ...Object.fromEntries(Object.entries(targets).map(([key, values]) => [key, few(values as readonly string[])])), verbs: few(verbs ?? []) };
}

function permissionsIn({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): number {
  return (verbs ?? []).length * (apiGroups.length * resources.length * Math.max(resourceNames.length, 1) + nonResourceURLs.length);
}

/** At most one verb, group, resource and name, or one verb and path, each. */
function singlePermissions({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): PolicyRule[] {
  const each = verbs ?? [];
  const named = (rule: PolicyRule): PolicyRule[] => (resourceNames.length === 0 ? [rule] : resourceNames.map((name) => ({ ...rule, resourceNames: [name] })));
  return [
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) => each.flatMap((verb) => named({ apiGroups: [group], resources: [resource], verbs: [verb] }))),
    ),
    ...nonResourceURLs.flatMap((url) => each.map((verb): PolicyRule => ({ nonResourceURLs: [url], verbs: [verb] }))),
  ];
}

function covers(owner: PolicyRule, single: PolicyRule): boolean {
  const names = owner.resourceNames ?? [];
  const wantedNames = single.resourceNames ?? [];
  return (
    coversAll(owner.verbs ?? [], single.verbs ?? []) &&
    coversAll(owner.apiGroups ?? [], single.apiGroups ?? []) &&
    (single.resources ?? []).every((resource) => resourceCovered(owner.resources ?? [], resource)) &&
    (single.nonResourceURLs ?? []).every((url) => (owner.nonResourceURLs ?? []).some((owned) => pathMatches(owned, url))) &&
    (names.length === 0 || (wantedNames.length > 0 && wantedNames.every((name) => names.includes(name))))
  );
}

const coversAll = (owned: readonly string[], wanted: readonly string[]): boolean => owned.includes(ALL) || wanted.every((one) => owned.includes(one));

function resourceCovered(owned: readonly string[], resource: string): boolean {
  if (owned.includes(ALL) || owned.includes(resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && owned.includes(`${ALL}${resource.slice(slash)}`);
}

/** One line per resource for what was taken apart: '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}', sorted. */
export function describeRules(rules: readonly PolicyRule[]): readonly string[] {
  const joined = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const { verbs: _, ...target } = rule;
    // Permissions for paths are not put together; those for a resource are, verb by verb.
    const key = rule.nonResourceURLs === undefined ? JSON.stringify(target) : JSON.stringify(rule);
    const before = joined.get(key);
    joined.set(key, before === undefined ? rule : { ...before, verbs: [...(before.verbs ?? []), ...(rule.verbs ?? [])] });
  }
  return [...new Set(Array.from(joined.values(), compactText))].sort();
}

function compactText({ apiGroups = [], resources = [], nonResourceURLs = [], resourceNames = [], verbs }: PolicyRule): string {
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs ?? []],
  ];
  const shown = parts.filter(([, values]) => values.length > 0).map(([name, values]) => `${name}:${goList(values)}`);
  return `{${shown.join(', ')}}`;
}

/** As Go prints a list of quoted texts: ["get" "list"]. */
export const goList = (values: readonly string[]): string => `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
