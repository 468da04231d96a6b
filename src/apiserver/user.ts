import type { User } from './api.ts';

export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';

/** Members of this group may do everything, whatever the roles say: an administrator cannot be locked out. */
export const superusers = 'system:masters';

/** The group of bootstrap credentials, with which a machine becomes a node. */
export const bootstrappers = 'system:bootstrappers';

export const nodesGroup = 'system:nodes';
const nodePrefix = 'system:node:';

/** 'system:node:n1', in the group that nodes have. */
export const nodeUser = (node: string): User => ({ name: `${nodePrefix}${node}`, groups: [nodesGroup, authenticatedGroup] });

/** Undefined: the user is no node. '': it is in the group of nodes, but its name names none. */
export const nodeOf = ({ name, groups }: User): string | undefined =>
  groups.includes(nodesGroup) && name.startsWith(nodePrefix) ? name.slice(nodePrefix.length) : undefined;

/** Which of the user's credentials was shown. */
export const credentialId = 'authentication.kubernetes.io/credential-id';

export const anonymous: User = { name: 'system:anonymous', groups: [unauthenticatedGroup] };

/** The user with the group of all authenticated users. */
export function authenticated(user: User): User {
  return user.groups.includes(authenticatedGroup) ? user : { ...user, groups: [...user.groups, authenticatedGroup] };
}

/** 'system:serviceaccount:default:builder' */
export const serviceAccountUser = (namespace: string, name: string): string => `system:serviceaccount:${namespace}:${name}`;

/** The groups of every service account of a namespace. */
export const serviceAccountGroups = (namespace: string): readonly string[] => ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
