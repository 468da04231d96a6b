import { ApiError } from '../api/status.ts';

/** The result of a request: failures that a controller has to expect are values, with a `reason`. */
export type Result<T> = { readonly ok: true; readonly value: T } | Failure;

export type Failure =
  | { readonly ok: false; readonly reason: FailureReason; readonly error: ApiError }
  /** No answer came: the request may or may not have had its effect. */
  | { readonly ok: false; readonly reason: 'unreachable'; readonly error: Error };

/**
 * - `conflict`: another client wrote the object meanwhile, or a precondition does not hold: read, decide again
 * - `deposed`: the write was fenced off: another leader took over
 * - `expired`: a resourceVersion or a page that the server no longer keeps
 * - `overloaded`: try again after `error.details.retryAfterSeconds`
 * - `terminating`: the namespace is being deleted; nothing can be created in it
 * - `failed`: every other refusal
 */
export type FailureReason =
  | 'notFound'
  | 'alreadyExists'
  | 'conflict'
  | 'deposed'
  | 'expired'
  | 'invalid'
  | 'forbidden'
  | 'unauthorized'
  | 'overloaded'
  | 'terminating'
  | 'failed';

export function failure(error: ApiError): Failure {
  return { ok: false, reason: reasonOf(error), error };
}

function reasonOf(error: ApiError): FailureReason {
  if (hasCause(error, 'LeaderDeposed')) return 'deposed';
  if (hasCause(error, 'NamespaceTerminating')) return 'terminating';
  switch (error.code) {
    case 401:
      return 'unauthorized';
    case 403:
      return 'forbidden';
    case 404:
      return 'notFound';
    case 409:
      return error.reason === 'AlreadyExists' ? 'alreadyExists' : 'conflict';
    case 410:
      return 'expired';
    case 422:
      return 'invalid';
    case 429:
      return 'overloaded';
    default:
      return 'failed';
  }
}

export function hasCause(error: ApiError, reason: string): boolean {
  return error.details?.causes?.some((cause) => cause.reason === reason) ?? false;
}
