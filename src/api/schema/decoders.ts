import { int32, int64, type IntegerRange, readInteger } from '../integers.ts';
import { isJsonObject, JsonNumber, setOwn } from '../json.ts';
import { decodeBase64 } from './base64.ts';
import { DecodeError, DecodeState, type FieldFrame, type GoType, numberText } from './decode-state.ts';
import { canonicalQuantityCached } from './quantity-cache.ts';
import { normalizeTime } from './time.ts';
import { type FieldSchema, type Scalar, type TypeExpression, typeSchema } from './type-schema.ts';

/** Decodes a value that is not null. Undefined: it did not fit, or it is a list or map without content, which is as good as none. */
export type Decoder = (value: unknown, state: DecodeState) => unknown;

type Target = TypeExpression | { readonly type: 'struct'; readonly name: string };

export function decoderOf(target: Target): Decoder {
  switch (target.type) {
    case 'struct':
      return structDecoder(target.name);
    case 'list':
      return listDecoder(target.go, target.of);
    case 'map':
      return mapDecoder(target.go, target.of);
    default:
      return scalarDecoders[target.type](target.go);
  }
}

interface CompiledField extends FieldFrame {
  readonly decode: Decoder;
  /** Printed whatever its value. */
  readonly always: boolean;
  /** Left out if it is zero: an omitempty scalar that is no pointer, an omitzero time. */
  readonly dropZero: boolean;
  /** What is printed where there is nothing. */
  readonly zero: () => unknown;
}

/** One decoder per struct, compiled when its first value arrives: types refer to each other in circles. */
const structDecoders = new Map<string, Decoder>();

function structDecoder(name: string): Decoder {
  const known = structDecoders.get(name);
  if (known !== undefined) return known;
  let fields: readonly CompiledField[] | undefined;
  const decoder: Decoder = (value, state) => {
    fields ??= compileFields(name);
    if (isJsonObject(value) && !(value instanceof JsonNumber))
      return state.mode.order === 'print' ? decodeStruct(value, fields, state) : visitStruct(value, fields, state);
    state.mismatch(value, { go: `v1.${typeSchema(name).goName}`, kind: 'struct' });
    return undefined;
  };
  structDecoders.set(name, decoder);
  return decoder;
}

function decodeStruct(value: Record<string, unknown>, fields: readonly CompiledField[], state: DecodeState): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  let known = 0;
  for (const field of fields) {
    const given = value[field.name];
    if (given === undefined || given === null) {
      if (given === null) known++;
      if (field.always) result[field.name] = field.zero();
      continue;
    }
    known++;
    state.frames.push(field);
    const decoded = field.decode(given, state);
    state.frames.pop();
    if (decoded === undefined) {
      if (field.always) result[field.name] = field.zero();
    } else if (!field.dropZero || (decoded !== '' && decoded !== 0 && decoded !== false && decoded !== null)) result[field.name] = decoded;
  }
  for (const _ in value) known--;
  if (known !== 0) reportUnknown(value, fields, state);
  return result;
}

function reportUnknown(value: Record<string, unknown>, fields: readonly CompiledField[], state: DecodeState): void {
  for (const key of Object.keys(value)) if (!fields.some((field) => field.name === key)) state.unknownField(key);
}

/** Only for what there is to report. */
function visitStruct(value: Record<string, unknown>, fields: readonly CompiledField[], state: DecodeState): Record<string, unknown> {
  for (const [key, given] of Object.entries(value)) {
    const field = fields.find(({ name }) => name === key);
    if (field === undefined) state.unknownField(key);
    else if (given !== null && given !== undefined) {
      state.frames.push(field);
      field.decode(given, state);
      state.frames.pop();
    }
  }
  return {};
}

function compileFields(name: string): CompiledField[] {
  const schema = typeSchema(name);
  const compiled: CompiledField[] = [];
  const add = (field: FieldSchema, embedded: readonly string[]): void => {
    if (field.inline && field.type.type === 'struct') {
      const inner = typeSchema(field.type.name);
      for (const member of inner.fields) add(member, [...embedded, inner.goName]);
    } else compiled.push(compileField(field, { name: field.name, owner: schema.goName, embedded }));
  };
  for (const field of schema.fields) add(field, []);
  return compiled;
}

function compileField(field: FieldSchema, frame: FieldFrame): CompiledField {
  const { type, omitEmpty, omitZero } = field;
  const byValue = !type.pointer;
  return {
    ...frame,
    decode: decoderOf(type),
    always: !omitZero && (!omitEmpty || (byValue && isGoStruct(type))),
    dropZero: byValue && (omitZero || (omitEmpty && !isGoStruct(type))),
    zero: isListOfKind(field, frame) ? () => [] : zeroOf(type),
  };
}

/** The items of a PodList: an empty list prints as [], not as null. */
function isListOfKind(field: FieldSchema, frame: FieldFrame): boolean {
  return field.name === 'items' && frame.owner.endsWith('List') && field.type.type === 'list';
}

const goStructs: ReadonlySet<TypeExpression['type']> = new Set(['struct', 'Quantity', 'Time', 'MicroTime', 'IntOrString', 'RawExtension', 'FieldsV1']);

/** What omitempty never omits. */
function isGoStruct(type: TypeExpression): boolean {
  return goStructs.has(type.type);
}

/** Decoding an empty struct finds nothing to report. */
const nowhere = new DecodeState();

/** What Go prints for a value that was never set. */
export function zeroOf(type: TypeExpression): () => unknown {
  if (type.pointer) return () => null;
  switch (type.type) {
    case 'struct': {
      const decoder = structDecoder(type.name);
      return () => decoder({}, nowhere);
    }
    case 'string':
      return () => '';
    case 'bool':
      return () => false;
    case 'int32':
    case 'int64':
    case 'IntOrString':
      return () => 0;
    case 'Quantity':
      return () => '0';
    default:
      return () => null;
  }
}

