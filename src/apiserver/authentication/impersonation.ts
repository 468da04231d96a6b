import type { ResourceRequestInfo } from '../../api/request-info.ts';
import { statusErrors } from '../../api/status.ts';
import type { User } from '../api.ts';
import { type Authorizer, forbiddenError } from '../authorization/authorizer.ts';
import { anonymous, authenticatedGroup, serviceAccountGroups, unauthenticatedGroup } from '../user.ts';

/** Of the headers of user impersonation. */
export const impersonationPrefix = 'impersonate-';
const extraPrefix = `${impersonationPrefix}extra-`;

interface ImpersonatedUser {
  name: string;
  uid: string;
  readonly groups: string[];
  readonly extra: Record<string, string[]>;
}

/**
 * The user that a request acts as: its sender, unless headers name another user and the sender may impersonate that user, each
 * of the groups, the uid and each extra value. `headers`: those that begin with the prefix, one for each value.
 * @throws ApiError 400, 403
 */
export async function actingUser(sender: User, headers: readonly (readonly [name: string, value: string])[], authorizer: Authorizer): Promise<User> {
  const wanted = impersonatedUserOf(headers);
  if (wanted === undefined) return sender;
  for (const info of impersonations(wanted)) {
    const decision = await authorizer.authorize(sender, info);
    if (!decision.allowed) throw forbiddenError(sender, info, decision.reason);
  }
  const { name, uid, extra } = wanted;
  return { name, groups: groupsOf(wanted), ...(uid === '' ? {} : { uid }), ...(Object.keys(extra).length === 0 ? {} : { extra }) };
}

function impersonatedUserOf(headers: readonly (readonly [string, string])[]): ImpersonatedUser | undefined {
  // Without a prototype: keys are whatever clients make up.
  const wanted: ImpersonatedUser = { name: '', uid: '', groups: [], extra: Object.create(null) as ImpersonatedUser['extra'] };
  for (const [header, value] of headers) {
    if (header === 'impersonate-user') wanted.name ||= value;
    else if (header === 'impersonate-uid') wanted.uid ||= value;
    else if (header === 'impersonate-group') wanted.groups.push(value);
    else if (header.startsWith(extraPrefix)) (wanted.extra[unescaped(header.slice(extraPrefix.length))] ??= []).push(value);
  }
  if (wanted.name !== '') return wanted;
  if (wanted.uid === '' && wanted.groups.length === 0 && Object.keys(wanted.extra).length === 0) return undefined;
  throw statusErrors.badRequest(`requested ${goUser(wanted)} without impersonating a user name`);
}

/** Keys may be percent-encoded; what cannot be decoded is taken as it is. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

const core = { type: 'resource', verb: 'impersonate', group: '', version: 'v1', subresource: '', namespace: '', name: '' } as const;
const authentication = { ...core, group: 'authentication.k8s.io' } as const;

/** Everything that must be allowed. */
function impersonations({ name, uid, groups, extra }: ImpersonatedUser): readonly ResourceRequestInfo[] {
  const account = accountOf(name);
  return [
    account === undefined ? { ...core, resource: 'users', name } : { ...core, resource: 'serviceaccounts', ...account },
    ...groups.map((group) => ({ ...core, resource: 'groups', name: group })),
    ...Object.entries(extra).flatMap(([key, values]) => values.map((value) => ({ ...authentication, resource: 'userextras', subresource: key, name: value }))),
    ...(uid === '' ? [] : [{ ...authentication, resource: 'uids', name: uid }]),
  ];
}

function accountOf(user: string): { namespace: string; name: string } | undefined {
  const match = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user);
  return match === null ? undefined : { namespace: match[1] ?? '', name: match[2] ?? '' };
}

/** A service account has its groups implicitly, and every user is in one of system:authenticated and system:unauthenticated. */
function groupsOf({ name, groups }: ImpersonatedUser): readonly string[] {
  const account = accountOf(name);
  const own = groups.length === 0 && account !== undefined ? serviceAccountGroups(account.namespace) : groups;
  if (name === anonymous.name) return own.includes(unauthenticatedGroup) ? own : [...own, unauthenticatedGroup];
  return own.includes(authenticatedGroup) || own.includes(unauthenticatedGroup) ? own : [...own, authenticatedGroup];
}

/** As Go prints the struct. */
function goUser({ uid, groups, extra }: ImpersonatedUser): string {
  const list = (values: readonly string[]): string => `{${values.map((value) => JSON.stringify(value)).join(', ')}}`;
  const entries = Object.entries(extra).map(([key, values]) => `${JSON.stringify(key)}:[]string${list(values)}`);
  const shownGroups = groups.length === 0 ? '[]string(nil)' : `[]string${list(groups)}`;
  const shownExtra = entries.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${entries.sort().join(', ')}}`;
  return `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${shownGroups}, Extra:${shownExtra}}`;
}
