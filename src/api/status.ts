import { cutText } from './bounded-text.ts';
import { type FieldError, maxReportedErrors, reportedErrors } from './field-error.ts';
import { type Kind, qualifiedResource } from './kind.ts';

/** The answer to a request that failed, and to a few that did not (delete). */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code: number;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/** A request's failure, ready for the wire. The table of all of them is `statusErrors`; docs/errors.md lists it. */
export class ApiError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;
  /** What the client should know beside: texts for the Warning header. */
  warnings: readonly string[] = [];
  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(cutText(message, maxMessage));
    this.name = 'ApiError';
    this.code = code;
    this.reason = reason;
    this.details = details === undefined ? undefined : boundedDetails(details);
  }
  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

/** Characters of a message, of a name and of a cause, whatever a client sent. */
const maxMessage = 128 * 1024;
const maxDetail = 20 * 1024;
const maxNameInMessage = 1024;

function boundedDetails(details: StatusDetails): StatusDetails {
  const { name, causes } = details;
  return {
    ...details,
    ...(name === undefined ? {} : { name: cutText(name, maxDetail) }),
    ...(causes === undefined ? {} : { causes: boundedCauses(causes) }),
  };
}

function boundedCauses(causes: readonly StatusCause[]): StatusCause[] {
  const kept: StatusCause[] = [];
  let characters = 0;
  for (const cause of causes) {
    const { message = '', field = '' } = cause;
    if (characters > maxMessage || kept.length >= maxReportedErrors) break;
    characters += message.length + field.length;
    kept.push(
      message.length <= maxDetail && field.length <= maxDetail ? cause : { ...cause, message: cutText(message, maxDetail), field: cutText(field, maxDetail) },
    );
  }
  return kept;
}

/** A page of a list that can no longer be consistent with those before it; `token` continues it at the current revision. */
export class ExpiredListError extends ApiError {
  readonly token: string;
  constructor(token: string) {
    super(
      410,
      'Expired',
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    );
    this.token = token;
  }
  override toStatus(): Status {
    return { ...super.toStatus(), metadata: { continue: this.token } };
  }
}

type Resource = Pick<Kind, 'group' | 'plural' | 'kind'>;

const detailsOf = (resource: Resource, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(resource.group === '' ? {} : { group: resource.group }),
  kind: resource.plural,
});

/** Every failure that the API can answer, by Kubernetes' codes, reasons and words. */
export const statusErrors = {
  badRequest: (message: string) => new ApiError(400, 'BadRequest', message),
  unauthorized: (message = 'Unauthorized') => new ApiError(401, 'Unauthorized', message),
  forbidden: (resource: Resource, name: string, why: string) =>
    new ApiError(
      403,
      'Forbidden',
      name === '' ? `${qualifiedResource(resource)} is forbidden: ${why}` : `${qualifiedResource(resource)} "${name}" is forbidden: ${why}`,
      detailsOf(resource, name),
    ),
  notFound: (resource: Resource, name: string) =>
    new ApiError(404, 'NotFound', `${qualifiedResource(resource)} "${name}" not found`, detailsOf(resource, name)),
  /** No such path. */
  noSuchPath: () => new ApiError(404, 'NotFound', 'the server could not find the requested resource', {}),
  methodNotAllowed: (resource: Resource, verb: string) =>
    new ApiError(405, 'MethodNotAllowed', `${verb} is not supported on resources of kind "${qualifiedResource(resource)}"`, detailsOf(resource, '')),
  /** A path that exists, asked in a way that it does not answer. */
  methodNotAllowedHere: () => new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {}),
  notAcceptable: (accepted: readonly string[]) => new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`),
  alreadyExists: (resource: Resource, name: string) =>
    new ApiError(409, 'AlreadyExists', `${qualifiedResource(resource)} "${name}" already exists`, detailsOf(resource, name)),
  conflict: (resource: Resource, name: string, why: string) =>
    new ApiError(409, 'Conflict', `Operation cannot be fulfilled on ${qualifiedResource(resource)} "${name}": ${why}`, detailsOf(resource, name)),
  /** A resourceVersion, or a page, that is no longer kept. */
  expired: (message: string) => new ApiError(410, 'Expired', message),
  writeTooLarge: (message: string) => new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`),
  tooLarge: (limit: number) => new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`),
  unsupportedMediaType: (accepted: readonly string[]) =>
    new ApiError(415, 'UnsupportedMediaType', `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`),
  invalid: (kind: Pick<Kind, 'group' | 'kind'>, name: string, all: readonly FieldError[]) => {
    // A check that ran twice shows as two causes, but is said once.
    const { texts, causes } = reportedErrors(all);
    const list = texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
    const qualified = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
    // The name comes first: a long one would leave no room for what is wrong.
    return new ApiError(422, 'Invalid', `${qualified} "${cutText(name, maxNameInMessage)}" is invalid: ${list}`, {
      ...(name === '' ? {} : { name }),
      ...(kind.group === '' ? {} : { group: kind.group }),
      kind: kind.kind,
      causes: [...causes],
    });
  },
  tooManyRequests: (message: string, retryAfterSeconds: number) => new ApiError(429, 'TooManyRequests', message, { retryAfterSeconds }),
  internal: (message: string) => new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] }),
  serviceUnavailable: (message: string) => new ApiError(503, 'ServiceUnavailable', message),
  /** Part of Kubernetes' API that this server does not have (yet). */
  notImplemented: (message: string) => new ApiError(501, 'NotImplemented', message),
  /** A revision that this server has not seen. */
  resourceVersionTooLarge: (asked: number, current: number) =>
    new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    }),
  timeout: (message: string) => new ApiError(504, 'Timeout', message),
} as const;
