import { type FieldSchema, type TypeExpression, typeSchema, type WireForm } from '../schema/type-schema.ts';
import { parseGoTime } from '../schema/time.ts';
import { BackwardWriter } from './writer.ts';

/** Writes one field of a message, tag included; undefined or null where the object has none. */
type FieldEncoder = (writer: BackwardWriter, value: unknown) => void;
/** Writes the inside of a message. */
type MessageEncoder = (writer: BackwardWriter, value: Record<string, unknown>) => void;

const varintType = 0;
const fixed64Type = 1;

/** The message of a struct of the schema, without any envelope. */
export function encodeMessage(type: string, object: object): Uint8Array {
  const writer = new BackwardWriter();
  structEncoder(type)(writer, object as Record<string, unknown>);
  return writer.finish();
}

const structEncoders = new Map<string, MessageEncoder>();

export function structEncoder(name: string): MessageEncoder {
  const known = structEncoders.get(name);
  if (known !== undefined) return known;
  let fields: readonly { readonly name: string; readonly encode: FieldEncoder }[] | undefined;
  const encoder: MessageEncoder = (writer, object) => {
    fields ??= compileFields(name);
    // An inlined struct is a message of its own in protobuf, and its fields are the object's in JSON.
    for (const field of fields) field.encode(writer, field.name === '' ? object : object[field.name]);
  };
  structEncoders.set(name, encoder);
  return encoder;
}

/** Last field first, as the writer goes backwards. */
function compileFields(name: string): { name: string; encode: FieldEncoder }[] {
  return typeSchema(name)
    .fields.filter(({ number }) => number > 0)
    .sort((a, b) => b.number - a.number)
    .map((field) => ({ name: field.name, encode: fieldEncoder(field) }));
}

function fieldEncoder({ type, number, wire }: FieldSchema): FieldEncoder {
  if (type.type === 'list' && type.named === undefined) return listEncoder(type.of, number);
  if (type.type === 'map') return mapEncoder(wire === undefined ? valueEncoder(type.of, 2) : wireFormEncoders[wire](2), number);
  const encode = wire === undefined ? valueEncoder(type, number) : wireFormEncoders[wire](number);
  // Without a pointer Go cannot tell absent from zero, and writes zero. Only bytes and lists can be absent all the same.
  if (type.pointer || type.type === 'bytes' || type.type === 'list') {
    return (writer, value) => {
      if (value !== undefined && value !== null) encode(writer, value);
    };
  }
  return encode;
}

function listEncoder(of: TypeExpression, number: number): FieldEncoder {
  const encode = valueEncoder(of, number);
  return (writer, value) => {
    if (!Array.isArray(value)) return;
    for (let i = value.length - 1; i >= 0; i--) encode(writer, value[i]);
  };
}

function mapEncoder(encode: FieldEncoder, number: number): FieldEncoder {
  return (writer, value) => {
    if (typeof value !== 'object' || value === null) return;
    const map = value as Record<string, unknown>;
    const keys = Object.keys(map).sort(compareBytes);
    for (let i = keys.length - 1; i >= 0; i--) {
      const key = keys[i] ?? '';
      const before = writer.length;
      encode(writer, map[key]);
      encodeString(writer, 1, key);
      writer.close(number, before);
    }
  };
}

/** Go sorts strings by their bytes; JavaScript by UTF-16 units, which differs beyond the basic plane only. */
function compareBytes(a: string, b: string): number {
  return /[\ud800-\udfff]/.test(a + b) ? Buffer.compare(Buffer.from(a), Buffer.from(b)) : a < b ? -1 : a > b ? 1 : 0;
}

function encodeString(writer: BackwardWriter, number: number, text: string): void {
  const before = writer.length;
  writer.string(text);
  writer.close(number, before);
}

function encodeVarint(writer: BackwardWriter, number: number, value: number): void {
  writer.varint(value);
  writer.tag(number, varintType);
}