/** Elements that say nothing take three bytes each, and all are checked: a million of them would keep the server busy for seconds. */
const maxListElements = 50_000;

function listDecoder(go: string, of: TypeExpression): Decoder {
  const decodeItem = decoderOf(of);
  const zero = zeroOf(of);
  return (value, state) => {
    if (!Array.isArray(value)) {
      state.mismatch(value, { go, kind: 'slice' });
      return undefined;
    }
    if (value.length === 0) return undefined;
    if (value.length > maxListElements) {
      state.refuse(`a list of ${value.length} elements is longer than the ${maxListElements} that are read`);
      return undefined;
    }
    const result: unknown[] = [];
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      state.frames.push(index);
      const decoded = item === null || item === undefined ? undefined : decodeItem(item, state);
      state.frames.pop();
      result.push(decoded === undefined ? zero() : decoded);
    }
    return result;
  };
}

function mapDecoder(go: string, of: TypeExpression): Decoder {
  const decodeMember = decoderOf(of);
  const zero = zeroMember(of);
  return (value, state) => {
    if (!isJsonObject(value) || value instanceof JsonNumber) {
      state.mismatch(value, { go, kind: 'map' });
      return undefined;
    }
    const keys = state.mode.order === 'print' ? sortedKeys(value) : Object.keys(value);
    if (keys.length === 0) return undefined;
    const result: Record<string, unknown> = {};
    for (const key of keys) {
      const member = value[key];
      state.frames.push(key);
      const decoded = member === null || member === undefined ? undefined : decodeMember(member, state);
      state.frames.pop();
      setOwn(result, key, decoded === undefined ? zero() : decoded);
    }
    return result;
  };
}

/** Inside a map bytes and lists that are empty print as such: being there, they cannot be null. */
function zeroMember(of: TypeExpression): () => unknown {
  if (of.type === 'bytes') return () => '';
  return of.type === 'list' ? () => [] : zeroOf(of);
}

/** Go prints maps in the order of their keys. */
function sortedKeys(value: Record<string, unknown>): string[] {
  const keys = Object.keys(value);
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] ?? '') > (keys[i] ?? '')) return keys.sort();
  return keys;
}

const scalarDecoders: Readonly<Record<Scalar, (go: string) => Decoder>> = {
  string: (go) => (value, state) => {
    if (typeof value === 'string') return value;
    state.mismatch(value, { go, kind: 'string' });
    return undefined;
  },
  bool: (go) => (value, state) => {
    if (typeof value === 'boolean') return value;
    state.mismatch(value, { go, kind: 'bool' });
    return undefined;
  },
  int32: (go) => integerDecoder({ go, kind: 'int32' }, int32),
  int64: (go) => integerDecoder({ go, kind: 'int64' }, int64),
  bytes: (go) => (value, state) => {
    if (typeof value === 'string') return decodeBase64(value, state);
    if (Array.isArray(value)) return decodeByteList(value, state);
    state.mismatch(value, { go, kind: 'slice' });
    return undefined;
  },
  any: () => plainCopy,
  RawExtension: () => plainCopy,
  FieldsV1: () => plainCopy,
  Quantity: () => (value) => canonicalQuantityCached(typeof value === 'string' ? value : value instanceof JsonNumber ? value.text : JSON.stringify(value)),
  Time: () => timeDecoder('Time'),
  MicroTime: () => timeDecoder('MicroTime'),
  IntOrString: () => (value, state) => {
    if (typeof value === 'string') return value;
    if ((typeof value === 'number' || value instanceof JsonNumber) && isInteger(value, int32)) return Number(numberText(value)) || 0;
    // Go decodes what is no string as an int32 by itself, and gives up at once if that fails.
    throw new DecodeError(state.describe(value, { go: 'int32', kind: 'int32' }));
  },
};

const uint8: IntegerRange = { min: 0n, max: 255n };

function integerDecoder(type: GoType, range: IntegerRange): Decoder {
  return (value, state) => {
    // Beyond 2^53 a double is as close as it gets.
    if (typeof value === 'number' && Number.isInteger(value) && value >= Number(range.min) && value <= Number(range.max)) return value === 0 ? 0 : value;
    if (value instanceof JsonNumber && isInteger(value, range)) return value.toNumber() || 0;
    state.mismatch(value, type);
    return undefined;
  };
}

const isInteger = (value: number | JsonNumber, range: IntegerRange): boolean => typeof readInteger(numberText(value), range) === 'bigint';

/** To Go, bytes are also a list of numbers. */
function decodeByteList(values: readonly unknown[], state: DecodeState): string {
  const decodeByte = integerDecoder({ go: 'uint8', kind: 'uint8' }, uint8);
  return Buffer.from(values.map((value) => (value === null ? 0 : (decodeByte(value, state) as number)))).toString('base64');
}

function timeDecoder(kind: 'Time' | 'MicroTime'): Decoder {
  return (value, state) => {
    if (typeof value !== 'string') throw new DecodeError(state.describe(value, { go: 'string', kind: 'string' }));
    try {
      return normalizeTime(value, kind);
    } catch (error) {
      throw new DecodeError((error as Error).message);
    }
  };
}

/** Data that Kubernetes keeps as it is. */
function plainCopy(value: unknown): unknown {
  if (value instanceof JsonNumber) return value.toNumber();
  if (Array.isArray(value)) return value.map(plainCopy);
  if (!isJsonObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) setOwn(copy, key, plainCopy(value[key]));
  return copy;
}
