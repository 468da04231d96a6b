/** How HTTP/2 says that a call failed, as gRPC's codes and in Go's words (internal/transport/http_util.go). */
import { STATUS_CODES } from 'node:http';
import { constants, type IncomingHttpHeaders } from 'node:http2';
import { getSystemErrorMap } from 'node:util';
import { type Address, addressText } from './address.ts';
import { percentDecoded } from './percent-encoding.ts';
import { codes, type ErrorCode, errorCodeOf, RpcError } from './status.ts';

const codeOfHttpStatus: Readonly<Record<number, ErrorCode>> = {
  400: 'Internal',
  401: 'Unauthenticated',
  403: 'PermissionDenied',
  404: 'Unimplemented',
  429: 'Unavailable',
  502: 'Unavailable',
  503: 'Unavailable',
  504: 'Unavailable',
};

export const isGrpcContentType = (value: string | undefined): boolean => /^application\/grpc(\+proto)?\s*(;|$)/i.test(value ?? '');

/** The failure of an answer that is none of gRPC; undefined: it is one. */
export function failureOfHead(head: IncomingHttpHeaders): RpcError | undefined {
  const status = Number(head[':status']);
  const contentType = head['content-type'];
  if (status === 200 && isGrpcContentType(contentType)) return undefined;
  const problems = [`unexpected HTTP status code received from server: ${status} (${STATUS_CODES[status] ?? ''})`];
  if (contentType === undefined) problems.push('transport: missing content-type field');
  else if (!isGrpcContentType(contentType)) problems.push(`transport: received unexpected content-type ${JSON.stringify(contentType)}`);
  return new RpcError(codeOfHttpStatus[status] ?? 'Unknown', problems.join('; '));
}

/** The failure in the trailers; undefined: OK. */
export function failureOfTrailers(trailers: IncomingHttpHeaders): RpcError | undefined {
  const status = String(trailers['grpc-status']);
  if (status === '0') return undefined;
  if (!/^\d{1,3}$/.test(status)) return new RpcError('Unknown', `transport: malformed grpc-status: ${JSON.stringify(status)}`);
  const message = trailers['grpc-message'];
  const known = codes[Number(status)] ?? `code ${status}`;
  return new RpcError(errorCodeOf(Number(status)), typeof message === 'string' ? percentDecoded(message) : known, { isAnswer: true });
}

const codeOfReset: Readonly<Record<number, readonly [name: string, code: ErrorCode]>> = {
  [constants.NGHTTP2_NO_ERROR]: ['NO_ERROR', 'Internal'],
  [constants.NGHTTP2_PROTOCOL_ERROR]: ['PROTOCOL_ERROR', 'Internal'],
  [constants.NGHTTP2_INTERNAL_ERROR]: ['INTERNAL_ERROR', 'Internal'],
  [constants.NGHTTP2_FLOW_CONTROL_ERROR]: ['FLOW_CONTROL_ERROR', 'Internal'],
  [constants.NGHTTP2_SETTINGS_TIMEOUT]: ['SETTINGS_TIMEOUT', 'Internal'],
  [constants.NGHTTP2_STREAM_CLOSED]: ['STREAM_CLOSED', 'Internal'],
  [constants.NGHTTP2_FRAME_SIZE_ERROR]: ['FRAME_SIZE_ERROR', 'Internal'],
  [constants.NGHTTP2_REFUSED_STREAM]: ['REFUSED_STREAM', 'Unavailable'],
  [constants.NGHTTP2_CANCEL]: ['CANCEL', 'Canceled'],
  [constants.NGHTTP2_COMPRESSION_ERROR]: ['COMPRESSION_ERROR', 'Internal'],
  [constants.NGHTTP2_CONNECT_ERROR]: ['CONNECT_ERROR', 'Internal'],
  [constants.NGHTTP2_ENHANCE_YOUR_CALM]: ['ENHANCE_YOUR_CALM', 'ResourceExhausted'],
  [constants.NGHTTP2_INADEQUATE_SECURITY]: ['INADEQUATE_SECURITY', 'PermissionDenied'],
  [constants.NGHTTP2_HTTP_1_1_REQUIRED]: ['HTTP_1_1_REQUIRED', 'Internal'],
};

/** Of a stream that the peer reset. */
export function failureOfReset(code: number): RpcError {
  const [name, grpcCode] = codeOfReset[code] ?? [`0x${code.toString(16)}`, 'Unknown'];
  return new RpcError(grpcCode, `stream terminated by RST_STREAM with error code: ${name}`);
}

/** Of a connection that ended. `connected`: the server had spoken HTTP/2. */
export function failureOfConnection(
  address: Address,
  { connected, error }: { readonly connected: boolean; readonly error: SystemError | undefined },
): RpcError {
  const text = error === undefined ? 'EOF' : errorText(error);
  if (connected) return new RpcError('Unavailable', `error reading from server: ${text}`);
  const dials = error instanceof AggregateError || error?.syscall === 'connect' || error?.syscall === 'getaddrinfo';
  const problem = dials ? `transport: Error while dialing: dial ${addressText(address)}` : 'error reading server preface';
  return new RpcError('Unavailable', `connection error: desc = "${problem}: ${text}"`, { isUnsent: dials });
}

type SystemError = Error & { readonly errno?: number; readonly code?: string; readonly syscall?: string };

/** Where libuv's text differs from Go's. */
const goTexts: Readonly<Record<string, string>> = { EHOSTUNREACH: 'no route to host', ECONNRESET: 'connection reset by peer' };

function errorText(error: SystemError): string {
  // Of several addresses of one name, Node tries all.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return errorText(error.errors[0]);
  const { errno, code = '', syscall } = error;
  const text = goTexts[code] ?? (errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1]);
  if (text === undefined) return error.message;
  return syscall === undefined ? text : `${syscall}: ${text}`;
}
