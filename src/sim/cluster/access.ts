import { controllerAccount, controllerNames } from '../../cluster/access/controller-roles.ts';
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';
import { anonymous, nodeOf } from '../../apiserver/user.ts';

const publicPaths: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/version', '/version/']);

/** For tests that are not about roles: an authenticated user may do everything, an anonymous one may read health and version. */
export const allowAuthenticated: Authorizer = {
  authorize: (user, attributes) => {
    const open = attributes.type === 'path' && attributes.verb === 'get' && publicPaths.has(attributes.path);
    return user.name !== anonymous.name || open ? { allowed: true } : { allowed: false, reason: '' };
  },
};

const accounts = new Set(controllerNames.map(controllerAccount));

/** The same, but controllers and nodes have only their own roles; and nodes have what every cluster binds to their group. */
export const allowOthers: Authorizer = {
  authorize: (user, attributes) => {
    const isBound = accounts.has(user.name) || nodeOf(user) !== undefined;
    if (attributes.type !== 'resource' || !isBound || attributes.subresource === 'selfnodeserver') return allowAuthenticated.authorize(user, attributes);
    return { allowed: false, reason: '' };
  },
};
