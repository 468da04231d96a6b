import type { RequestInfo } from './authorization/authorizer.ts';
import { pathSegments, type RequestTarget } from './request-target.ts';

/**
 * What a request asks for, read from its method and path alone, as Kubernetes reads it:
 *
 *     GET    /api/v1/namespaces/default/pods             → list pods in default
 *     GET    /api/v1/pods?watch=1                        → watch pods everywhere
 *     PATCH  /apis/apps/v1/namespaces/a/deployments/b/scale → patch deployments/scale "b" in a
 *     PUT    /api/v1/namespaces/a/finalize               → update namespaces/finalize "a"
 *     GET    /healthz                                    → get the path
 */
export function requestInfo(method: string, { path, query }: RequestTarget): RequestInfo {
  const parts = pathSegments(path);
  const start = parts[0] === 'api' ? 2 : parts[0] === 'apis' ? 3 : undefined;
  if (start === undefined || parts.length <= start) return { type: 'path', verb: method.toLowerCase(), path };
  const group = start === 2 ? '' : (parts[1] ?? '');
  const version = parts[start - 1] ?? '';
  const viaWatchPath = parts[start] === 'watch' && parts.length > start + 1;
  const { namespace, resource, name, subresource } = readResource(parts.slice(viaWatchPath ? start + 1 : start));
  const verb = viaWatchPath ? 'watch' : verbOf(method, name, query);
  const asked: RequestInfo = { type: 'resource', verb, group, version, resource, subresource, namespace, name };
  // Selectors do not count on the old paths of watches, as they do not in Kubernetes.
  if (name !== '' || viaWatchPath || !onCollections.has(verb)) return asked;
  const fieldSelector = query.get('fieldSelector') ?? '';
  return fieldSelector === '' ? asked : { ...asked, name: selectedName(verb, fieldSelector), fieldSelector };
}

const onCollections: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection']);

/** A namespace's own subresources; anything else behind a namespace's name is a resource in it. */
const namespaceSubresources: ReadonlySet<string> = new Set(['status', 'finalize']);

function readResource(parts: readonly string[]): { namespace: string; resource: string; name: string; subresource: string } {
  const inNamespace = parts[0] === 'namespaces' && parts.length > 2 && !namespaceSubresources.has(parts[2] ?? '');
  const [resource = '', name = '', subresource = ''] = inNamespace ? parts.slice(2) : parts;
  return { namespace: parts[0] === 'namespaces' ? (parts[1] ?? '') : '', resource, name, subresource };
}

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

export function asksForWatch(query: URLSearchParams): boolean {
  const value = query.get('watch');
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** A list or watch that a field selector narrows to one name is a request for that name (nodes may read their own). */
function selectedName(verb: string, fieldSelector: string): string {
  if (verb === 'deletecollection') return '';
  const match = /(?:^|,)metadata\.name==?([^,=!]+)(?:,|$)/.exec(fieldSelector);
  return match?.[1] ?? '';
}
