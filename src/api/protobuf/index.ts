/**
 * Kubernetes' protobuf, which client-go's typed clients prefer for built-in kinds.
 *
 * An object on the wire is the magic `k8s\0`, then a message `Unknown` that names the kind and holds the object's own
 * message as bytes. In a watch each event is a message `WatchEvent` behind its length in four bytes, and holds the object
 * with magic and all.
 */
import type { ListMeta } from '../generated/types.ts';
import { typeNameOf } from '../schema/type-schema.ts';
import { decodeMessage } from './decode.ts';
import { encodeMessage, structEncoder } from './encode.ts';
import { fieldOf, MessageReader, ProtobufError, wireTypeOf } from './reader.ts';
import { BackwardWriter } from './writer.ts';

export { decodeMessage } from './decode.ts';
export { encodeMessage } from './encode.ts';
export { ProtobufError } from './reader.ts';

const magic = Uint8Array.from([0x6b, 0x38, 0x73, 0x00]);

interface Typed {
  readonly apiVersion: string;
  readonly kind: string;
}

/** An object with kind and apiVersion: a stored one, a Status, a list. */
export function encodeProtobuf(object: Typed): Uint8Array {
  return encodeEnvelope(object, encodeMessage(typeOf(object), object));
}

/** An object whose message is encoded already, so that one encoding serves every reader. */
export function encodeEnvelope({ apiVersion, kind }: Typed, message: Uint8Array): Uint8Array {
  const writer = new BackwardWriter(message.length + 64);
  // The encoding and type of the content: empty for protobuf.
  writeString(writer, 4, '');
  writeString(writer, 3, '');
  let before = writer.length;
  writer.bytes(message);
  writer.close(2, before);
  before = writer.length;
  writeString(writer, 2, kind);
  writeString(writer, 1, apiVersion);
  writer.close(1, before);
  writer.bytes(magic);
  return writer.finish();
}

function writeString(writer: BackwardWriter, field: number, text: string): void {
  const before = writer.length;
  writer.string(text);
  writer.close(field, before);
}

/** A list of objects whose messages are encoded already. */
export function encodeProtobufList(list: Typed & { readonly metadata: ListMeta }, items: readonly Uint8Array[]): Uint8Array {
  const writer = new BackwardWriter(items.reduce((size, item) => size + item.length + 6, 256));
  for (let i = items.length - 1; i >= 0; i--) {
    const before = writer.length;
    writer.bytes(items[i] ?? new Uint8Array());
    writer.close(2, before);
  }
  const before = writer.length;
  structEncoder('ListMeta')(writer, list.metadata as Record<string, unknown>);
  writer.close(1, before);
  return encodeEnvelope(list, writer.finish());
}

/** One event of a watch, length in front. `object`: what `encodeProtobuf` made of it. */
export function encodeWatchFrame(type: string, object: Uint8Array): Uint8Array {
  const writer = new BackwardWriter(object.length + 64);
  const before = writer.length;
  writer.bytes(object);
  writer.close(1, before);
  writer.close(2, before);
  writeString(writer, 1, type);
  const length = writer.length;
  writer.bytes(Uint8Array.from([length >>> 24, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff]));
  return writer.finish();
}

/**
 * A client's object as JSON would have it, with apiVersion and kind if it has them. An object of a kind that the schema does
 * not know has only these two.
 * @throws ProtobufError
 */
export function decodeProtobuf(bytes: Uint8Array): Record<string, unknown> {
  const { apiVersion, kind, raw } = decodeEnvelope(bytes);
  const type = typeNameOf(apiVersion, kind);
  return { ...(kind === '' ? {} : { kind }), ...(apiVersion === '' ? {} : { apiVersion }), ...(type === undefined ? {} : decodeMessage(type, raw)) };
}

/** @throws ProtobufError */
function decodeEnvelope(bytes: Uint8Array): Typed & { readonly raw: Uint8Array } {
  if (bytes.length === 0) throw new ProtobufError('empty data');
  if (magic.some((byte, index) => bytes[index] !== byte)) {
    throw new ProtobufError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  }
  if (bytes.length === magic.length) throw new ProtobufError('empty body');
  const reader = new MessageReader(bytes.subarray(magic.length));
  let meta = { apiVersion: '', kind: '' };
  let raw: Uint8Array = new Uint8Array();
  while (!reader.done) {
    const tag = reader.tag();
    if (fieldOf(tag) === 1 && wireTypeOf(tag) === 2) meta = decodeTypeMeta(reader.bytes());
    else if (fieldOf(tag) === 2 && wireTypeOf(tag) === 2) raw = reader.bytes();
    else reader.skip(tag);
  }
  return { ...meta, raw };
}

/** The envelope's own message: its numbers are not those of the kind and version inside an object. */
function decodeTypeMeta(bytes: Uint8Array): Typed {
  const reader = new MessageReader(bytes);
  let apiVersion = '';
  let kind = '';
  while (!reader.done) {
    const tag = reader.tag();
    if (fieldOf(tag) === 1 && wireTypeOf(tag) === 2) apiVersion = reader.string();
    else if (fieldOf(tag) === 2 && wireTypeOf(tag) === 2) kind = reader.string();
    else reader.skip(tag);
  }
  return { apiVersion, kind };
}

function typeOf({ apiVersion, kind }: Typed): string {
  const type = typeNameOf(apiVersion, kind);
  if (type === undefined) throw new Error(`the schema has no kind ${kind} in ${apiVersion}`);
  return type;
}
