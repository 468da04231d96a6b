/** DER, as far as certificates and certificate requests need it: tags of one byte, lengths of at most four (docs/decisions/0016). */

export interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
  /** Tag, length and content. */
  readonly whole: Uint8Array;
}

export const tags = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
  /** [0], with elements within. */
  context0: 0xa0,
} as const;

/** In the words of Go's encoding/asn1, as far as we know them. */
export class DerError extends Error {}

const truncated = (): DerError => new DerError('asn1: syntax error: data truncated');

/** Reads exactly one element. @throws DerError */
export function readOnly(bytes: Uint8Array): Element {
  const element = readAt(bytes, 0);
  if (element.whole.length !== bytes.length) throw new DerError('asn1: syntax error: trailing data');
  return element;
}

/** Reads all elements. @throws DerError */
export function readAll(bytes: Uint8Array): readonly Element[] {
  const elements: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const element = readAt(bytes, at);
    elements.push(element);
    at += element.whole.length;
  }
  return elements;
}

/** The elements within an element, which must have this tag. @throws DerError */
export function within(element: Element | undefined, tag: number): readonly Element[] {
  return readAll(expectTag(element, tag).content);
}

/** @throws DerError */
export function expectTag(element: Element | undefined, tag: number): Element {
  if (element === undefined) throw new DerError('asn1: syntax error: sequence truncated');
  if (element.tag !== tag) throw new DerError("asn1: structure error: tags don't match");
  return element;
}

function readAt(bytes: Uint8Array, at: number): Element {
  const tag = byteAt(bytes, at);
  if ((tag & 0x1f) === 0x1f) throw new DerError("asn1: structure error: tags don't match");
  const first = byteAt(bytes, at + 1);
  const { length, size } = first < 0x80 ? { length: first, size: 1 } : readLongLength(bytes, at + 1);
  const start = at + 1 + size;
  if (start + length > bytes.length) throw truncated();
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(at, start + length) };
}

function readLongLength(bytes: Uint8Array, at: number): { readonly length: number; readonly size: number } {
  const count = byteAt(bytes, at) & 0x7f;
  if (count === 0) throw new DerError('asn1: syntax error: indefinite length found (not DER)');
  if (count > 4) throw new DerError('asn1: structure error: length too large');
  let length = 0;
  for (let i = 1; i <= count; i++) length = length * 256 + byteAt(bytes, at + i);
  if (byteAt(bytes, at + 1) === 0) throw new DerError('asn1: structure error: superfluous leading zeros in length');
  if (length < 0x80) throw new DerError('asn1: structure error: non-minimal length');
  return { length, size: 1 + count };
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw truncated();
  return byte;
}

/** '2.5.29.17'. @throws DerError */
export function objectIdentifier(element: Element | undefined): string {
  const { content } = expectTag(element, tags.objectIdentifier);
  const numbers: number[] = [];
  let number = 0;
  for (const byte of content) {
    number = number * 128 + (byte & 0x7f);
    if (number > Number.MAX_SAFE_INTEGER / 128) throw new DerError('asn1: structure error: base 128 integer too large');
    if (byte < 0x80) {
      numbers.push(number);
      number = 0;
    }
  }
  const [first, ...rest] = numbers;
  if (first === undefined || number !== 0) throw new DerError('asn1: syntax error: truncated base 128 integer');
  const head = Math.min(Math.trunc(first / 40), 2);
  return [head, first - head * 40, ...rest].join('.');
}

/** The bytes of a bit string without unused bits. @throws DerError */
export function bitString(element: Element | undefined): Uint8Array {
  const { content } = expectTag(element, tags.bitString);
  if (content.length === 0) throw new DerError('asn1: syntax error: zero length BIT STRING');
  if (content[0] !== 0) throw new DerError('asn1: syntax error: invalid padding bits in BIT STRING');
  return content.subarray(1);
}

/** Writes an element. */
export function element(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const length = contents.reduce((sum, { length: one }) => sum + one, 0);
  const head = [tag, ...lengthBytes(length)];
  const whole = new Uint8Array(head.length + length);
  whole.set(head);
  let at = head.length;
  for (const content of contents) {
    whole.set(content, at);
    at += content.length;
  }
  return whole;
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.trunc(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}
