/** HTTP to a port of a pod, over a connection that the pod's node opens. */
import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { type Duplex, pipeline, type Readable } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import { createDeflate, createGunzip, createGzip, createInflate } from 'node:zlib';
import type { Pod } from '../../api/generated/types.ts';
import { statusErrors } from '../../api/status.ts';
import type { PodStreams } from '../../streams/contract.ts';
import { StreamRefused } from '../../streams/upgrades.ts';
import type { Exchange } from '../exchange.ts';
import { HtmlLinks, type ProxiedPage, rewriteLink } from './html-links.ts';

export interface ProxiedCall {
  readonly scheme: 'http' | 'https';
  readonly port: number;
  /** With its query. */
  readonly path: string;
  readonly body: Uint8Array;
}

/** Headers of one connection, and those that name the client to the API server, which are not for a pod to see. */
const notForwarded: ReadonlySet<string> = new Set(
  'authorization connection content-length expect host keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);
const isForwarded = (name: string): boolean => !notForwarded.has(name) && !name.startsWith(':') && !name.startsWith('impersonate-');

/** Resolves with the head of the answer. @throws ApiError, StreamRefused, NodeUnreachable */
export async function callPod(node: PodStreams, pod: Pod, { scheme, port, path, body }: ProxiedCall, exchange: Exchange): Promise<IncomingMessage> {
  const forwarder = await node.portForward(pod);
  if (!forwarder.ok) throw new StreamRefused(forwarder);
  const connection = await forwarder.value.connect(port);
  if (!connection.ok) {
    forwarder.value.close();
    throw statusErrors.serviceUnavailable(`error trying to reach service: ${connection.message}`);
  }
  connection.value.once('close', () => forwarder.value.close());
  const host = backendHost(pod, port);
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      agent: new OneConnection(scheme === 'https' ? secured(connection.value) : connection.value),
      method: exchange.method,
      path,
      headers: { ...forwardedRequestHeaders(exchange), host, 'x-forwarded-uri': exchange.target.split('?')[0] ?? '', 'content-length': body.length },
    });
    abortWithClient(sent, exchange, connection.value);
    sent.on('error', (error) => reject(statusErrors.serviceUnavailable(`error trying to reach service: ${error.message}`)));
    sent.on('response', resolve);
    // A pod that switches protocols without being asked ends the connection, and there is neither an error nor an answer.
    sent.on('close', () => reject(statusErrors.serviceUnavailable('error trying to reach service: the connection ended without an answer')));
    sent.end(body);
  });
}

const backendHost = (pod: Pod, port: number): string => `${pod.status.podIP ?? pod.metadata.name ?? ''}:${port}`;

export interface PageAnswer {
  /** Name and value in turn. */
  readonly headers: readonly string[];
  readonly body: Readable;
}

/** The answer as the client gets it: its links lead through the proxy again, and no page may let others use the API server's origin. */
export function pageAnswer(answer: IncomingMessage, { pod, port }: { readonly pod: Pod; readonly port: number }, exchange: Exchange): PageAnswer {
  const path = exchange.target.split('?')[0] ?? '';
  const page = {
    prefix: path.split('/', proxySegments).join('/'),
    backend: backendHost(pod, port),
    host: exchange.header('host') ?? exchange.header(':authority') ?? '',
  };
  const headers = forwardedHeaders(answer);
  for (let i = 0; i + 1 < headers.length; i += 2) if (headers[i] === 'location') headers[i + 1] = rewriteLink(headers[i + 1] ?? '', page);
  const isPage = /^text\/html\s*(;|$)/i.test(answer.headers['content-type'] ?? '') && answer.headers.location === undefined;
  return { headers, body: isPage ? withLinks(answer, page) : answer };
}

/** Of '/api/v1/namespaces/default/pods/web/proxy', the empty one in front included. */
const proxySegments = 8;

/** An encoding that is not known here is passed on as it is. */
function withLinks(answer: IncomingMessage, page: ProxiedPage): Readable {
  const links = new HtmlLinks(page);
  // The last stream is destroyed with the error, which ends the answer to the client.
  const ignore = (): void => undefined;
  switch (answer.headers['content-encoding'] ?? '') {
    case '':
      return pipeline(answer, links, ignore);
    case 'gzip':
      return pipeline(answer, createGunzip(), links, createGzip(), ignore);
    case 'deflate':
      return pipeline(answer, createInflate(), links, createDeflate(), ignore);
    default:
      return answer;
  }
}

/** A pool would give the connection to the next request, which may be for another pod. */
class OneConnection extends Agent {
  readonly #connection: Duplex;

  constructor(connection: Duplex) {
    super({ keepAlive: false });
    this.#connection = connection;
  }

  override createConnection(): Duplex {
    return this.#connection;
  }
}

/** Kubernetes' proxy does not verify the certificates of pods, which have none that any authority knows. */
const secured = (connection: Duplex): Duplex => tlsConnect({ socket: connection, rejectUnauthorized: false });

function abortWithClient(sent: ClientRequest, exchange: Exchange, connection: Duplex): void {
  exchange.onClose(() => {
    sent.destroy();
    connection.destroy();
  });
}

/** The headers of a request that are passed on. */
export function forwardedRequestHeaders(exchange: Exchange): Record<string, string[]> {
  // By a map: clients choose the names, and every object has a member named 'constructor'.
  const all = new Map<string, string[]>();
  for (const [name, value] of exchange.headersWithPrefix('')) if (isForwarded(name)) all.set(name, [...(all.get(name) ?? []), value]);
  return Object.fromEntries(all);
}

/** What a pod says about other origins would be said of the API server's. */
const isOfOrigin = (name: string): boolean => /^access-control-allow-(credentials|headers|methods|origin)$/.test(name);

/** The headers of the answer, name and value in turn. */
export function forwardedHeaders({ rawHeaders }: { readonly rawHeaders: readonly string[] }): string[] {
  const headers: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase();
    if (isForwarded(name) && !isOfOrigin(name)) headers.push(name, rawHeaders[i + 1] ?? '');
  }
  return headers;
}