/** Writes a value and its tag; of undefined and null, the zero value. */
function valueEncoder(type: TypeExpression, number: number): FieldEncoder {
  switch (type.type) {
    case 'string':
      return (writer, value) => encodeString(writer, number, (value ?? '') as string);
    case 'bool':
      return (writer, value) => encodeVarint(writer, number, value === true ? 1 : 0);
    case 'int32':
    case 'int64':
      return (writer, value) => encodeVarint(writer, number, (value ?? 0) as number);
    case 'bytes':
      return (writer, value) => {
        const before = writer.length;
        writer.bytes(Buffer.from((value ?? '') as string, 'base64'));
        writer.close(number, before);
      };
    case 'struct':
      return nested(number, structEncoder(type.name));
    case 'list':
      return nested(number, listMessage(type.of));
    case 'map':
      throw new Error('a map is never a value of its own in protobuf');
    default:
      return nestedSpecial(number, specialMessages[type.type]);
  }
}

function nested(number: number, encode: MessageEncoder): FieldEncoder {
  return (writer, value) => {
    const before = writer.length;
    encode(writer, (value ?? {}) as Record<string, unknown>);
    writer.close(number, before);
  };
}

const wireFormEncoders: Readonly<Record<WireForm, (number: number) => FieldEncoder>> = {
  double: (number) => (writer, value) => {
    writer.double(Number(value));
    writer.tag(number, fixed64Type);
  },
  JSONSchemaPropsOrArray: (number) => schemaOr(number, valueEncoder({ type: 'struct', pointer: false, go: '', name: 'JSONSchemaProps' }, 2)),
  JSONSchemaPropsOrStringArray: (number) => schemaOr(number, valueEncoder({ type: 'string', pointer: false, go: '' }, 2)),
  JSONSchemaPropsOrBool: (number) =>
    nestedSpecial(number, (writer, value) => {
      if (typeof value === 'object' && value !== null) nested(2, structEncoder('JSONSchemaProps'))(writer, value);
      encodeVarint(writer, 1, value === false ? 0 : 1);
    }),
};

/** Field 1 is a schema, field 2 is repeated: the other form. */
function schemaOr(number: number, encodeOther: FieldEncoder): FieldEncoder {
  const encodeSchema = nested(1, structEncoder('JSONSchemaProps'));
  return nestedSpecial(number, (writer, value) => {
    if (!Array.isArray(value)) encodeSchema(writer, value);
    else for (const each of value.toReversed()) encodeOther(writer, each);
  });
}

/** A named list (ExtraValue, Verbs) is a message with one repeated field. */
function listMessage(of: TypeExpression): MessageEncoder {
  const encode = listEncoder(of, 1);
  return (writer, value) => encode(writer, value);
}

type Special = 'Quantity' | 'Time' | 'MicroTime' | 'IntOrString' | 'RawExtension' | 'FieldsV1' | 'any';

function nestedSpecial(number: number, encode: FieldEncoder): FieldEncoder {
  return (writer, value) => {
    const before = writer.length;
    encode(writer, value);
    writer.close(number, before);
  };
}

/** The fields of messages that are no structs in JSON. */
const specialMessages: Readonly<Record<Special, FieldEncoder>> = {
  Quantity: (writer, value) => encodeString(writer, 1, (value ?? '0') as string),
  Time: (writer, value) => encodeTime(writer, value, 'Time'),
  MicroTime: (writer, value) => encodeTime(writer, value, 'MicroTime'),
  IntOrString: (writer, value) => {
    const isString = typeof value === 'string';
    encodeString(writer, 3, isString ? value : '');
    encodeVarint(writer, 2, isString ? 0 : ((value ?? 0) as number));
    encodeVarint(writer, 1, isString ? 1 : 0);
  },
  RawExtension: encodeRaw,
  FieldsV1: encodeRaw,
  any: encodeRaw,
};

/** The zero time is an empty message. */
function encodeTime(writer: BackwardWriter, value: unknown, kind: 'Time' | 'MicroTime'): void {
  if (typeof value !== 'string') return;
  const { seconds, micros } = parseGoTime(value, kind);
  encodeVarint(writer, 2, kind === 'Time' ? 0 : micros * 1000);
  encodeVarint(writer, 1, seconds);
}

/** JSON inside protobuf. */
function encodeRaw(writer: BackwardWriter, value: unknown): void {
  if (value !== undefined && value !== null) encodeString(writer, 1, JSON.stringify(value));
}
