import { ApiError } from '../../api/status.ts';
import type { User } from '../api.ts';

/** What somebody wants to do: to a resource, or to a path that is none (/version, /api). */
export type RequestInfo =
  | {
      readonly type: 'resource';
      /** get, list, watch, create, update, patch, delete, deletecollection; '' for a method that is none of them. */
      readonly verb: string;
      readonly group: string;
      readonly version: string;
      readonly resource: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
      /** Of a list, a watch or the deletion of a collection: to what it is narrowed down. */
      readonly fieldSelector?: string;
    }
  | { readonly type: 'path'; readonly verb: string; readonly path: string };

export type AuthorizationDecision = { readonly allowed: true; readonly reason?: string } | { readonly allowed: false; readonly reason: string };

/** Decides who may do what. */
export interface Authorizer {
  authorize(user: User, attributes: RequestInfo): AuthorizationDecision | Promise<AuthorizationDecision>;
}

/** 403 in Kubernetes' words. */
export function forbiddenError(user: User, attributes: RequestInfo, reason: string): ApiError {
  const why = reason === '' ? refusal(user, attributes) : `${refusal(user, attributes)}: ${reason}`;
  if (attributes.type === 'path') return new ApiError(403, 'Forbidden', `forbidden: ${why}`, {});
  const { group, resource, name } = attributes;
  const qualified = group === '' ? resource : `${resource}.${group}`;
  const details = { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource };
  return new ApiError(403, 'Forbidden', `${qualified}${name === '' ? '' : ` ${JSON.stringify(name)}`} is forbidden: ${why}`, details);
}

function refusal(user: User, attributes: RequestInfo): string {
  const subject = `User ${quote(user.name)} cannot ${attributes.verb}`;
  if (attributes.type === 'path') return `${subject} path ${quote(attributes.path)}`;
  const { group, resource, subresource, namespace } = attributes;
  const what = quote(subresource === '' ? resource : `${resource}/${subresource}`);
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`;
  return `${subject} resource ${what} in API group ${quote(group)} ${where}`;
}

/** The text may be shown by a browser: nothing in it may look like HTML. */
const quote = (text: string): string => JSON.stringify(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
