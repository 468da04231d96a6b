import type { User } from '../api.ts';

export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';

/** Who is in this group may do everything, whatever the roles say: nobody can lock the administrator out. */
export const superusers = 'system:masters';

/** Which of the user's credentials was shown. */
export const credentialId = 'authentication.kubernetes.io/credential-id';

export const anonymous: User = { name: 'system:anonymous', groups: [unauthenticatedGroup] };

/** The user with the group that everybody has who proved who they are. */
export function authenticated(user: User): User {
  return user.groups.includes(authenticatedGroup) ? user : { ...user, groups: [...user.groups, authenticatedGroup] };
}

/** 'system:serviceaccount:default:builder' */
export const serviceAccountUser = (namespace: string, name: string): string => `system:serviceaccount:${namespace}:${name}`;

/** The groups of every service account of a namespace. */
export const serviceAccountGroups = (namespace: string): readonly string[] => ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
