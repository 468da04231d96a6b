import { constants, type OutgoingHttpHeaders } from 'node:http2';
import type { Timers } from '../world/world.ts';
import { type Address, parseAddress } from './address.ts';
import type { CallOptions, Channel } from './channel.ts';
import { defaultMaxMessageBytes, defaultMaxSendBytes, frame } from './frames.ts';
import { ClientCall } from './http2-client-call.ts';
import { type ClientTls, Connection, defaultKeepalive, type Keepalive } from './http2-connection.ts';
import { drained } from './http2-drain.ts';
import { MessageQueue } from './message-queue.ts';
import { checkMetadata } from './metadata.ts';
import { RpcError, rpcErrorOf } from './status.ts';
import { formatTimeout } from './timeout.ts';

export interface Http2ChannelOptions {
  /** 'unix:///run/csi.sock', or 'host:port'. */
  readonly address: string;
  readonly timers: Timers;
  /** Of one answer. */
  readonly maxMessageBytes?: number;
  /** Of one request. */
  readonly maxSendBytes?: number;
  /** Undefined: in clear text. */
  readonly tls?: ClientTls;
  readonly userAgent?: string;
  /** Undefined: that of TCP, and none for a unix socket. */
  readonly keepalive?: Keepalive;
  /** Called when a connection that was made ends, even if no call is in flight. */
  readonly onLost?: () => void;
}

/** A `Channel` on node:http2, to a unix socket or a TCP port. Throws an Error for an address that is none. */
export class Http2Channel implements Channel {
  readonly #options: Http2ChannelOptions;
  readonly #address: Address;
  #connection: Connection | undefined;
  #everConnected = false;
  #closed = false;

  constructor(options: Http2ChannelOptions) {
    this.#options = options;
    this.#address = parseAddress(options.address);
  }

