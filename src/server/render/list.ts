import { apiVersionOf, type Kind } from '../../api/kind.ts';
import type { ListMeta, Stored } from '../api.ts';
import type { Body } from './body.ts';

/** Few large writes: small enough that a client which stops reading holds little, large enough to cost nothing. */
const pieceBytes = 512 * 1024;

const comma = 0x2c;
const brace = 0x7b;

/**
 * A list, put together from the bytes that its items already have.
 *
 * The items of a typed list carry no kind and apiVersion of their own; as every item begins with them
 * (`{"kind":"Pod","apiVersion":"v1","metadata":…`), leaving them out is a matter of where copying begins.
 */
export function listBody(kind: Kind, items: readonly Stored[], metadata: ListMeta): Body {
  const apiVersion = apiVersionOf(kind);
  const head = Buffer.from(`{"kind":"${kind.kind}List","apiVersion":"${apiVersion}","metadata":${JSON.stringify(listMetadata(metadata))},"items":[`);
  const tail = Buffer.from(']}\n');
  const prefix = Buffer.from(`{"kind":"${kind.kind}","apiVersion":"${apiVersion}",`);
  const parts = items.map((item) => withoutPrefix(item.json(), prefix));
  let length = head.length + tail.length + Math.max(0, parts.length - 1);
  for (const part of parts) length += part.length;
  return { type: 'pieces', length, pieces: joined({ head, parts, tail, length }) };
}

export function listMetadata(metadata: ListMeta): ListMeta {
  return {
    resourceVersion: metadata.resourceVersion,
    ...(metadata.continue === undefined || metadata.continue === '' ? {} : { continue: metadata.continue }),
    ...(metadata.remainingItemCount === undefined ? {} : { remainingItemCount: metadata.remainingItemCount }),
  };
}

/** The object from the last byte of its prefix on: the byte that the opening brace will take. */
function withoutPrefix(json: Uint8Array, prefix: Uint8Array): Uint8Array {
  for (let i = prefix.length - 1; i >= 0; i -= 1) if (json[i] !== prefix[i]) return json;
  return json.subarray(prefix.length - 1);
}

function* joined(list: { head: Uint8Array; parts: readonly Uint8Array[]; tail: Uint8Array; length: number }): Generator<Uint8Array> {
  const { head, parts, tail } = list;
  let left = list.length;
  let piece = Buffer.allocUnsafe(Math.min(left, pieceBytes + head.length));
  piece.set(head);
  let used = head.length;
  for (const [index, part] of parts.entries()) {
    if (used + part.length + 1 + tail.length > piece.length) {
      yield piece.subarray(0, used);
      left -= used;
      piece = Buffer.allocUnsafe(Math.min(left, Math.max(pieceBytes, part.length + 1 + tail.length)));
      used = 0;
    }
    if (index > 0) piece[used++] = comma;
    piece.set(part, used);
    piece[used] = brace;
    used += part.length;
  }
  piece.set(tail, used);
  yield piece.subarray(0, used + tail.length);
}
