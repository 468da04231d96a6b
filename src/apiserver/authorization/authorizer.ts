import type { RequestInfo } from '../../api/request-info.ts';
import { ApiError } from '../../api/status.ts';
import type { User } from '../api.ts';

export type AuthorizationDecision = { readonly allowed: true; readonly reason?: string } | { readonly allowed: false; readonly reason: string };

export interface Authorizer {
  authorize(user: User, info: RequestInfo): AuthorizationDecision | Promise<AuthorizationDecision>;
}

/** 403 with Kubernetes' message. */
export function forbiddenError(user: User, info: RequestInfo, reason: string): ApiError {
  const why = reason === '' ? refusal(user, info) : `${refusal(user, info)}: ${reason}`;
  if (info.type === 'path') return new ApiError(403, 'Forbidden', `forbidden: ${why}`, {});
  const { group, resource, name } = info;
  const qualified = group === '' ? resource : `${resource}.${group}`;
  const details = { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource };
  return new ApiError(403, 'Forbidden', `${qualified}${name === '' ? '' : ` ${JSON.stringify(name)}`} is forbidden: ${why}`, details);
}

function refusal(user: User, info: RequestInfo): string {
  const subject = `User ${quote(user.name)} cannot ${info.verb}`;
  if (info.type === 'path') return `${subject} path ${quote(info.path)}`;
  const { group, resource, subresource, namespace } = info;
  const what = quote(subresource === '' ? resource : `${resource}/${subresource}`);
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`;
  return `${subject} resource ${what} in API group ${quote(group)} ${where}`;
}

/** A browser may show the text: it must not contain HTML. */
const quote = (text: string): string => JSON.stringify(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
