import { apiVersionOf, type Kind } from '../../api/kind.ts';
import type { ListMeta, Splice, ObjectRevision } from '../api.ts';
import type { Body } from './body.ts';

/** Few large writes: small enough that a client which stops reading holds little, large enough to cost nothing. */
const pieceBytes = 256 * 1024;

const comma = 0x2c;
const brace = 0x7b;

/**
 * A list, put together from the bytes that its items already have, piece by piece while the client takes them.
 *
 * The items of a typed list carry no kind and apiVersion of their own; as every item begins with them
 * (`{"kind":"Pod","apiVersion":"v1","metadata":…`), leaving them out is a matter of where copying begins.
 */
export function listBody(kind: Kind, items: readonly ObjectRevision[], metadata: ListMeta): Body {
  const printed = printings.get(items);
  if (printed === undefined || printed.revision !== metadata.resourceVersion) {
    const body = assembledBody(kind, items, metadata);
    printings.set(items, { revision: metadata.resourceVersion, length: body.length, pieces: undefined });
    return body;
  }
  if (printed.pieces === undefined) {
    const body = assembledBody(kind, items, metadata);
    if (body.length > sharedBytes) return body;
    printed.pieces = [...body.pieces];
  }
  return { type: 'pieces', length: printed.length, pieces: printed.pieces };
}

interface Printing {
  readonly revision: string;
  readonly length: number;
  /** Set by the second request for the list. */
  pieces: readonly Uint8Array[] | undefined;
}

/** Encoded lists, as long as the `ListCache` holds them: the same array is encoded once. */
const printings = new WeakMap<readonly ObjectRevision[], Printing>();
/** What is larger is put together for each client while it reads, and never held as a whole. */
const sharedBytes = 32 * 1024 * 1024;

type Pieces = Extract<Body, { type: 'pieces' }>;

function assembledBody(kind: Kind, items: readonly ObjectRevision[], metadata: ListMeta): Pieces {
  const apiVersion = apiVersionOf(kind);
  const head = Buffer.from(
    `{"kind":"${kind.custom?.listKind ?? `${kind.kind}List`}","apiVersion":"${apiVersion}","metadata":${JSON.stringify(listMetadata(metadata))},"items":[`,
  );
  const tail = Buffer.from(']}\n');
  const prefix = Buffer.from(`{"kind":"${kind.kind}","apiVersion":"${apiVersion}",`);
  // Items of a generic list carry their own kind and apiVersion.
  const members = items.map((item) => (kind.custom === undefined ? memberOf(item, prefix) : item.json()));
  let length = head.length + tail.length + Math.max(0, members.length - 1);
  for (const member of members) length += lengthOf(member);
  return { type: 'pieces', length, pieces: joined({ head, members, tail, length }) };
}

export function listMetadata(metadata: ListMeta): ListMeta {
  return {
    resourceVersion: metadata.resourceVersion,
    ...(metadata.continue === undefined || metadata.continue === '' ? {} : { continue: metadata.continue }),
    ...(metadata.remainingItemCount === undefined ? {} : { remainingItemCount: metadata.remainingItemCount }),
  };
}

/** An item as it will be copied: bytes whose first one becomes the opening brace, or the end of bytes behind a text of its own. */
type Member = Uint8Array | { readonly opening: string; readonly splice: Splice };

const metadataOpening = '"metadata":{';

function memberOf(item: ObjectRevision, prefix: Uint8Array): Member {
  const { splice } = item;
  if (splice?.at === prefix.length + metadataOpening.length) return { opening: `{${metadataOpening}"resourceVersion":"${item.revision}",`, splice };
  return withoutPrefix(item.json(), prefix);
}

/** The object from the last byte of its prefix on: the byte that the opening brace will take. */
function withoutPrefix(json: Uint8Array, prefix: Uint8Array): Uint8Array {
  for (let i = prefix.length - 1; i >= 0; i -= 1) if (json[i] !== prefix[i]) return json;
  return json.subarray(prefix.length - 1);
}

function lengthOf(member: Member): number {
  if (member instanceof Uint8Array) return member.length;
  const { opening, splice } = member;
  return opening.length + splice.bytes.length - splice.at;
}

/** @returns where it ends */
function copy(member: Member, target: Uint8Array, at: number): number {
  if (member instanceof Uint8Array) {
    target.set(member, at);
    target[at] = brace;
    return at + member.length;
  }
  const { opening, splice } = member;
  for (let i = 0; i < opening.length; i++) target[at + i] = opening.charCodeAt(i);
  target.set(splice.bytes.subarray(splice.at), at + opening.length);
  return at + lengthOf(member);
}

function* joined(list: { head: Uint8Array; members: readonly Member[]; tail: Uint8Array; length: number }): Generator<Uint8Array> {
  const { head, members, tail } = list;
  let left = list.length;
  let piece = Buffer.allocUnsafe(Math.min(left, pieceBytes + head.length));
  piece.set(head);
  let used = head.length;
  for (const [index, member] of members.entries()) {
    const needed = lengthOf(member) + 1 + tail.length;
    if (used + needed > piece.length) {
      yield piece.subarray(0, used);
      left -= used;
      piece = Buffer.allocUnsafe(Math.min(left, Math.max(pieceBytes, needed)));
      used = 0;
    }
    if (index > 0) piece[used++] = comma;
    used = copy(member, piece, used);
  }
  piece.set(tail, used);
  yield piece.subarray(0, used + tail.length);
}
