import type { ClusterRole, PolicyRule } from '../../../api/generated/types.ts';
import { selects } from '../../../api/validation/label-selector.ts';
import { semanticallyEqual } from '../../../api/validation/equality.ts';
import { type Decision, type ObjectWrite, update } from '../../../client/decision.ts';

export interface ClusterRoleAggregationSnapshot {
  readonly role: ClusterRole;
  /** All ClusterRoles, this one included. */
  readonly roles: readonly ClusterRole[];
}

/** An aggregated role has the rules of all roles that its selectors match, ordered by selector and name, each rule once. */
export function decideAggregation({ role, roles }: ClusterRoleAggregationSnapshot): Decision<ObjectWrite<ClusterRole>> {
  if (role.aggregationRule === undefined) return { actions: [], reasons: [{ code: 'NotAggregated', text: 'its rules are its own' }] };
  const rules = aggregatedRules(role, roles);
  if (semanticallyEqual(rules, role.rules ?? [])) return { actions: [], reasons: [] };
  return { actions: update(role, { ...role, rules: [...rules] }), reasons: [] };
}

function aggregatedRules({ metadata, aggregationRule }: ClusterRole, roles: readonly ClusterRole[]): readonly PolicyRule[] {
  const others = roles.filter((other) => other.metadata.name !== metadata.name).toSorted((a, b) => compare(a.metadata.name ?? '', b.metadata.name ?? ''));
  const picked = (aggregationRule?.clusterRoleSelectors ?? []).flatMap((selector) =>
    others.filter((other) => selects(selector, other.metadata.labels) === true),
  );
  const rules = new Map(picked.flatMap((other) => other.rules ?? []).map((rule) => [textOf(rule), rule]));
  return [...rules.values()];
}

/** Equal for rules with equal meaning. */
const textOf = ({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): string =>
  JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
