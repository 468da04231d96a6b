/** An API server of another Kubernetes: plain lists, no kinds on their items, managedFields, unknown fields. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Readonly<Record<string, unknown>>;

export interface ForeignCluster {
  readonly url: string;
  readonly requests: readonly string[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** Lists by the last part of their path; what is absent is forbidden, as for a user who may read one namespace only. */
export async function startForeignCluster(
  lists: Readonly<Record<string, { readonly kind: string; readonly items: readonly Json[] }>>,
): Promise<ForeignCluster> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    requests.push(`${request.method ?? ''} ${pathname}`);
    const [, plural = '', name] = /\/([a-z]+)(?:\/([^/]+))?$/.exec(pathname.replace(/^\/apis?\/(?:[a-z0-9.]+\/)?v1(?:\/namespaces\/[^/]+)?/, '')) ?? [];
    const answer = (code: number, body: Json) => response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const failure = (code: number, reason: string, message: string) =>
      answer(code, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason, message, code });
    const list = lists[plural];
    if (plural === 'volumeintents') return failure(404, 'NotFound', 'the server could not find the requested resource');
    if (list === undefined) return failure(403, 'Forbidden', `${plural} is forbidden: User "jane" cannot list resource "${plural}" at the cluster scope`);
    if (name === undefined) return answer(200, { kind: `${list.kind}List`, apiVersion: 'v1', metadata: { resourceVersion: '42' }, items: list.items });
    const found = list.items.find((item) => (item['metadata'] as Json)['name'] === name);
    return found === undefined ? failure(404, 'NotFound', `${plural} "${name}" not found`) : answer(200, { kind: list.kind, apiVersion: 'v1', ...found });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
