import type { DescMethod, DescService, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { CallHandler, ServerCall } from './channel.ts';
import { decodeMessage, encodeMessage, mapped, pathOf } from './client.ts';
import { RpcError, rpcErrorOf } from './status.ts';

/** The methods of a service as functions. A method that is absent answers Unimplemented. To throw an `RpcError` is to answer with its code. */
export type Implementation<Service extends DescService> = { readonly [Name in keyof Service['method']]?: Method<Service['method'][Name]> };

type Method<M extends DescMethod> = M extends { readonly methodKind: 'unary' }
  ? (request: MessageShape<M['input']>, call: ServerCall) => Promise<MessageInitShape<M['output']>>
  : M extends { readonly methodKind: 'server_streaming' }
    ? (request: MessageShape<M['input']>, call: ServerCall) => AsyncIterable<MessageInitShape<M['output']>>
    : (requests: AsyncIterable<MessageShape<M['input']>>, call: ServerCall) => AsyncIterable<MessageInitShape<M['output']>>;

/** The handlers of a service's methods, by path. */
export function handlersOf<Service extends DescService>(service: Service, implementation: Implementation<Service>): ReadonlyMap<string, CallHandler> {
  return new Map(
    service.methods.flatMap((method) => {
      const implemented = implementation[method.localName as keyof Implementation<Service>];
      return implemented === undefined ? [] : [[pathOf(method), handlerOf(method, implemented as AnyMethod)]];
    }),
  );
}

type Init = MessageInitShape<DescMethod['output']>;
type AnyMethod = (requests: unknown, call: ServerCall) => Promise<Init> | AsyncIterable<Init>;

function handlerOf(method: DescMethod, implemented: AnyMethod): CallHandler {
  const encode = (answer: Init): Uint8Array => encodeAnswer(method, answer);
  const decode = (bytes: Uint8Array): unknown => decodeMessage(method.input, bytes, 'the request');
  return async function* handle(call) {
    const takesMany = method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming';
    const answer = implemented(takesMany ? mapped(call.requests, decode) : decode(await only(call.requests)), call);
    if (Symbol.asyncIterator in answer) yield* mapped(answer, encode);
    else yield encode(await answer);
  };
}

/** What the handler answers is its own fault, not the client's. */
function encodeAnswer(method: DescMethod, answer: Init): Uint8Array {
  try {
    return encodeMessage(method.output, answer, 'the answer');
  } catch (error) {
    throw new RpcError('Internal', rpcErrorOf(error).message);
  }
}

async function only(requests: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  for await (const request of requests) return request;
  throw new RpcError('Internal', 'the call has no request');
}
