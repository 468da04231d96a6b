import { createSecureServer, type Http2SecureServer, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, createServer as createNetServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { apiVersionOf, type Kind } from '../../api/kind.ts';
import type { Cancel, World } from '../../world/world.ts';
import type { Api } from '../api.ts';
import type { Auditor } from '../audit/auditor.ts';
import type { Exchange } from '../exchange.ts';
import type { Authenticator } from '../authentication/authenticator.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { PathAnswer, PathRequest } from '../discovery/path-request.ts';
import { discover } from '../discovery/resources.ts';
import { answerMalformedRequest, badRequestBody } from './malformed-request.ts';
import { authorityProblem, hostProblem } from './host-header.ts';
import { Connections } from './connections.ts';
import { HandshakeLimiter } from './handshake-limiter.ts';
import { type HandlerOptions, RequestHandler } from './handler.ts';
import { Http1Exchange } from './http1.ts';
import { Http2Exchange } from './http2.ts';
import { defaultLimits, type Limits } from '../limits.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { StreamBatches } from './stream-batches.ts';
import { RequestMetrics } from '../metrics/request-metrics.ts';
import { Http1FastPath } from './http1-fast-path.ts';
import { PipelineQueue } from './pipelining.ts';
import { UpgradeExchange } from './upgrade-exchange.ts';

export interface HttpServerOptions {
  readonly api: Api;
  readonly kinds: readonly Kind[];
  /** Those that were defined at run time. */
  readonly customKinds?: () => readonly Kind[];
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly paths: (request: PathRequest) => PathAnswer | undefined | Promise<PathAnswer | undefined>;
  readonly tls: ServingTls;
  readonly listen: { readonly host: string; readonly port: number };
  readonly world: World;
  readonly metrics: Metrics;
  readonly limits?: Partial<Limits>;
  /** False: Mooring's own request headers are ignored (`moor up --plain`). */
  readonly extensions?: boolean;
  readonly podStreams?: HandlerOptions['podStreams'];
  readonly admitConnect?: HandlerOptions['admitConnect'];
  readonly aggregator?: HandlerOptions['aggregator'];
  readonly flowConfiguration?: HandlerOptions['flowConfiguration'];
  readonly auditor?: Auditor | undefined;
  readonly pages?: HandlerOptions['pages'];
}

/** PEM. */
export interface ServingTls {
  readonly certificate: string;
  readonly key: string;
  /** The CA of client certificates. */
  readonly clientAuthority: string;
}

export interface HttpServer {
  /** 'https://127.0.0.1:6443' */
  readonly url: string;
  readonly port: number;
  /** Serves the same on another address, with the same port. @throws as `startHttpServer` */
  listenAlso(host: string): Promise<void>;
  /** For new connections. */
  replaceCertificate(tls: ServingTls): void;
  /** Stops accepting, ends watches, lets requests finish for a while, closes. Idempotent. */
  stop(): Promise<void>;
}

/**
 * HTTPS with HTTP/1.1 and HTTP/2 on one port.
 * @throws what listening throws: `code` 'EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL'
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const limits: Limits = { ...defaultLimits, ...options.limits };
  const served = new Set(options.kinds.map((kind) => `${kind.group}/${kind.version}/${kind.plural}`));
  const metrics = new RequestMetrics(options.metrics, served);
  const versions = new Set(discover(options.kinds).map(apiVersionOf));
  const handler = new RequestHandler({
    ...options,
    limits,
    metrics,
    serves: (apiVersion) => versions.has(apiVersion) || (options.customKinds?.() ?? []).some((kind) => apiVersionOf(kind) === apiVersion),
    extensions: options.extensions ?? true,
  });
  const connections = new Connections(limits, options.world);
  options.metrics.gauge('mooring_connections', 'Connections open', () => connections.size);
  const server = createServer(options.tls, limits);
  const fastPath = serve(server, { handler, connections, limits, world: options.world, metrics });
  const port = await listen(server, options.listen);
  const others: Server[] = [];
  let stopped: Promise<void> | undefined;
  return {
    url: `https://${options.listen.host.includes(':') ? `[${options.listen.host}]` : options.listen.host}:${port}`,
    port,
    async listenAlso(host) {
      const other = createNetServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: limits.probeMs }, (socket) => server.emit('connection', socket));
      other.maxConnections = limits.connections;
      others.push(other);
      await listen(other, { host, port });
    },
    replaceCertificate: (tls) => server.setSecureContext(secureContext(tls)),
    stop() {
      for (const other of others) other.close();
      stopped ??= stop(server, { handler, connections, fastPath, limits, world: options.world });
      return stopped;
    },
  };
}

const secureContext = (tls: ServingTls) => ({ cert: tls.certificate, key: tls.key, ca: tls.clientAuthority, minVersion: 'TLSv1.2' as const });

function createServer(tls: ServingTls, limits: Limits): Http2SecureServer {
  const server = createSecureServer({
    ...secureContext(tls),
    allowHTTP1: true,
    // Requested, not required: clients may send tokens instead, and /healthz is open to anonymous ones.
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: limits.handshakeMs,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: limits.probeMs,
    maxSessionMemory: limits.sessionMegabytes,
    maxHeaderListPairs: limits.headerLines,
    settings: { maxConcurrentStreams: limits.streamsPerConnection, maxHeaderListSize: limits.headerBytes, initialWindowSize: 1024 * 1024 },
  });
  server.maxConnections = limits.connections;
  // Node reads these of any server that speaks HTTP/1, but its types know them of one kind only.
  return Object.assign(server, {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.receiveMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.min(limits.headersMs, limits.receiveMs) / 4,
    maxHeaderSize: limits.headerBytes,
  });
}

interface Serving {
  readonly handler: RequestHandler;
  readonly connections: Connections;
  readonly limits: Limits;
  readonly world: World;
  readonly metrics: RequestMetrics;
}

function serve(server: Http2SecureServer, { handler, connections, limits, world, metrics }: Serving): Http1FastPath {
  const turns = new PipelineQueue(limits.pipelinedRequests, world.timers);
  const batches = new StreamBatches<TLSSocket>(world.timers);
  // Node's own listener: HTTP/2, and HTTP/1 in all its forms.
  const byNode = server.listeners('secureConnection')[0] as (this: Http2SecureServer, socket: TLSSocket) => void;
  const fastPath = new Http1FastPath({
    limits,
    clock: world.clock,
    handle: (exchange) => void handler.handle(exchange),
    fallBack: (socket) => byNode.call(server, socket),
    stopping: () => connections.stopping,
  });
  server.removeAllListeners('secureConnection');
  const handshake = server.listeners('connection')[0] as (this: Http2SecureServer, socket: Socket) => void;
  const door = new HandshakeLimiter({ limits, world, metrics });
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    door.accept(socket, () => handshake.call(server, socket));
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    connections.addSecure(socket);
    if (socket.alpnProtocol === 'h2') byNode.call(server, socket);
    else fastPath.accept(socket);
  });
  server.on('session', (session: ServerHttp2Session) => connections.addSession(session));
  const refuseBroken = (error: Error & { code?: string }, socket: Duplex): void => {
    if (turns.isResponding(socket)) socket.destroy();
    else answerMalformedRequest(error, socket, world.timers);
  };
  // As in Go, such a request reaches no handler: it is neither authenticated nor audited.
  const respond = (exchange: Exchange, wrong: string | undefined): void => {
    if (wrong === undefined) void handler.handle(exchange);
    else exchange.respond({ code: 400, headers: ['content-type', 'application/json', 'cache-control', 'no-cache, private'] }, badRequestBody(wrong));
  };
  server.on('request', (request, response) => {
    const http1 = { request, response } as unknown as Http1Pair;
    // Node's parser also accepts HTTP/0.9 and unknown versions.
    if (request.httpVersionMajor !== 1) return refuseBroken(new Error('an unknown version of HTTP'), http1.request.socket);
    const wrong = hostProblem(request.rawHeaders, request.httpVersion);
    turns.enqueue(http1.request, http1.response, () => {
      const exchange = new Http1Exchange(http1.request, http1.response, { limits, last: () => connections.stopping || wrong !== undefined });
      respond(exchange, wrong);
    });
  });
  // With 'request' listened to, Node also offers HTTP/2 through a layer that makes it look like HTTP/1. It costs a third
  // of the speed, and would answer every stream a second time.
  server.removeAllListeners('stream');
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: string[]) => {
    // A stream that its client resets says so with an error event; its exchange learns by the close that follows.
    stream.on('error', () => undefined);
    const socket = stream.session?.socket as TLSSocket | undefined;
    if (socket === undefined) return;
    const wrong = authorityProblem(rawHeaders, headers[':authority']);
    batches.start(socket, () => respond(new Http2Exchange(stream, headers, { socket, rawHeaders, limits, timers: world.timers }), wrong));
  });
  server.on('upgrade', (request, _socket, head: Buffer) => {
    respond(new UpgradeExchange(request, head), hostProblem(request.rawHeaders, request.httpVersion));
  });
  server.on('clientError', refuseBroken);
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.on('sessionError', () => undefined);
  server.on('drop', () => metrics.refused.add(1, 'connections'));
  server.on('error', (error: Error) => {
    // One that cannot begin to listen is the start's to explain.
    if (server.listening) world.log.error('the listening socket failed', { error: error.message });
  });
  return fastPath;
}

interface Http1Pair {
  readonly request: ConstructorParameters<typeof Http1Exchange>[0];
  readonly response: ConstructorParameters<typeof Http1Exchange>[1];
}

function listen(server: Http2SecureServer | Server, { host, port }: HttpServerOptions['listen']): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 1024 }, () => {
      server.removeListener('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

interface Stopping extends Omit<Serving, 'metrics'> {
  readonly fastPath: Http1FastPath;
}

/** Between two checks for idle connections while the server stops. */
const idleCheckMs = 20;

async function stop(server: Http2SecureServer, { handler, connections, fastPath, limits, world }: Stopping): Promise<void> {
  let cancelCheck: Cancel = () => undefined;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  connections.beginStop();
  handler.endWatches();
  // An answered connection would be kept open for the next request.
  const closeIdle = (): void => {
    closeIdleConnections(server);
    fastPath.closeIdle();
    cancelCheck = world.timers.after(idleCheckMs, closeIdle);
  };
  closeIdle();
  const cancelCutOff = world.timers.after(limits.stopMs, () => connections.cutOff());
  await closed;
  cancelCheck();
  cancelCutOff();
}

/** Node's types know the method of one kind of server only. */
const closeIdleConnections = (server: Http2SecureServer): void => (server as unknown as { closeIdleConnections(): void }).closeIdleConnections();
