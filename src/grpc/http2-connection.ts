import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants, type OutgoingHttpHeaders } from 'node:http2';
import { connect as connectSocket, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { Timers } from '../world/world.ts';
import type { Address } from './address.ts';
import { failureOfConnection } from './http2-status.ts';
import { RpcError } from './status.ts';

export interface ClientTls {
  /** PEM; undefined: the authorities that Node.js knows. */
  readonly ca?: string | Buffer;
  /** PEM, of the client. */
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The name in the server's certificate; undefined: the host of the address. */
  readonly serverName?: string;
}

/** Pings while calls are in flight: a peer that is gone without a word, as a machine without power, is noticed. */
export interface Keepalive {
  readonly intervalMs: number;
  /** The connection ends if the answer takes longer. */
  readonly timeoutMs: number;
}

/** For TCP. gRPC servers end connections with more pings than one in five minutes, unless they are told otherwise. */
export const defaultKeepalive: Keepalive = { intervalMs: 5 * 60_000, timeoutMs: 20_000 };
/** Until the kernel asks the peer, of a TCP connection without traffic. */
export const tcpKeepaliveMs = 30_000;

/** Bytes of one stream that the peer may send before they are read. */
export const streamWindow = 256 * 1024;
/** Megabytes of queued frames and headers, of one connection. */
export const sessionMemory = 64;

/** One HTTP/2 connection of a client. It keeps the process alive only while calls are in flight. */
export class Connection {
  readonly #address: Address;
  readonly #session: ClientHttp2Session;
  #connected = false;
  #error: Error | undefined;
  #calls = 0;
  #pings = false;
  /** Why this side ended it. */
  #closed: RpcError | undefined;

  /** `onLost`: called when it ends after it was made, unless this side ended it. */
  constructor(address: Address, tls: ClientTls | undefined, onLost?: () => void) {
    this.#address = address;
    const host = 'path' in address ? 'localhost' : address.host;
    const authority = isIP(host) === 6 ? `[${host}]` : host;
    const port = 'path' in address ? '' : `:${address.port}`;
    this.#session = connectHttp2(`${tls === undefined ? 'http' : 'https'}://${authority}${port}`, {
      createConnection: () => openSocket(address, tls).on('error', (error) => (this.#error ??= error)),
      settings: { enablePush: false, initialWindowSize: streamWindow },
      maxSessionMemory: sessionMemory,
    });
    // Of the socket, its own listener above gets them first, and those that come after the end of the session.
    this.#session.once('remoteSettings', () => (this.#connected = true));
    this.#session.on('error', (error) => (this.#error ??= error));
    this.#session.once('close', () => {
      if (this.#connected && this.#closed === undefined) onLost?.();
    });
    this.#session.unref();
  }

  /** Whether a call may begin on it. */
  get isUsable(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  /** The server has spoken HTTP/2. */
  get isConnected(): boolean {
    return this.#connected;
  }

  request(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    const stream = this.#session.request(headers);
    if (this.#calls++ === 0) this.#session.ref();
    stream.once('close', () => {
      if (--this.#calls === 0) this.#session.unref();
    });
    return stream;
  }

  /** Until no call is in flight. */
  keepAlive(timers: Timers, keepalive: Keepalive): void {
    if (this.#pings) return;
    this.#pings = true;
    timers.after(keepalive.intervalMs, () => {
      this.#pings = false;
      if (this.#calls > 0 && this.isUsable) this.#ping(timers, keepalive);
    });
  }

  #ping(timers: Timers, keepalive: Keepalive): void {
    const cancelTimer = timers.after(keepalive.timeoutMs, () => {
      this.#error ??= new Error('keepalive ping failed to receive ACK within timeout');
      this.#session.destroy();
    });
    this.#session.ping((error) => {
      cancelTimer();
      if (error === null) this.keepAlive(timers, keepalive);
    });
  }

  /** Undefined: it has not ended. */
  failure(): RpcError | undefined {
    if (this.#closed !== undefined) return this.#closed;
    if (!this.#session.destroyed) return undefined;
    return failureOfConnection(this.#address, { connected: this.#connected, error: this.#error });
  }

  /** No further call begins on it: the server refuses them all, since it has too much to send. Calls in flight may end. */
  retire(): void {
    this.#session.close();
  }

  close(): void {
    this.#closed = new RpcError('Canceled', 'grpc: the client connection is closing');
    this.#session.destroy(undefined, constants.NGHTTP2_CANCEL);
  }
}

function openSocket(address: Address, tls: ClientTls | undefined): Socket {
  const socket = tls === undefined ? connectSocket(address) : connectTls({ ...address, ...tlsOptions(address, tls) });
  socket.setNoDelay(true);
  if (!('path' in address)) socket.setKeepAlive(true, tcpKeepaliveMs);
  return socket;
}

function tlsOptions(address: Address, { serverName, ...keys }: ClientTls): ConnectionOptions {
  const name = serverName ?? ('path' in address ? 'localhost' : address.host);
  // A certificate may name an IP address; the handshake does not.
  return { ...keys, ALPNProtocols: ['h2'], ...(isIP(name) === 0 ? { servername: name } : {}) };
}
