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

/** A type as Go's messages name it, and its kind: 'v1.PodSpec' is a struct. */
export interface GoType {
  readonly go: string;
  readonly kind: 'struct' | 'slice' | 'map' | 'string' | 'bool' | 'int32' | 'int64' | 'uint8';
}

export interface DecodeMode {
  /** The order in which fields and keys are visited: that of printing, or that of the document, to report as Kubernetes does. */
  readonly order: 'print' | 'document';
  /** Whose words a misfit is described in: Go's JSON decoder's, or those of Kubernetes' converter, which strategic patches go through. */
  readonly words: 'json' | 'converter';
}

/** What decoding one document has found so far. */
export class DecodeState {
  readonly frames: Frame[] = [];
  /** Paths of unknown fields: 'spec.containers[0].foo'. */
  readonly unknown: string[] = [];
  /** The first value that did not fit; like Go, decoding goes on after it. */
  error: string | undefined;
  readonly mode: DecodeMode;

  constructor(mode: DecodeMode = { order: 'print', words: 'json' }) {
    this.mode = mode;
  }

  mismatch(value: unknown, type: GoType): void {
    this.error ??= this.describe(value, type);
  }

  /** For what no type says. */
  refuse(why: string): void {
    this.error ??= why;
  }

  describe(value: unknown, type: GoType): string {
    if (this.mode.words === 'converter') return converterText(value, type);
    const number = isInteger(type) && (typeof value === 'number' || value instanceof JsonNumber) ? ` ${numberText(value)}` : '';
    const found = jsonTypeOf(value) + number;
    const fields = this.frames.filter((frame): frame is FieldFrame => typeof frame === 'object');
    const last = fields.at(-1);
    if (last === undefined) return `json: cannot unmarshal ${found} into Go value of type ${type.go}`;
    const path = fields.flatMap((field) => [...field.embedded, field.name]).join('.');
    return `json: cannot unmarshal ${found} into Go struct field ${last.owner}.${path} of type ${type.go}`;
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

const isInteger = ({ kind }: GoType): boolean => kind === 'int32' || kind === 'int64' || kind === 'uint8';

function converterText(value: unknown, type: GoType): string {
  const found = goKindOf(value);
  switch (type.kind) {
    case 'struct':
      return `cannot restore struct from: ${found}`;
    case 'slice':
    case 'map':
      return `cannot restore ${type.kind} from ${found}`;
    default: {
      const convertible = (found === 'int64' && type.kind !== 'bool') || (found === 'float64' && isInteger(type));
      return convertible ? `cannot convert ${found} to ${type.go}` : `unrecognized type: ${type.kind}`;
    }
  }
}

function goKindOf(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'number' || value instanceof JsonNumber) return /^-?[0-9]+$/.test(numberText(value)) ? 'int64' : 'float64';
  return typeof value === 'object' ? 'map' : typeof value === 'boolean' ? 'bool' : typeof value;
}
