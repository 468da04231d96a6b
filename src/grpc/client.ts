import {
  create,
  type DescMessage,
  type DescMethod,
  type DescService,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import type { CallOptions, Channel } from './channel.ts';
import { RpcError, rpcErrorOf } from './status.ts';

/** One function for each method of a service: 'createVolume'. All failures are `RpcError`s. */
export type Client<Service extends DescService> = { readonly [Name in keyof Service['method']]: ClientMethod<Service['method'][Name]> };

type ClientMethod<Method extends DescMethod> = Method extends { readonly methodKind: 'unary' }
  ? (request: MessageInitShape<Method['input']>, options?: CallOptions) => Promise<MessageShape<Method['output']>>
  : Method extends { readonly methodKind: 'server_streaming' }
    ? (request: MessageInitShape<Method['input']>, options?: CallOptions) => AsyncIterable<MessageShape<Method['output']>>
    : (requests: AsyncIterable<MessageInitShape<Method['input']>>, options?: CallOptions) => AsyncIterable<MessageShape<Method['output']>>;

export function createClient<Service extends DescService>(service: Service, channel: Channel): Client<Service> {
  return Object.fromEntries(service.methods.map((method) => [method.localName, clientMethod(method, channel)])) as Client<Service>;
}

export const pathOf = (method: DescMethod): string => `/${method.parent.typeName}/${method.name}`;

type Init = MessageInitShape<DescMessage>;

/** Throws InvalidArgument for a value that does not fit its field. `what`: 'the request'. */
export function encodeMessage<Schema extends DescMessage>(schema: Schema, message: MessageInitShape<Schema>, what: string): Uint8Array {
  try {
    return toBinary<DescMessage>(schema, create<DescMessage>(schema, message));
  } catch (error) {
    throw new RpcError('InvalidArgument', `${what} is no ${schema.typeName}: ${rpcErrorOf(error).message}`);
  }
}

/** Throws Internal for bytes that are no such message. */
export function decodeMessage<Schema extends DescMessage>(schema: Schema, bytes: Uint8Array, what: string): MessageShape<Schema> {
  try {
    return fromBinary(schema, bytes);
  } catch (error) {
    throw new RpcError('Internal', `${what} is no ${schema.typeName}: ${rpcErrorOf(error).message}`);
  }
}

function clientMethod(method: DescMethod, channel: Channel): unknown {
  const path = pathOf(method);
  const encode = (request: Init): Uint8Array => encodeMessage(method.input, request, 'the request');
  const decode = (bytes: Uint8Array): unknown => decodeMessage(method.output, bytes, `the answer of ${path}`);
  if (method.methodKind === 'unary') return async (request: Init, options?: CallOptions) => decode(await channel.unary(path, encode(request), options));
  if (method.methodKind === 'server_streaming')
    return (request: Init, options?: CallOptions) => mapped(channel.stream(path, once(encode(request)), options), decode);
  return (requests: AsyncIterable<Init>, options?: CallOptions) => mapped(channel.stream(path, mapped(requests, encode), options), decode);
}

// oxlint-disable-next-line require-await
async function* once<T>(value: T): AsyncIterable<T> {
  yield value;
}

export async function* mapped<From, To>(values: AsyncIterable<From>, map: (value: From) => To): AsyncIterable<To> {
  for await (const value of values) yield map(value);
}
