import type { User } from '../api.ts';

const authenticatedGroup = 'system:authenticated';
const unauthenticatedGroup = 'system:unauthenticated';

export const anonymous: User = { name: 'system:anonymous', groups: [unauthenticatedGroup] };

export const isAnonymous = (user: User): boolean => user.name === anonymous.name || user.groups.includes(unauthenticatedGroup);

/** The user with the group that everybody has who proved who they are. */
export function authenticated(user: User): User {
  return user.groups.includes(authenticatedGroup) ? user : { ...user, groups: [...user.groups, authenticatedGroup] };
}
