/** gRPC's status codes, by number. */
export const codes = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const;

export type Code = (typeof codes)[number];
export type ErrorCode = Exclude<Code, 'OK'>;

export const numberOf = (code: Code): number => codes.indexOf(code);

/** What a call fails with, on both sides. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: ErrorCode;
  /** Whether the server answered with this status. If not, the call may have had its effect. */
  readonly isAnswer: boolean;
  /** The server never got the call: no connection was made. */
  readonly isUnsent: boolean;

  constructor(code: ErrorCode, message: string, { isAnswer = false, isUnsent = false }: { readonly isAnswer?: boolean; readonly isUnsent?: boolean } = {}) {
    super(message);
    this.code = code;
    this.isAnswer = isAnswer;
    this.isUnsent = isUnsent;
  }
}

/** A number that gRPC does not define is Unknown. */
export function errorCodeOf(number: number): ErrorCode {
  const code = codes[number] ?? 'Unknown';
  return code === 'OK' ? 'Unknown' : code;
}

/** Any error as a call's failure. */
export function rpcErrorOf(error: unknown): RpcError {
  return error instanceof RpcError ? error : new RpcError('Unknown', error instanceof Error ? error.message : String(error));
}
