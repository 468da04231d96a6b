import { JsonError, readJson, setOwn } from '../json.ts';
import { type FieldSchema, type TypeExpression, typeSchema, type WireForm } from '../schema/type-schema.ts';
import { fieldOf, MessageReader, ProtobufError, type Tag, wireTypeOf } from './reader.ts';

/** Reads one occurrence of a field into the object. */
type FieldDecoder = (target: Record<string, unknown>, reader: MessageReader, tag: Tag) => void;
/** Reads one value. */
type ValueDecoder = (reader: MessageReader, tag: Tag) => unknown;

const lengthDelimited = 2;
const fixed64 = 1;

const structDecoders = new Map<string, ReadonlyMap<number, FieldDecoder>>();

/**
 * The object of a message as JSON would have it, as input of the schema's decoder.
 * Zeros that JSON omits are left out here: a message is full of them.
 * @throws ProtobufError
 */
export function decodeMessage(type: string, bytes: Uint8Array): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  decodeInto(object, type, bytes);
  return object;
}

function decodeInto(object: Record<string, unknown>, type: string, bytes: Uint8Array): void {
  let fields = structDecoders.get(type);
  if (fields === undefined) {
    fields = compileFields(type);
    structDecoders.set(type, fields);
  }
  const reader = new MessageReader(bytes);
  while (!reader.done) {
    const tag = reader.tag();
    const decode = fields.get(fieldOf(tag));
    if (decode === undefined) reader.skip(tag);
    else decode(object, reader, tag);
  }
}

function compileFields(type: string): ReadonlyMap<number, FieldDecoder> {
  return new Map(
    typeSchema(type)
      .fields.filter(({ number }) => number > 0)
      .map((field) => [field.number, fieldDecoder(field)]),
  );
}

function fieldDecoder(field: FieldSchema): FieldDecoder {
  const { name, type, wire } = field;
  if (field.inline && type.type === 'struct') {
    return (target, reader, tag) => decodeInto(target, type.name, lengthDelimitedBytes(reader, tag));
  }
  if (type.type === 'list' && type.named === undefined) return listDecoder(name, type.of);
  if (type.type === 'map') return mapDecoder(name, wire === undefined ? valueDecoder(type.of) : wireFormDecoders[wire]);
  const decode = wire === undefined ? valueDecoder(type) : wireFormDecoders[wire];
  const omitsZero = field.omitEmpty && !type.pointer && ['string', 'bool', 'int32', 'int64'].includes(type.type);
  return (target, reader, tag) => {
    const value = decode(reader, tag);
    if (!omitsZero || (value !== '' && value !== 0 && value !== false)) target[name] = value;
  };
}

function listDecoder(name: string, of: TypeExpression): FieldDecoder {
  const decode = valueDecoder(of);
  const packable = of.type === 'int32' || of.type === 'int64' || of.type === 'bool';
  return (target, reader, tag) => {
    const list = (target[name] ??= []) as unknown[];
    if (!packable || wireTypeOf(tag) !== lengthDelimited) {
      list.push(decode(reader, tag));
      return;
    }
    const packed = new MessageReader(reader.bytes());
    while (!packed.done) list.push(decode(packed, fieldOf(tag) << 3));
  };
}

function mapDecoder(name: string, decode: ValueDecoder): FieldDecoder {
  return (target, reader, tag) => {
    const map = (target[name] ??= {}) as Record<string, unknown>;
    const entry = new MessageReader(lengthDelimitedBytes(reader, tag));
    let key = '';
    let value: unknown = null;
    while (!entry.done) {
      const inner = entry.tag();
      if (fieldOf(inner) === 1) key = decodeString(entry, inner);
      else if (fieldOf(inner) === 2) value = decode(entry, inner);
      else entry.skip(inner);
    }
    setOwn(map, key, value);
  };
}

function lengthDelimitedBytes(reader: MessageReader, tag: Tag): Uint8Array {
  if (wireTypeOf(tag) !== lengthDelimited) throw wrongWireType(tag);
  return reader.bytes();
}

function decodeString(reader: MessageReader, tag: Tag): string {
  if (wireTypeOf(tag) !== lengthDelimited) throw wrongWireType(tag);
  return reader.string();
}

function decodeVarint(reader: MessageReader, tag: Tag): number {
  if (wireTypeOf(tag) !== 0) throw wrongWireType(tag);
  return reader.varint();
}

const wrongWireType = (tag: Tag): ProtobufError => new ProtobufError(`proto: wrong wireType = ${wireTypeOf(tag)} for field ${fieldOf(tag)}`);

function valueDecoder(type: TypeExpression): ValueDecoder {
  switch (type.type) {
    case 'string':
      return decodeString;
    case 'bool':
      return (reader, tag) => decodeVarint(reader, tag) !== 0;
    case 'int32':
      return (reader, tag) => decodeVarint(reader, tag) | 0;
    case 'int64':
      return decodeVarint;
    case 'bytes':
      return (reader, tag) => Buffer.from(lengthDelimitedBytes(reader, tag)).toString('base64');
    case 'struct':
      return (reader, tag) => decodeMessage(type.name, lengthDelimitedBytes(reader, tag));
    case 'list':
      return namedListDecoder(type.of);
    case 'map':
      throw new Error('a map is never a value of its own in protobuf');
    default: {
      const decode = specialMessages[type.type];
      return (reader, tag) => decode(new MessageReader(lengthDelimitedBytes(reader, tag)));
    }
  }
}

