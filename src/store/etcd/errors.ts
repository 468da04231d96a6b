/** etcd's failures as the store's (etcd-io/etcd: api/v3rpc/rpctypes/error.go). */
import { type ErrorCode, RpcError, rpcErrorOf } from '../../grpc/status.ts';
import { StoreError } from '../contract.ts';

/** With these answers the server says that nothing happened. All others of a write leave it open, as "etcdserver: request timed out" does. */
const refusals: readonly ErrorCode[] = [
  'InvalidArgument',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'OutOfRange',
  'Unimplemented',
  'Unauthenticated',
];

/** Of a call that changes nothing. */
export function readFailure(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const failure = rpcErrorOf(error);
  if (failure.code === 'OutOfRange' && failure.message.includes('compacted')) return wrapped('compacted', failure, failure.message);
  if (failure.code === 'OutOfRange' && failure.message.includes('future')) return wrapped('future', failure, failure.message);
  return wrapped('unavailable', failure, `etcd does not answer: ${explained(failure)}`);
}

/** Of a transaction. */
export function writeFailure(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const failure = rpcErrorOf(error);
  const { message } = failure;
  if (failure.isUnsent) return wrapped('unavailable', failure, `etcd cannot be reached: ${explained(failure)}`);
  if (!failure.isAnswer || !refusals.includes(failure.code))
    return wrapped('undecided', failure, `etcd got the transaction and did not answer: ${explained(failure)}`);
  if (message.includes('database space exceeded')) return wrapped('full', failure, noSpace(message));
  if (message.includes('too large') || message.includes('too many operations'))
    return wrapped('too-large', failure, `etcd refuses the transaction: ${message}`);
  return wrapped('unavailable', failure, `etcd refuses the transaction: ${explained(failure)}`);
}

export const noSpace = (message: string): string =>
  `etcd is out of space (${message}). Compact and defragment it (etcdctl compact, etcdctl defrag), or raise --quota-backend-bytes, then "etcdctl alarm disarm".`;

function explained({ code, message }: RpcError): string {
  const advice = advices.find(([words]) => words.test(message))?.[1];
  return advice === undefined ? `${message} (${code})` : `${message} (${code}). ${advice}`;
}

const refusedClient =
  'etcd does not accept this client: --etcd-certfile and --etcd-keyfile have to be a certificate of its client authority (--trusted-ca-file).';
const wrongScheme = 'The URL has to begin with https:// if etcd listens with TLS, with http:// if not.';

const advices: readonly (readonly [words: RegExp, advice: string])[] = [
  [
    /no leader|request timed out|leader changed/,
    'Most members of the etcd cluster have to run and reach each other: "etcdctl endpoint status --cluster" shows them.',
  ],
  [
    /self.signed|unable to (get|verify)|UNABLE_TO|certificate has expired|not yet valid|altnames|issuer/i,
    "The server's certificate is not accepted: --etcd-cafile has to be the authority that signed it, and its names have to include the host.",
  ],
  [/alert|bad certificate|certificate required|handshake|user name is empty|permission denied/i, refusedClient],
  // In TLS 1.3 etcd refuses a client after the client's handshake: one that sends first may see only that the connection is gone.
  [/reading server preface: .*(reset by peer|broken pipe)/, `${refusedClient} ${wrongScheme}`],
  [/wrong version number|EPROTO|reading server preface/, wrongScheme],
];

const wrapped = (code: StoreError['code'], cause: RpcError, message: string): StoreError => new StoreError(code, message, { cause });
