/** Headers of a call; names in lower case. */
export type Metadata = Readonly<Record<string, string>>;

export interface CallOptions {
  readonly metadata?: Metadata;
  /** The call fails with DeadlineExceeded after this time. Undefined: it may take for ever. */
  readonly timeoutMs?: number;
  /** The call fails with Canceled. */
  readonly signal?: AbortSignal;
}

/**
 * A connection to a gRPC server, which carries encoded messages. `http2-channel.ts` has the real one on node:http2, `sim/` one in the simulated
 * network: both carry the same bytes. It connects with its first call, and again after the connection ended. All failures are `RpcError`s.
 */
export interface Channel {
  /** `path`: '/csi.v1.Controller/CreateVolume'. */
  unary(path: string, request: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
  /** Streams in both directions. To leave the loop over the answers cancels the call. */
  stream(path: string, requests: AsyncIterable<Uint8Array>, options?: CallOptions): AsyncIterable<Uint8Array>;
  /** Calls in flight fail with Canceled. */
  close(): void;
}

/** The server's side of one call. */
export interface ServerCall {
  readonly path: string;
  readonly metadata: Metadata;
  readonly requests: AsyncIterable<Uint8Array>;
  /** Aborted when the client cancels, disconnects, or its deadline has passed. */
  readonly signal: AbortSignal;
}

/** Answers one call with any number of messages, or throws an `RpcError`. */
export type CallHandler = (call: ServerCall) => AsyncIterable<Uint8Array>;
