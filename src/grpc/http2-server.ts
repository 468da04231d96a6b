import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { createSecureServer, createServer, type Http2SecureServer, type Http2Server, type ServerHttp2Session, type ServerOptions } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Timers } from '../world/world.ts';
import { parseAddress } from './address.ts';
import type { CallHandler } from './channel.ts';
import { defaultMaxMessageBytes, defaultMaxSendBytes } from './frames.ts';
import { HandlerMap } from './handler-map.ts';
import { sessionMemory, streamWindow, tcpKeepaliveMs } from './http2-connection.ts';
import { answerCall } from './http2-server-call.ts';

export interface ListenOptions {
  /** Of a unix socket. 0o600 by default. */
  readonly mode?: number;
  /** PEM. `ca`: clients have to show a certificate of this authority. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer; readonly ca?: string | Buffer };
  /** For the deadlines of calls. Undefined: a call ends when its client gives it up. */
  readonly timers?: Timers;
  /** Of one request. */
  readonly maxMessageBytes?: number;
  /** Of one answer. */
  readonly maxSendBytes?: number;
}

const serverOptions: ServerOptions = { settings: { maxConcurrentStreams: 1_000, initialWindowSize: streamWindow }, maxSessionMemory: sessionMemory };

/** A gRPC server. `handlers` come from `handlersOf`; several services are several maps. */
export class GrpcServer {
  readonly #handlers: HandlerMap;
  readonly #sessions = new Set<ServerHttp2Session>();
  #server: Http2Server | Http2SecureServer | undefined;

  constructor(...handlers: readonly ReadonlyMap<string, CallHandler>[]) {
    this.#handlers = new HandlerMap(handlers);
  }

  /**
   * `address`: 'unix:///run/csi.sock', or 'host:port' (port 0: any). A socket that a dead process left is replaced; the socket of a live one
   * is refused. Resolves with the port, 0 for a unix socket.
   */
  async listen(address: string, options: ListenOptions = {}): Promise<number> {
    if (this.#server !== undefined) throw new Error('the server listens already');
    const parsed = parseAddress(address);
    if ('path' in parsed) await removeStaleSocket(parsed.path);
    const server = this.#createServer(options);
    await new Promise<void>((resolve, reject) => {
      // Later ones, as of a connection that cannot be accepted, have no other listener.
      server.on('error', reject);
      server.listen(parsed, () => {
        if ('path' in parsed) chmodSync(parsed.path, options.mode ?? 0o600);
        resolve();
      });
    });
    this.#server = server;
    return 'path' in parsed ? 0 : (server.address() as AddressInfo).port;
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    for (const session of this.#sessions) session.destroy();
    await closed;
  }

  #createServer({ tls, timers, maxMessageBytes = defaultMaxMessageBytes, maxSendBytes = defaultMaxSendBytes }: ListenOptions): Http2Server | Http2SecureServer {
    const server =
      tls === undefined ? createServer(serverOptions) : createSecureServer({ ...serverOptions, ...tls, requestCert: tls.ca !== undefined, allowHTTP1: false });
    // A client that is gone without a word leaves no connection for ever. On a unix socket this does nothing.
    server.on('connection', (socket: Socket) => void socket.setKeepAlive(true, tcpKeepaliveMs));
    server.on('session', (session: ServerHttp2Session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
    });
    const callOptions = { maxMessageBytes, maxSendBytes, timers, handlerOf: (path: string) => this.#handlers.handlerOf(path) };
    server.on('stream', (stream, headers) => answerCall(stream, headers, callOptions));
    return server;
  }
}

async function removeStaleSocket(path: string): Promise<void> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isSocket()) throw new Error(`listen unix ${path}: bind: address already in use: it is no socket`);
  if (await accepts(path)) throw new Error(`listen unix ${path}: bind: address already in use by a process that listens`);
  rmSync(path, { force: true });
}

function accepts(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    // Only a socket without a listener refuses. Any other failure says nothing about it.
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'));
  });
}
