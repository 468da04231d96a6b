import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import { FrameDecoder } from './frames.ts';
import { failureOfHead, failureOfReset, failureOfTrailers } from './http2-status.ts';
import { RpcError, rpcErrorOf } from './status.ts';

export interface ClientCallOptions {
  readonly stream: ClientHttp2Stream;
  readonly maxMessageBytes: number;
  readonly onMessage: (message: Uint8Array) => void;
  /** Once, after the last message. */
  readonly onEnd: (failure: RpcError | undefined) => void;
  /** Why the connection ended; undefined: it did not. */
  readonly connectionFailure: () => RpcError | undefined;
}

/** The client's side of one HTTP/2 stream: from frames to messages, and how it ended. */
export class ClientCall {
  readonly #options: ClientCallOptions;
  readonly #decoder: FrameDecoder;
  #head: IncomingHttpHeaders | undefined;
  #trailers: IncomingHttpHeaders | undefined;
  #allDataRead = false;
  #ended = false;

  constructor(options: ClientCallOptions) {
    this.#options = options;
    this.#decoder = new FrameDecoder(options.maxMessageBytes, 'Internal');
    const { stream } = options;
    stream.on('response', (headers) => {
      this.#head = headers;
      const failure = failureOfHead(headers);
      if (failure !== undefined) this.fail(failure);
      else this.#endIfComplete();
    });
    stream.on('trailers', (headers) => {
      this.#trailers = headers;
      this.#endIfComplete();
    });
    stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    stream.on('end', () => {
      this.#allDataRead = true;
      this.#endIfComplete();
    });
    // 'close' follows, and has the reason.
    stream.on('error', () => undefined);
    stream.on('close', () => {
      if (!this.#ended) this.#end(this.#finalFailure());
    });
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Ends the call from this side. */
  fail(failure: RpcError): void {
    if (this.#ended) return;
    this.#end(failure);
    this.#options.stream.close(constants.NGHTTP2_CANCEL);
    this.#options.stream.resume();
  }

  #receive(chunk: Buffer): void {
    if (this.#ended) return;
    try {
      for (const message of this.#decoder.push(chunk)) this.#options.onMessage(message);
    } catch (error) {
      this.fail(rpcErrorOf(error));
    }
  }

  /** The answer is complete with its trailers: no need to wait until the stream is closed in both directions. */
  #endIfComplete(): void {
    if (this.#ended || !this.#allDataRead || this.#status === undefined) return;
    this.#end(this.#finalFailure());
    const { stream } = this.#options;
    // The server takes no further request: what is still to be sent is not.
    if (!stream.writableEnded) stream.close(constants.NGHTTP2_CANCEL);
  }

  /** A failure without messages may have the trailers in its only headers. */
  get #status(): IncomingHttpHeaders | undefined {
    if (this.#trailers !== undefined) return this.#trailers;
    return this.#head?.['grpc-status'] === undefined ? undefined : this.#head;
  }

  #finalFailure(): RpcError | undefined {
    const status = this.#status;
    if (status?.['grpc-status'] !== undefined) {
      const failure = failureOfTrailers(status);
      if (failure === undefined && !this.#decoder.isEmpty) return new RpcError('Internal', 'the stream ended in the middle of a message');
      return failure;
    }
    const { stream, connectionFailure } = this.#options;
    const lost = connectionFailure();
    if (lost !== undefined) return lost;
    const { rstCode } = stream;
    if (rstCode === constants.NGHTTP2_NO_ERROR) return new RpcError('Internal', 'server closed the stream without sending trailers');
    return failureOfReset(rstCode);
  }

  #end(failure: RpcError | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.onEnd(failure);
  }
}