  unary(path: string, request: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      let answer: Uint8Array | undefined;
      const call = this.#begin(path, options, {
        message: (message) => {
          if (answer !== undefined) throw new RpcError('Internal', `cardinality violation: ${path} answered more than one message`);
          answer = message;
        },
        end: (failure) => {
          if (failure !== undefined) reject(failure);
          else if (answer === undefined) reject(new RpcError('Internal', `cardinality violation: ${path} answered no message`));
          else resolve(answer);
        },
      });
      call?.finish(request);
    });
  }

  stream(path: string, requests: AsyncIterable<Uint8Array>, options: CallOptions = {}): AsyncIterable<Uint8Array> {
    return { [Symbol.asyncIterator]: () => this.#openStream(path, requests, options) };
  }

  /** Whether a connection was ever made. */
  get everConnected(): boolean {
    return this.#everConnected || this.#connection?.isConnected === true;
  }

  /** A later call fails too. */
  close(): void {
    this.#closed = true;
    this.#connection?.close();
    this.#connection = undefined;
  }

  #openStream(path: string, requests: AsyncIterable<Uint8Array>, options: CallOptions): AsyncIterator<Uint8Array> {
    const source = requests[Symbol.asyncIterator]();
    // A request that is still awaited would make `return` wait.
    const leaveRequests = (): void => void source.return?.().catch(() => undefined);
    const queue = new MessageQueue({
      pause: () => call?.pause(),
      resume: () => call?.resume(),
      cancel: () => call?.fail(new RpcError('Canceled', 'context canceled')),
    });
    const call = this.#begin(path, options, {
      message: (message) => queue.push(message),
      end: (failure) => {
        queue.end(failure);
        leaveRequests();
      },
    });
    if (call !== undefined) void sendAll(call, source);
    return queue;
  }

  /** Undefined: the call has failed already. */
  #begin(path: string, { metadata, timeoutMs, signal }: CallOptions, sink: CallSink): CallInFlight | undefined {
    if (signal?.aborted === true) return refused(sink, canceled());
    if (timeoutMs !== undefined && !(timeoutMs > 0)) return refused(sink, deadlineExceeded());
    const headers: OutgoingHttpHeaders = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
    headers['user-agent'] = this.#options.userAgent ?? 'mooring';
    if (timeoutMs !== undefined && Number.isFinite(timeoutMs)) headers['grpc-timeout'] = formatTimeout(timeoutMs);
    try {
      if (metadata !== undefined) {
        checkMetadata(metadata);
        Object.assign(headers, metadata);
      }
      return this.#open(headers, { timeoutMs, signal, sink });
    } catch (error) {
      return refused(sink, rpcErrorOf(error));
    }
  }

  #open(
    headers: OutgoingHttpHeaders,
    { timeoutMs, signal, sink }: { readonly timeoutMs: number | undefined; readonly signal: AbortSignal | undefined; readonly sink: CallSink },
  ): CallInFlight {
    const connection = this.#connected();
    const stream = connection.request(headers);
    const { maxMessageBytes = defaultMaxMessageBytes, maxSendBytes = defaultMaxSendBytes, timers } = this.#options;
    const keepalive = this.#options.keepalive ?? ('path' in this.#address ? undefined : defaultKeepalive);
    if (keepalive !== undefined) connection.keepAlive(timers, keepalive);
    const abort = (): void => call.fail(canceled());
    const call = new ClientCall({
      stream,
      maxMessageBytes,
      onMessage: (message) => sink.message(message),
      onEnd: (failure) => {
        cancelTimer?.();
        signal?.removeEventListener('abort', abort);
        if (stream.rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM) connection.retire();
        sink.end(failure);
      },
      connectionFailure: () => connection.failure(),
    });
    const cancelTimer = timeoutMs === undefined || !Number.isFinite(timeoutMs) ? undefined : timers.after(timeoutMs, () => call.fail(deadlineExceeded()));
    signal?.addEventListener('abort', abort);
    return {
      get ended() {
        return call.ended;
      },
      fail: (failure) => call.fail(failure),
      pause: () => void stream.pause(),
      resume: () => void stream.resume(),
      finish: (last) => guarded(call, () => stream.end(last === undefined ? undefined : frame(last, maxSendBytes))),
      send: async (message) => {
        const isRoomLeft = guarded(call, () => stream.write(frame(message, maxSendBytes)));
        if (isRoomLeft === false) await drained(stream);
      },
    };
  }

  #connected(): Connection {
    if (this.#closed) throw new RpcError('Canceled', 'grpc: the client connection is closing');
    if (this.#connection?.isUsable === true) return this.#connection;
    this.#everConnected = this.everConnected;
    this.#connection = new Connection(this.#address, this.#options.tls, this.#options.onLost);
    return this.#connection;
  }
}

interface CallSink {
  /** May throw an `RpcError`, which ends the call. */
  message(message: Uint8Array): void;
  end(failure: RpcError | undefined): void;
}

interface CallInFlight {
  readonly ended: boolean;
  fail(failure: RpcError): void;
  pause(): void;
  resume(): void;
  /** Resolves when the next message may be sent. */
  send(message: Uint8Array): Promise<void>;
  finish(last?: Uint8Array): void;
}

const deadlineExceeded = (): RpcError => new RpcError('DeadlineExceeded', 'context deadline exceeded');
const canceled = (): RpcError => new RpcError('Canceled', 'context canceled');

function refused(sink: CallSink, failure: RpcError): undefined {
  sink.end(failure);
}

async function sendAll(call: CallInFlight, requests: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    for (let next = await requests.next(); next.done !== true && !call.ended; next = await requests.next()) await call.send(next.value);
    if (!call.ended) call.finish();
  } catch (error) {
    call.fail(rpcErrorOf(error));
  }
}

function guarded<T>(call: ClientCall, send: () => T): T | undefined {
  if (call.ended) return undefined;
  try {
    return send();
  } catch (error) {
    call.fail(rpcErrorOf(error));
    return undefined;
  }
}
