/** DNS on the wire (RFC 1035), as far as programs in pods ask: one question, answers with addresses. */
export interface DnsQuestion {
  readonly id: number;
  /** In lower case, without the last dot. */
  readonly name: string;
  /** 1: A, 28: AAAA. */
  readonly type: number;
  /** The header's second word, of which the wish for recursion comes back. */
  readonly flags: number;
  /** The question's own bytes, which the answer repeats. */
  readonly bytes: Buffer;
}

export const recordTypes = { a: 1, any: 255 } as const;

const headBytes = 12;
const longestName = 255;

/** Undefined: it is no question, or none that is understood. */
export function decodeQuestion(message: Buffer): DnsQuestion | undefined {
  if (message.length < headBytes + 5 || (message.readUInt16BE(2) & 0x8000) !== 0 || message.readUInt16BE(4) !== 1) return undefined;
  const labels: string[] = [];
  let at = headBytes;
  for (let length = message[at] ?? 0; length !== 0; length = message[at] ?? 0) {
    // Names in questions are not shortened.
    if (length > 63 || at + 1 + length >= message.length || at - headBytes > longestName) return undefined;
    labels.push(message.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  if (at + 5 > message.length) return undefined;
  return {
    id: message.readUInt16BE(0),
    flags: message.readUInt16BE(2),
    name: labels.join('.'),
    type: message.readUInt16BE(at + 1),
    bytes: Buffer.from(message.subarray(headBytes, at + 5)),
  };
}

/** As many as fit into an answer that every client takes. */
const mostAnswers = 25;
const secondsToKeep = 5;

/** `addresses`: undefined: there is no such name. */
export function encodeAnswer({ id, flags, bytes }: DnsQuestion, addresses: readonly string[] | undefined): Buffer {
  const given = (addresses ?? []).slice(0, mostAnswers);
  const head = Buffer.alloc(headBytes);
  head.writeUInt16BE(id, 0);
  // An answer, from who knows best; recursion as wished, and available.
  head.writeUInt16BE(0x8480 | (flags & 0x0100) | (addresses === undefined ? codes.noSuchName : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(given.length, 6);
  return Buffer.concat([head, bytes, ...given.map(addressRecord)]);
}

/** Nobody could be asked. */
export function encodeFailure({ id, flags, bytes }: DnsQuestion): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt16BE(id, 0);
  head.writeUInt16BE(0x8080 | (flags & 0x0100) | codes.failure, 2);
  head.writeUInt16BE(1, 4);
  return Buffer.concat([head, bytes]);
}

const codes = { failure: 2, noSuchName: 3 } as const;

function addressRecord(address: string): Buffer {
  const record = Buffer.alloc(16);
  // The name is that of the question, right behind the head.
  record.writeUInt16BE(0xc000 | headBytes, 0);
  record.writeUInt16BE(recordTypes.a, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(secondsToKeep, 6);
  record.writeUInt16BE(4, 10);
  for (const [i, part] of address.split('.').entries()) record.writeUInt8(Number(part) & 255, 12 + i);
  return record;
}
