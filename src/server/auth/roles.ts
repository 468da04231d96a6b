import type { PolicyRule } from '../../api/generated/types.ts';
import type { Attributes, Authorizer, Decision } from './authorizer.ts';

/** Some verbs on some resources of one API group, or on every resource there is; on a part of one only where the part is named. */
export type Rule = Named | Everything;

interface Everything {
  readonly verbs: readonly string[];
  readonly resources: 'all';
}

interface Named {
  readonly verbs: readonly string[];
  readonly group: string;
  /** 'pods', or 'pods/status' for a part. */
  readonly resources: readonly string[];
}

/** What somebody may do, wherever it is. */
export type Role = readonly Rule[];

const allowed: Decision = { allowed: true };

type ResourceAttributes = Extract<Attributes, { type: 'resource' }>;

/**
 * Users who have a role may do what it says; about all else, somebody else decides. Paths that are no resource are none of a
 * role's business.
 *
 * The rules are looked up, not gone through: the controllers of a busy server ask thousands of times a second.
 */
export function byRole(roles: ReadonlyMap<string, Role>, others: Authorizer): Authorizer {
  const granted = new Map([...roles].map(([user, role]) => [user, new Set(grantsOf(role))]));
  return {
    authorize(user, attributes) {
      const grants = granted.get(user.name);
      if (grants === undefined || attributes.type === 'path') return others.authorize(user, attributes);
      return grants.has(exactGrant(attributes)) || grants.has(anyGrant(attributes)) ? allowed : others.authorize(user, attributes);
    },
  };
}

/** 'update storage.k8s.io/volumeattachments/status', 'list *': every single thing that a role allows. */
export function grantsOf(role: Role): readonly string[] {
  return role.flatMap((rule) => rule.verbs.flatMap((verb) => targetsOf(rule).map((target) => `${verb} ${target}`)));
}

const targetsOf = (rule: Rule): readonly string[] => ('group' in rule ? rule.resources.map((resource) => `${rule.group}/${resource}`) : ['*']);

/** The role in the words of a ClusterRole. */
export const policyRulesOf = (role: Role): readonly PolicyRule[] =>
  role.map((rule) => ({
    verbs: [...rule.verbs],
    apiGroups: ['group' in rule ? rule.group : '*'],
    resources: 'group' in rule ? [...rule.resources] : ['*'],
  }));

/** The grants that would allow it: either is enough. */
export function grantsFor(attributes: ResourceAttributes): readonly [string, string] {
  return [exactGrant(attributes), anyGrant(attributes)];
}

const exactGrant = ({ verb, group, resource, subresource }: ResourceAttributes) => `${verb} ${group}/${resource}${subresource === '' ? '' : `/${subresource}`}`;
const anyGrant = ({ verb, subresource }: ResourceAttributes) => (subresource === '' ? `${verb} *` : '');
