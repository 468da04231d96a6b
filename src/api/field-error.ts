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
 * server busy for seconds. Kubernetes reports all of them.
 */
export const maxReportedErrors = 1_000;

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
  return error.detail === '' ? head : `${head}: ${error.detail}`;
}

function showValue(value: unknown): string {
  if (typeof value === 'string') return quoteGo(value);
  if (typeof value === 'bigint') return value.toString();
  // Go's encoder escapes what HTML would read as markup.
  return (JSON.stringify(value) ?? 'null').replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
}
