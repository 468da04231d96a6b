/** The transport of @grpc/grpc-js behind Mooring's own interfaces, so that one table of tests holds both to the same behaviour. */
import { Client, credentials, Metadata as JsMetadata, Server, ServerCredentials, type ServerDuplexStream, type ServiceError } from '@grpc/grpc-js';
import type { CallHandler, CallOptions, Channel, Metadata } from '../../src/grpc/channel.ts';
import { errorCodeOf, numberOf, RpcError, rpcErrorOf } from '../../src/grpc/status.ts';

const encode = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
const decode = (bytes: Buffer): Uint8Array => bytes;
const jsAddress = (address: string): string => address.replace('unix://', 'unix:');

export class GrpcJsChannel implements Channel {
  readonly #client: Client;

  constructor(address: string, security = credentials.createInsecure()) {
    this.#client = new Client(jsAddress(address), security);
  }

  unary(path: string, request: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const call = this.#client.makeUnaryRequest(path, encode, decode, request, jsMetadata(options.metadata), deadlineOf(options), (error, answer) => {
        if (error !== null) reject(errorOf(error));
        else resolve(answer ?? new Uint8Array());
      });
      options.signal?.addEventListener('abort', () => call.cancel());
    });
  }

  async *stream(path: string, requests: AsyncIterable<Uint8Array>, options: CallOptions = {}): AsyncIterable<Uint8Array> {
    const call = this.#client.makeBidiStreamRequest(path, encode, decode, jsMetadata(options.metadata), deadlineOf(options));
    options.signal?.addEventListener('abort', () => call.cancel());
    const send = async (): Promise<void> => {
      for await (const request of requests) if (!call.write(request)) await new Promise((resolve) => void call.once('drain', resolve));
      call.end();
    };
    void send();
    try {
      for await (const answer of call) yield answer as Uint8Array;
    } catch (error) {
      throw errorOf(error as ServiceError);
    } finally {
      call.cancel();
    }
  }

  close(): void {
    this.#client.close();
  }
}

export async function serveWithGrpcJs(
  address: string,
  handlers: ReadonlyMap<string, CallHandler>,
  security = ServerCredentials.createInsecure(),
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = new Server();
  for (const [path, handler] of handlers)
    server.register(path, (call: ServerDuplexStream<Uint8Array, Uint8Array>) => void answer(call, path, handler), encode, decode, 'bidi');
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(jsAddress(address), security, (error, bound) => (error === null ? resolve(bound) : reject(error)));
  });
  return { port, close: () => Promise.resolve(server.forceShutdown()) };
}

async function answer(call: ServerDuplexStream<Uint8Array, Uint8Array>, path: string, handler: CallHandler): Promise<void> {
  const abort = new AbortController();
  call.setMaxListeners(0);
  call.on('cancelled', () => abort.abort());
  call.on('error', () => abort.abort());
  const metadata = Object.fromEntries(Object.entries(call.metadata.getMap()).map(([name, value]) => [name, String(value)]));
  try {
    for await (const message of handler({ path, metadata, requests: call.iterator({ destroyOnReturn: false }), signal: abort.signal }))
      if (!call.write(message)) await new Promise((resolve) => void call.once('drain', resolve).once('cancelled', resolve));
    call.end();
  } catch (error) {
    const { code, message } = rpcErrorOf(error);
    call.emit('error', { code: numberOf(code), details: message });
  }
}

const errorOf = (error: ServiceError): RpcError => new RpcError(errorCodeOf(error.code), error.details);
const deadlineOf = ({ timeoutMs }: CallOptions): { deadline?: Date } => (timeoutMs === undefined ? {} : { deadline: new Date(Date.now() + timeoutMs) });

function jsMetadata(metadata: Metadata = {}): JsMetadata {
  const converted = new JsMetadata();
  for (const [name, value] of Object.entries(metadata)) converted.set(name, value);
  return converted;
}
