/** The routes of the kubelet API (v1.36.4: pkg/kubelet/server/server.go, auth.go). */

export type KubeletRoute =
  | { readonly type: 'logs' | 'exec' | 'attach'; readonly namespace: string; readonly pod: string; readonly uid: string; readonly container: string }
  | { readonly type: 'ports'; readonly namespace: string; readonly pod: string; readonly uid: string }
  /** All other paths. */
  | { readonly type: 'page'; readonly path: string };

/** Undefined: there is no such path. */
export function routeOf(path: string): KubeletRoute | undefined {
  const [, first = '', ...names] = path.split('/').map(decoded);
  const [namespace = '', pod = '', third = '', fourth] = names;
  switch (first) {
    case 'containerLogs':
      return names.length === 3 ? { type: 'logs', namespace, pod, uid: '', container: third } : undefined;
    case 'exec':
    case 'attach':
      if (names.length !== 3 && names.length !== 4) return undefined;
      return { type: first, namespace, pod, uid: fourth === undefined ? '' : third, container: fourth ?? third };
    case 'portForward':
      return names.length === 2 || names.length === 3 ? { type: 'ports', namespace, pod, uid: third } : undefined;
    default:
      return { type: 'page', path };
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const verbs: Readonly<Record<string, string>> = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

export const verbOf = (method: string): string => verbs[method] ?? '';

const isBelow = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`);

/** The subresources of the Node, one of which the client must be authorized for. */
export function subresourcesOf(path: string): readonly string[] {
  const fine = ['pods', 'healthz', 'configz'].filter((name) => isBelow(path, `/${name}`));
  if (isBelow(path, '/runningpods')) fine.push('pods');
  const coarse = (['stats', 'metrics', 'checkpoint', 'statusz'] as const).find((name) => isBelow(path, `/${name}`));
  return [...fine, coarse ?? (isBelow(path, '/logs') ? 'log' : isBelow(path, '/flagz') ? 'configz' : 'proxy')];
}
