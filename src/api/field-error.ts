import { boundedJson, cutText } from './bounded-text.ts';
import { quoteGo } from './json.ts';

/** One thing that is wrong with one field; becomes a cause in a Status and a part of its message. */
export interface FieldError {
  readonly type: FieldErrorType;
  /** 'spec.ports[0].name' */
  readonly field: string;
  /** The offending value; shown for types that show it. */
  readonly value?: unknown;
  readonly detail: string;
}

/** The reason of a cause ('FieldValueRequired') and the words in a message ('Required value') follow from the type. */
export type FieldErrorType =
  | 'Required'
  | 'Invalid'
  | 'NotSupported'
  | 'Duplicate'
  | 'Forbidden'
  | 'TooLong'
  | 'TooMany'
  | 'NotFound'
  | 'TypeInvalid'
  | 'InternalError';

/**
 * So many errors are reported of one object, and of one map or list no more are looked for: three megabytes of nonsense would keep the
 * server busy for seconds for an answer too long to read. Kubernetes names all of them.
 */
export const maxReportedErrors = 1_000;

/** Characters of all of them together; of the rest only the number is said. */
const maxReportedCharacters = 64 * 1024;

/** The texts of the errors that are reported, each once, and of their causes. */
export function reportedErrors(all: readonly FieldError[]): { readonly texts: readonly string[]; readonly causes: readonly StatusCause[] } {
  const texts = new Set<string>();
  const causes: StatusCause[] = [];
  let characters = 0;
  for (const error of all.slice(0, maxReportedErrors)) {
    const message = causeMessage(error);
    const field = cutText(error.field, maxFieldLength);
    causes.push({ reason: causeReason(error), message, field });
    texts.add(`${field}: ${message}`);
    characters += field.length + message.length;
    if (characters > maxReportedCharacters && causes.length < all.length) {
      texts.add(`... and ${all.length - causes.length} more errors`);
      break;
    }
  }
  return { texts: [...texts], causes };
}

interface StatusCause {
  reason: string;
  message: string;
  field: string;
}

/** Of the path of a field; a path has the keys of maps in it, which clients choose. */
const maxFieldLength = 4 * 1024;

const reasons: Readonly<Record<FieldErrorType, string>> = {
  Required: 'FieldValueRequired',
  Invalid: 'FieldValueInvalid',
  NotSupported: 'FieldValueNotSupported',
  Duplicate: 'FieldValueDuplicate',
  Forbidden: 'FieldValueForbidden',
  TooLong: 'FieldValueTooLong',
  TooMany: 'FieldValueTooMany',
  NotFound: 'FieldValueNotFound',
  TypeInvalid: 'FieldValueTypeInvalid',
  InternalError: 'InternalError',
};

const words: Readonly<Record<FieldErrorType, string>> = {
  Required: 'Required value',
  Invalid: 'Invalid value',
  NotSupported: 'Unsupported value',
  Duplicate: 'Duplicate value',
  Forbidden: 'Forbidden',
  TooLong: 'Too long',
  TooMany: 'Too many',
  NotFound: 'Not found',
  TypeInvalid: 'Invalid value',
  InternalError: 'Internal error',
};

const withoutValue: ReadonlySet<FieldErrorType> = new Set(['Required', 'Forbidden', 'TooLong', 'InternalError']);

export const required = (field: string, detail = ''): FieldError => ({ type: 'Required', field, detail });
export const invalid = (field: string, value: unknown, detail: string): FieldError => ({ type: 'Invalid', field, value, detail });
export const forbidden = (field: string, detail: string): FieldError => ({ type: 'Forbidden', field, detail });
export const duplicate = (field: string, value: unknown): FieldError => ({ type: 'Duplicate', field, value, detail: '' });
export const tooLong = (field: string, maxLength: number): FieldError => ({ type: 'TooLong', field, detail: `may not be more than ${maxLength} bytes` });
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: 'NotSupported',
  field,
  value,
  detail:
    supported.length === 0
      ? ''
      : `supported values: ${[...supported]
          .sort()
          .map((s) => JSON.stringify(s))
          .join(', ')}`,
});

/** Like `notSupported`, for lists that Kubernetes shows in an order of its own. */
export const notOneOf = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: 'NotSupported',
  field,
  value,
  detail: supported.length === 0 ? '' : `supported values: ${supported.map((s) => JSON.stringify(s)).join(', ')}`,
});
export const notFound = (field: string, value: unknown, detail = ''): FieldError => ({ type: 'NotFound', field, value, detail });
export const tooMany = (field: string, actual: number, limit: number): FieldError => ({
  type: 'TooMany',
  field,
  value: actual,
  detail: `must have at most ${limit} item${limit === 1 ? '' : 's'}`,
});

/** As the value of an error: the message shows none. */
export const omittedValue: unique symbol = Symbol('omitted');

export const causeReason = (error: FieldError): string => reasons[error.type];

/** 'Invalid value: "x": must be y': a cause's message, and, behind the field, a part of the Status' message. */
export function causeMessage(error: FieldError): string {
  const head = withoutValue.has(error.type) || error.value === omittedValue ? words[error.type] : `${words[error.type]}: ${showValue(error.value)}`;
  return error.detail === '' ? head : `${head}: ${cutText(error.detail, maxShownValue)}`;
}

/** Of the value of one error. Kubernetes shows all of it. */
const maxShownValue = 16 * 1024;

function showValue(value: unknown): string {
  if (typeof value === 'string')
    return value.length > maxShownValue ? `${quoteGo(value.slice(0, maxShownValue))}... (${value.length - maxShownValue} more characters)` : quoteGo(value);
  if (typeof value === 'bigint') return value.toString();
  // Go's encoder escapes what HTML would read as markup.
  return boundedJson(value, maxShownValue).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
}