const wireFormDecoders: Readonly<Record<WireForm, ValueDecoder>> = {
  double: (reader, tag) => {
    if (wireTypeOf(tag) !== fixed64) throw wrongWireType(tag);
    return reader.double();
  },
  JSONSchemaPropsOrArray: (reader, tag) => {
    const { schema, others } = schemaForms(lengthDelimitedBytes(reader, tag));
    return others.length > 0 ? others.map((bytes) => decodeMessage('JSONSchemaProps', bytes)) : schema && decodeMessage('JSONSchemaProps', schema);
  },
  JSONSchemaPropsOrStringArray: (reader, tag) => {
    const { schema, others } = schemaForms(lengthDelimitedBytes(reader, tag));
    return others.length > 0 ? others.map((bytes) => new TextDecoder().decode(bytes)) : schema && decodeMessage('JSONSchemaProps', schema);
  },
  JSONSchemaPropsOrBool: (reader, tag) => {
    const fields = fieldsOf(new MessageReader(lengthDelimitedBytes(reader, tag)));
    const schema = bytesIn(fields, 2);
    return schema === undefined ? numberIn(fields, 1) !== 0 : decodeMessage('JSONSchemaProps', schema);
  },
};

/** Field 1 is a schema, field 2 is repeated: the other form. */
function schemaForms(bytes: Uint8Array): { readonly schema: Uint8Array | null; readonly others: readonly Uint8Array[] } {
  const message = new MessageReader(bytes);
  let schema: Uint8Array | null = null;
  const others: Uint8Array[] = [];
  while (!message.done) {
    const tag = message.tag();
    if (fieldOf(tag) === 1) schema = lengthDelimitedBytes(message, tag);
    else if (fieldOf(tag) === 2) others.push(lengthDelimitedBytes(message, tag));
    else message.skip(tag);
  }
  return { schema, others };
}

/** A named list (ExtraValue, Verbs) is a message with one repeated field. */
function namedListDecoder(of: TypeExpression): ValueDecoder {
  const decode = listDecoder('items', of);
  return (reader, tag) => {
    const holder: Record<string, unknown> = { items: [] };
    const message = new MessageReader(lengthDelimitedBytes(reader, tag));
    while (!message.done) {
      const inner = message.tag();
      if (fieldOf(inner) === 1) decode(holder, message, inner);
      else message.skip(inner);
    }
    return holder['items'];
  };
}

/** Fields by number, for messages whose JSON form is no object. */
function fieldsOf(message: MessageReader): ReadonlyMap<number, number | Uint8Array> {
  const fields = new Map<number, number | Uint8Array>();
  while (!message.done) {
    const tag = message.tag();
    if (wireTypeOf(tag) === 0) fields.set(fieldOf(tag), message.varint());
    else if (wireTypeOf(tag) === lengthDelimited) fields.set(fieldOf(tag), message.bytes());
    else message.skip(tag);
  }
  return fields;
}

const numberIn = (fields: ReadonlyMap<number, number | Uint8Array>, field: number): number => {
  const value = fields.get(field);
  return typeof value === 'number' ? value : 0;
};

const bytesIn = (fields: ReadonlyMap<number, number | Uint8Array>, field: number): Uint8Array | undefined => {
  const value = fields.get(field);
  return typeof value === 'number' ? undefined : value;
};

type Special = 'Quantity' | 'Time' | 'MicroTime' | 'IntOrString' | 'RawExtension' | 'FieldsV1' | 'any';

const specialMessages: Readonly<Record<Special, (message: MessageReader) => unknown>> = {
  Quantity: (message) => new TextDecoder().decode(bytesIn(fieldsOf(message), 1)),
  Time: (message) => decodeTime(message, 'Time'),
  MicroTime: (message) => decodeTime(message, 'MicroTime'),
  IntOrString: (message) => {
    const fields = fieldsOf(message);
    return numberIn(fields, 1) === 1 ? new TextDecoder().decode(bytesIn(fields, 3)) : numberIn(fields, 2) | 0;
  },
  RawExtension: decodeRaw,
  FieldsV1: decodeRaw,
  any: decodeRaw,
};

/** The years 0 to 9999, the range of a timestamp's text. */
const dateSeconds = { min: -62167219200, max: 253402300799 };

/** An empty message is the zero time, that of the year 1. */
const zeroSeconds = -62135596800;

function decodeTime(message: MessageReader, kind: 'Time' | 'MicroTime'): string {
  const isZero = message.done;
  const fields = fieldsOf(message);
  const seconds = isZero ? zeroSeconds : numberIn(fields, 1);
  if (seconds < dateSeconds.min || seconds > dateSeconds.max) throw new ProtobufError('Time.MarshalJSON: year outside of range [0,9999]');
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  const micros = Math.trunc(numberIn(fields, 2) / 1000);
  return kind === 'Time' ? `${whole}Z` : `${whole}.${String(micros).padStart(6, '0')}Z`;
}

/** JSON inside protobuf. */
function decodeRaw(message: MessageReader): unknown {
  const bytes = bytesIn(fieldsOf(message), 1);
  if (bytes === undefined || bytes.length === 0) return null;
  try {
    return readJson(bytes).value;
  } catch (error) {
    if (error instanceof JsonError) throw new ProtobufError(error.message);
    throw error;
  }
}
