import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Timers } from '../world/world.ts';
import type { CallHandler, ServerCall as HandledCall } from './channel.ts';
import { frame, FrameDecoder } from './frames.ts';
import { drained } from './http2-drain.ts';
import { isGrpcContentType } from './http2-status.ts';
import { MessageQueue } from './message-queue.ts';
import { metadataOf } from './metadata.ts';
import { percentEncoded } from './percent-encoding.ts';
import { numberOf, RpcError, rpcErrorOf } from './status.ts';
import { parseTimeout } from './timeout.ts';

export interface ServerCallOptions {
  readonly handlerOf: (path: string) => CallHandler | RpcError;
  readonly maxMessageBytes: number;
  readonly maxSendBytes: number;
  readonly timers: Timers | undefined;
}

const accepted = { ':status': 200, 'content-type': 'application/grpc' } as const;

/** Answers one HTTP/2 stream. Never throws. */
export function answerCall(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, options: ServerCallOptions): void {
  // A reset, or a connection that is cut: 'close' follows.
  stream.on('error', () => undefined);
  if (headers[':method'] !== 'POST') return refuse(stream, { ':status': 405 }, new RpcError('Internal', `http2: received ${headers[':method']}, not POST`));
  if (!isGrpcContentType(headers['content-type'])) {
    const text = `invalid gRPC request content-type ${JSON.stringify(headers['content-type'] ?? '')}`;
    return refuse(stream, { ':status': 415 }, new RpcError('InvalidArgument', text));
  }
  const encoding = headers['grpc-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    const text = `grpc: Decompressor is not installed for grpc-encoding ${JSON.stringify(encoding)}`;
    return refuse(stream, { ...accepted, 'grpc-accept-encoding': 'identity' }, new RpcError('Unimplemented', text));
  }
  const timeout = headers['grpc-timeout'];
  const timeoutMs = timeout === undefined ? undefined : (parseTimeout(String(timeout)) ?? Number.NaN);
  if (Number.isNaN(timeoutMs)) return refuse(stream, accepted, new RpcError('Internal', `malformed grpc-timeout: ${JSON.stringify(timeout)}`));
  const handler = options.handlerOf(headers[':path'] ?? '');
  if (handler instanceof RpcError) return refuse(stream, accepted, handler);
  void new ServerCall(stream, options).run(handler, headers, timeoutMs);
}

function refuse(stream: ServerHttp2Stream, head: OutgoingHttpHeaders, failure: RpcError): void {
  if (stream.destroyed || stream.closed) return;
  stream.respond({ ...head, ...trailersOf(failure) }, { endStream: true });
  stream.on('data', () => stream.close(constants.NGHTTP2_NO_ERROR));
}

const trailersOf = (failure: RpcError | undefined): OutgoingHttpHeaders =>
  failure === undefined ? { 'grpc-status': '0' } : { 'grpc-status': String(numberOf(failure.code)), 'grpc-message': percentEncoded(failure.message) };

class ServerCall {
  readonly #stream: ServerHttp2Stream;
  readonly #options: ServerCallOptions;
  readonly #decoder: FrameDecoder;
  readonly #requests: MessageQueue;
  /** Made when the handler asks for its signal: most do not, and it costs more than the rest of a short call. */
  #abort: AbortController | undefined;
  #ended: { readonly failure: RpcError | undefined } | undefined;
  #trailersSent = false;

  constructor(stream: ServerHttp2Stream, options: ServerCallOptions) {
    this.#stream = stream;
    this.#options = options;
    this.#decoder = new FrameDecoder(options.maxMessageBytes, 'Unimplemented');
    this.#requests = new MessageQueue({
      pause: () => void stream.pause(),
      resume: () => void stream.resume(),
      // A handler that needs no further request still answers.
      cancel: () => void stream.resume(),
    });
    stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    stream.on('end', () =>
      this.#decoder.isEmpty ? this.#requests.end() : this.#end(new RpcError('Internal', 'the stream of requests ended in the middle of a message')),
    );
    stream.on('close', () => {
      if (this.#ended === undefined) this.#finish(new RpcError('Canceled', 'context canceled'));
    });
  }

  async run(handler: CallHandler, headers: IncomingHttpHeaders, timeoutMs: number | undefined): Promise<void> {
    const cancelTimer =
      timeoutMs === undefined
        ? undefined
        : this.#options.timers?.after(timeoutMs, () => this.#end(new RpcError('DeadlineExceeded', 'context deadline exceeded')));
    try {
      for await (const message of handler(this.#asSeenByHandler(headers))) {
        if (this.#ended !== undefined) break;
        await this.#send(message);
      }
      this.#end(undefined);
    } catch (error) {
      this.#end(rpcErrorOf(error));
    } finally {
      cancelTimer?.();
    }
  }

  #asSeenByHandler(headers: IncomingHttpHeaders): HandledCall {
    const signal = (): AbortSignal => this.#signal();
    return {
      path: headers[':path'] ?? '',
      metadata: metadataOf(headers),
      requests: this.#requests,
      get signal() {
        return signal();
      },
    };
  }

  #signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#ended?.failure !== undefined) this.#abort.abort(this.#ended.failure);
    return this.#abort.signal;
  }

  #receive(chunk: Buffer): void {
    // The client still sends, and is told to stop: after the trailers, which a reset must not overtake.
    if (this.#trailersSent) this.#stream.close(constants.NGHTTP2_NO_ERROR);
    if (this.#ended !== undefined) return;
    try {
      for (const message of this.#decoder.push(chunk)) this.#requests.push(message);
    } catch (error) {
      this.#end(rpcErrorOf(error));
    }
  }

  async #send(message: Uint8Array): Promise<void> {
    const framed = frame(message, this.#options.maxSendBytes);
    if (!this.#stream.headersSent) this.#stream.respond(accepted, { waitForTrailers: true });
    if (!this.#stream.write(framed)) await drained(this.#stream);
  }

  #end(failure: RpcError | undefined): void {
    if (this.#ended !== undefined) return;
    const stream = this.#stream;
    this.#finish(failure);
    if (stream.destroyed || stream.closed) return;
    if (!stream.headersSent) return refuse(stream, accepted, failure ?? new RpcError('Internal', 'the handler answered no message'));
    stream.on('wantTrailers', () => {
      stream.sendTrailers(trailersOf(failure));
      this.#trailersSent = true;
    });
    stream.end();
    stream.resume();
  }

  /** A call that is over has no further request. A handler that still runs sees its signal aborted. */
  #finish(failure: RpcError | undefined): void {
    this.#ended = { failure };
    this.#requests.end(failure);
    if (failure !== undefined) this.#abort?.abort(failure);
  }
}
