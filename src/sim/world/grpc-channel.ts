import type { CallHandler, CallOptions, Channel } from '../../grpc/channel.ts';
import { HandlerMap } from '../../grpc/handler-map.ts';
import { RpcError, rpcErrorOf } from '../../grpc/status.ts';
import type { SimulatedNetwork } from './network.ts';

/** A gRPC server in the simulated network. While it is down, and of calls that were in flight, its clients see Unavailable. */
export class SimulatedGrpcServer {
  readonly #handlers: HandlerMap;
  readonly #calls = new Set<(failure: RpcError) => void>();
  #running = true;

  constructor(...handlers: readonly ReadonlyMap<string, CallHandler>[]) {
    this.#handlers = new HandlerMap(handlers);
  }

  /** Handlers that run see their signal aborted. Their further effects are those of their own simulated process. */
  crash(): void {
    this.#running = false;
    this.cutConnections();
  }

  start(): void {
    this.#running = true;
  }

  cutConnections(): void {
    for (const cut of this.#calls) cut(connectionLost());
  }

  /** Throws Unavailable while the server is down. `cut` ends the call from the server's side. */
  accept(path: string, cut: (failure: RpcError) => void): { readonly handler: CallHandler; readonly leave: () => void } {
    if (!this.#running) throw refusedConnection();
    const handler = this.#handlers.handlerOf(path);
    if (handler instanceof RpcError) throw asAnswer(handler);
    this.#calls.add(cut);
    return { handler, leave: () => void this.#calls.delete(cut) };
  }
}

/**
 * A `Channel` to a `SimulatedGrpcServer`, on virtual time: the network delays each message, loses requests before and answers after their
 * effect, and cuts streams. A lost message is a cut connection, as with TCP: the caller sees Unavailable.
 */
export class SimulatedChannel implements Channel {
  readonly #server: SimulatedGrpcServer;
  readonly #network: SimulatedNetwork;
  readonly #calls = new Set<(failure: RpcError) => void>();
  #closed = false;

  constructor(server: SimulatedGrpcServer, network: SimulatedNetwork) {
    this.#server = server;
    this.#network = network;
  }

  async unary(path: string, request: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    const answers: Uint8Array[] = [];
    for await (const answer of this.#call(path, once(request), options)) answers.push(answer);
    const [answer] = answers;
    if (answer === undefined || answers.length > 1) throw new RpcError('Internal', `cardinality violation: ${path} answered ${answers.length} messages`);
    return answer;
  }

  stream(path: string, requests: AsyncIterable<Uint8Array>, options: CallOptions = {}): AsyncIterable<Uint8Array> {
    return this.#call(path, requests, options);
  }

  close(): void {
    this.#closed = true;
    for (const end of this.#calls) end(closing());
  }

  async *#call(path: string, requests: AsyncIterable<Uint8Array>, { metadata = {}, timeoutMs, signal }: CallOptions): AsyncGenerator<Uint8Array> {
    const serverSide = new AbortController();
    let end = (failure: RpcError): void => serverSide.abort(failure);
    const ended = new Promise<never>((_, reject) => {
      end = (failure) => {
        reject(failure);
        serverSide.abort(failure);
      };
    });
    ended.catch(() => undefined);
    const unlessEnded = <T>(task: Promise<T>): Promise<T> => Promise.race([ended, task]);
    const delay = (): Promise<void> => unlessEnded(this.#network.world.sleep(this.#network.delay()));
    const abort = (): void => end(new RpcError('Canceled', 'context canceled'));
    const { timers } = this.#network.world;
    const cancelTimer = timeoutMs === undefined ? undefined : timers.after(timeoutMs, () => end(new RpcError('DeadlineExceeded', 'context deadline exceeded')));
    if (this.#closed) end(closing());
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort);
    this.#calls.add(end);
    let leave = (): void => undefined;
    let answers: AsyncIterator<Uint8Array> | undefined;
    try {
      await delay();
      if (this.#network.losesRequest()) throw connectionLost();
      const accepted = this.#server.accept(path, end);
      leave = accepted.leave;
      answers = accepted.handler({ path, metadata, requests: carried(requests, delay), signal: serverSide.signal })[Symbol.asyncIterator]();
      const source = answers;
      const nextAnswer = (): Promise<IteratorResult<Uint8Array>> => unlessEnded(source.next().catch((error: unknown) => Promise.reject(asAnswer(error))));
      for (let next = await nextAnswer(); next.done !== true; next = await nextAnswer()) {
        await delay();
        if (this.#network.cuts()) throw connectionLost();
        yield next.value.slice();
      }
      if (this.#network.losesAnswer()) throw connectionLost();
    } catch (error) {
      end(rpcErrorOf(error));
      throw rpcErrorOf(error);
    } finally {
      // The reader may have left its loop: the server sees that.
      serverSide.abort(READER_LEFT);
      void answers?.return?.().catch(() => undefined);
      cancelTimer?.();
      signal?.removeEventListener('abort', abort);
      this.#calls.delete(end);
      leave();
    }
  }
}

/** Shared: an abort without a reason makes an exception with a stack for each call. */
const READER_LEFT = new RpcError('Canceled', 'context canceled');

/** A handler's failure is the server's answer. */
function asAnswer(error: unknown): RpcError {
  const { code, message } = rpcErrorOf(error);
  return new RpcError(code, message, { isAnswer: true });
}

const refusedConnection = (): RpcError =>
  new RpcError('Unavailable', 'connection error: desc = "transport: Error while dialing: connect: connection refused"', { isUnsent: true });
const connectionLost = (): RpcError => new RpcError('Unavailable', 'error reading from server: EOF');
const closing = (): RpcError => new RpcError('Canceled', 'grpc: the client connection is closing');

// oxlint-disable-next-line require-await
async function* once(request: Uint8Array): AsyncIterable<Uint8Array> {
  yield request;
}

async function* carried(requests: AsyncIterable<Uint8Array>, delay: () => Promise<void>): AsyncIterable<Uint8Array> {
  for await (const request of requests) {
    await delay();
    yield request.slice();
  }
}
