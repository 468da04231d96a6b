import { JsonNumber, jsonTypeOf } from '../json.ts';

/** A value that does not fit its type, in the words of Go's JSON decoder: `json: cannot unmarshal string into Go struct field …`. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DecodeError';
  }
}

/** Where in a document decoding is: a field of a struct, a key of a map, or an index of a list. */
export type Frame = FieldFrame | string | number;

export interface FieldFrame {
  /** The JSON name. */
  readonly name: string;
  /** The Go struct that is being decoded: 'PersistentVolumeSpec'. */
  readonly owner: string;
  /** The Go structs embedded in the owner on the way to the field: ['PersistentVolumeSource']. */
  readonly embedded: readonly string[];
}

/** What decoding one document has found so far. */
export class DecodeState {
  readonly frames: Frame[] = [];
  /** Paths of unknown fields: 'spec.containers[0].foo'. */
  readonly unknown: string[] = [];
  /** The first value that did not fit; like Go, decoding goes on after it. */
  error: string | undefined;
  /** The order in which fields and keys are visited: that of printing, or that of the document, to report as Kubernetes does. */
  readonly order: 'print' | 'document';

  constructor(order: 'print' | 'document' = 'print') {
    this.order = order;
  }

  mismatch(value: unknown, goType: string): void {
    this.error ??= this.mismatchText(jsonTypeOf(value), goType);
  }

  mismatchText(found: string, goType: string): string {
    const fields = this.frames.filter((frame): frame is FieldFrame => typeof frame === 'object');
    const last = fields.at(-1);
    if (last === undefined) return `json: cannot unmarshal ${found} into Go value of type ${goType}`;
    const path = fields.flatMap((field) => [...field.embedded, field.name]).join('.');
    return `json: cannot unmarshal ${found} into Go struct field ${last.owner}.${path} of type ${goType}`;
  }

  unknownField(key: string): void {
    const path = this.#path();
    this.unknown.push(path === '' ? key : `${path}.${key}`);
  }

  #path(): string {
    let path = '';
    for (const frame of this.frames) {
      if (typeof frame === 'number') path += `[${frame}]`;
      else {
        const name = typeof frame === 'string' ? frame : frame.name;
        path += path === '' ? name : `.${name}`;
      }
    }
    return path;
  }
}

export function numberText(value: number | JsonNumber): string {
  return value instanceof JsonNumber ? value.text : String(value);
}
