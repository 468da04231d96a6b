import type { PolicyRule } from '../../api/generated/types.ts';
import type { ResourceRequestInfo } from '../../api/request-info.ts';
import type { AuthorizationDecision, Authorizer } from './authorizer.ts';

/** Some verbs on some resources of one API group, or on every resource there is; on a part of one only where the part is named. */
export type StaticRule = NamedResources | AllResources;

interface AllResources {
  readonly verbs: readonly string[];
  readonly resources: 'all';
}

interface NamedResources {
  readonly verbs: readonly string[];
  readonly group: string;
  /** 'pods', or 'pods/status' for a part. */
  readonly resources: readonly string[];
  /** Present: on objects of these names alone. */
  readonly names?: readonly string[];
}

/** Permissions in all namespaces. */
export type StaticRole = readonly StaticRule[];

const allowed: AuthorizationDecision = { allowed: true };

/**
 * Allows users with a role what it permits. `others` decide everything else, non-resource paths included.
 *
 * Rules are found by key: the controllers of a busy server send thousands of requests a second.
 */
export function staticRoleAuthorizer(roles: ReadonlyMap<string, StaticRole>, others: Authorizer): Authorizer {
  const granted = new Map([...roles].map(([user, role]) => [user, new Set(grantsOf(role))]));
  return {
    authorize(user, info) {
      const grants = granted.get(user.name);
      if (grants === undefined || info.type === 'path') return others.authorize(user, info);
      const exact = exactGrant(info);
      if (grants.has(exact) || grants.has(anyGrant(info)) || grants.has(`${exact} ${info.name}`)) return allowed;
      return others.authorize(user, info);
    },
  };
}

/** 'update storage.k8s.io/volumeattachments/status', 'list *', 'sign certificates.k8s.io/signers example.com/mine': every single thing that a role allows. */
export function grantsOf(role: StaticRole): readonly string[] {
  return role.flatMap((rule) => rule.verbs.flatMap((verb) => targetsOf(rule).map((target) => `${verb} ${target}`)));
}

function targetsOf(rule: StaticRule): readonly string[] {
  if (!('group' in rule)) return ['*'];
  const targets = rule.resources.map((resource) => `${rule.group}/${resource}`);
  return rule.names === undefined ? targets : rule.names.flatMap((name) => targets.map((target) => `${target} ${name}`));
}

/** The rules of the role as a ClusterRole has them. */
export const policyRulesOf = (role: StaticRole): readonly PolicyRule[] =>
  role.map((rule) => ({
    verbs: [...rule.verbs],
    apiGroups: ['group' in rule ? rule.group : '*'],
    resources: 'group' in rule ? [...rule.resources] : ['*'],
    ...('names' in rule && rule.names !== undefined ? { resourceNames: [...rule.names] } : {}),
  }));

/** The grants that would allow it: any of them is enough. */
export function grantsFor(info: ResourceRequestInfo): readonly [exact: string, any: string, named: string] {
  const exact = exactGrant(info);
  return [exact, anyGrant(info), `${exact} ${info.name}`];
}

const exactGrant = ({ verb, group, resource, subresource }: ResourceRequestInfo) =>
  `${verb} ${group}/${resource}${subresource === '' ? '' : `/${subresource}`}`;
const anyGrant = ({ verb, subresource }: ResourceRequestInfo) => (subresource === '' ? `${verb} *` : '');
