/** A registry on loopback that serves images, honestly or not. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { digestOf, imageBlobs, type ImageParts } from './archives.ts';

export interface TestRegistry {
  /** '127.0.0.1:5000' */
  readonly host: string;
  /** Paths that were asked for, with the range. */
  readonly requests: string[];
  /** Decides about a request; undefined: the registry answers as usual. */
  onRequest: (path: string, response: ServerResponse) => boolean;
  /** Needed for every request, as 'user:password'; undefined: none. */
  credentials: string | undefined;
  add(repository: string, tag: string, parts: ImageParts): string;
  close(): Promise<void>;
}

export async function testRegistry(): Promise<TestRegistry> {
  const content = new Map<string, Buffer>();
  const server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const registry: TestRegistry = {
    host,
    requests: [],
    onRequest: () => false,
    credentials: undefined,
    add(repository, tag, parts) {
      const { manifest, blobs } = imageBlobs(parts);
      for (const [digest, bytes] of blobs) content.set(`/v2/${repository}/blobs/${digest}`, bytes);
      for (const reference of [tag, digestOf(manifest)]) content.set(`/v2/${repository}/manifests/${reference}`, manifest);
      return digestOf(manifest);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { range, authorization } = request.headers;
    const url = new URL(request.url ?? '/', `http://${host}`);
    registry.requests.push(`${url.pathname}${range === undefined ? '' : ` ${range}`}`);
    if (registry.onRequest(url.pathname, response)) return;
    const { credentials } = registry;
    if (url.pathname === '/token') {
      const isKnown = authorization === `Basic ${Buffer.from(credentials ?? '').toString('base64')}`;
      response.writeHead(isKnown ? 200 : 401).end(JSON.stringify({ token: `for ${url.searchParams.get('scope')}` }));
      return;
    }
    if (credentials !== undefined && authorization?.startsWith('Bearer for repository:') !== true) {
      const scope = `repository:${url.pathname.split('/').slice(2, -2).join('/')}:pull`;
      response.writeHead(401, { 'www-authenticate': `Bearer realm="http://${host}/token",service="test",scope="${scope}"` }).end();
      return;
    }
    const bytes = content.get(url.pathname);
    if (bytes === undefined) response.writeHead(404).end();
    else if (range === undefined) response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
    else response.writeHead(206).end(bytes.subarray(Number(/\d+/.exec(range)?.[0])));
  };
  return registry;
}
