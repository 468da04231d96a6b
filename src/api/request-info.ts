import type { Kind, Verb } from './kind.ts';
import { statusErrors } from './status.ts';

/**
 * What a request asks for. The server makes it once from method and URL, a client from kind and key; authentication, authorization, audit,
 * flow control and dispatch read it and never the URL, so that none of them can understand a request differently.
 * As Kubernetes' RequestInfo (apiserver/pkg/endpoints/request/requestinfo.go).
 */
export type RequestInfo = ResourceRequestInfo | NonResourceRequestInfo;

export interface ResourceRequestInfo {
  readonly type: 'resource';
  /** get, list, watch, create, update, patch, delete, deletecollection; '' for a method that is none of them. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** '': the object itself. */
  readonly subresource: string;
  /** '': none, or all of them. A Namespace is in itself. */
  readonly namespace: string;
  /** '': the collection. Of a collection that a field selector narrows to one name: that name (nodes may read their own). */
  readonly name: string;
  /** Of a list, a watch or the deletion of a collection. */
  readonly fieldSelector?: string;
  /** The path behind the subresource, still percent-encoded: '/metrics' of `…/nodes/a/proxy/metrics`. */
  readonly subpath?: string;
  /** The deprecated form of a watch, `/api/v1/watch/…`: its name is that of an object, never of a field selector. */
  readonly watchPath?: boolean;
}

/** A path that is no resource: /version, /api, and every path that no client may send. */
export interface NonResourceRequestInfo {
  readonly type: 'path';
  /** The method in lower case. */
  readonly verb: string;
  /** Percent-encoded as sent. */
  readonly path: string;
}

/**
 *     GET    /api/v1/namespaces/default/pods                → list pods in default
 *     GET    /api/v1/pods?watch=1                           → watch pods everywhere
 *     PATCH  /apis/apps/v1/namespaces/a/deployments/b/scale → patch deployments/scale "b" in a
 *     PUT    /api/v1/namespaces/a/finalize                  → update namespaces/finalize "a"
 *     GET    /healthz, /api/v1/namespaces//pods             → get the path
 *
 * @throws ApiError 400 for a broken percent-encoding
 */
export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const trailingSlash = path.length > 1 && path.endsWith('/');
  const sent = path.slice(1, trailingSlash ? -1 : undefined).split('/');
  const parts = path.includes('%') ? sent.map(decodeSegment) : sent;
  const root = parts[0] === 'api' ? 2 : parts[0] === 'apis' ? 3 : parts.length;
  const watchPath = parts[root] === 'watch' && parts.length > root + 1;
  const start = watchPath ? root + 1 : root;
  const namespaced = parts[start] === 'namespaces';
  const at = namespaced && parts.length > start + 2 && !namespaceSubresources.has(parts[start + 2] ?? '') ? start + 2 : start;
  const [resource = '', name = '', subresource = ''] = parts.slice(at, at + 3);
  const group = root === 2 ? '' : (parts[1] ?? '');
  const version = parts[root - 1] ?? '';
  // An empty segment would shift the meaning of those behind it, and a Namespace is not inside another. An encoded slash would, too:
  // the version 'apps/v1' of the core group is the apiVersion of another group, whose objects would be read with rights to the core group.
  const shifted = parts.slice(0, at + 3).includes('') || [group, version, resource, subresource].some((part) => part.includes('/'));
  if (resource === '' || shifted || (at > start && resource === 'namespaces')) return { type: 'path', verb: method.toLowerCase(), path };
  const namespace = namespaced ? (parts[start + 1] ?? '') : '';
  const verb = watchPath ? watchVerbOf(method) : verbOf(method, name, query);
  const info: ResourceRequestInfo = { type: 'resource', verb, group, version, resource, subresource, namespace, name };
  if (watchPath) return { ...info, watchPath };
  if (subresource !== '') return parts.length > at + 3 || trailingSlash ? { ...info, subpath: subpathOf(sent.slice(at + 3), trailingSlash) } : info;
  return name === '' ? withFieldSelector(info, query.get('fieldSelector') ?? '') : info;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw statusErrors.badRequest(`invalid URL escape in ${JSON.stringify(segment)}`);
  }
}

const subpathOf = (sent: readonly string[], trailingSlash: boolean): string => sent.map((part) => `/${part}`).join('') + (trailingSlash ? '/' : '');

/** A namespace's own subresources; anything else behind a namespace's name is a resource in it. */
const namespaceSubresources: ReadonlySet<string> = new Set(['status', 'finalize']);

const collectionVerbs: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection']);

function verbOf(method: string, name: string, query: URLSearchParams): string {
  switch (method) {
    case 'GET':
    case 'HEAD':
      return name !== '' ? 'get' : asksForWatch(query) ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete';
    default:
      return '';
  }
}

const watchVerbOf = (method: string): string => (method === 'GET' || method === 'HEAD' ? 'watch' : '');

function asksForWatch(query: URLSearchParams): boolean {
  const value = query.get('watch');
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** The same for the objects of the collection that the selector matches. */
export function withFieldSelector<T extends RequestInfo>(info: T, fieldSelector: string): T {
  if (info.type === 'path' || fieldSelector === '' || !collectionVerbs.has(info.verb)) return info;
  return { ...info, name: info.verb === 'deletecollection' ? '' : selectedName(fieldSelector), fieldSelector };
}

function selectedName(fieldSelector: string): string {
  const match = /(?:^|,)metadata\.name==?([^,=!]+)(?:,|$)/.exec(fieldSelector);
  return match?.[1] ?? '';
}

interface Address {
  /** Absent: all namespaces, or the kind has none. */
  readonly namespace?: string | undefined;
  /** Absent: the collection. */
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** What a client asks for, without a URL in between. */
export function resourceRequestInfo(
  verb: Verb,
  kind: Pick<Kind, 'group' | 'version' | 'plural' | 'namespaced'>,
  { namespace, name = '', subresource = '', fieldSelector = '' }: Address,
): RequestInfo {
  const { group, version, plural: resource, namespaced } = kind;
  const within = namespaced ? (namespace ?? '') : resource === 'namespaces' ? name : '';
  return withFieldSelector({ type: 'resource', verb, group, version, resource, subresource, namespace: within, name }, fieldSelector);
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

const methods: Readonly<Record<string, Method>> = { create: 'POST', update: 'PUT', patch: 'PATCH', delete: 'DELETE', deletecollection: 'DELETE' };

/** The method by which HTTP carries a request. */
export const methodOf = ({ verb }: RequestInfo): Method => methods[verb] ?? 'GET';

/** Whether a request changes nothing. */
export const isRead = (info: RequestInfo): boolean => methodOf(info) === 'GET';

/** The path by which HTTP carries a request: '/api/v1/namespaces/default/pods/web/status'. */
export function requestPath(info: RequestInfo): string {
  if (info.type === 'path') return info.path;
  const { verb, group, version, resource, namespace, name, subresource, subpath = '', watchPath = false } = info;
  const root = `${group === '' ? '/api' : `/apis/${group}`}/${version}${watchPath ? '/watch' : ''}`;
  const collection = `${root}${namespace === '' || resource === 'namespaces' ? '' : `/namespaces/${encode(namespace)}`}/${resource}`;
  if (name === '' || (collectionVerbs.has(verb) && !watchPath)) return collection;
  return `${collection}/${encode(name)}${subresource === '' ? '' : `/${subresource}${subpath}`}`;
}

const encode = (segment: string): string => (/^[\w.~:-]*$/.test(segment) ? segment : encodeURIComponent(segment));
