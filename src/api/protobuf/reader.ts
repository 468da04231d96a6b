/** What is wrong with protobuf bytes, in the words of Go's generated code. */
export class ProtobufError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtobufError';
  }
}

const endOfInput = 'unexpected EOF';
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

export interface Tag {
  readonly field: number;
  readonly wireType: number;
}

/** Reads the fields of one protobuf message. */
export class MessageReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  tag(): Tag {
    const tag = this.varint();
    const field = Math.floor(tag / 8);
    if (field <= 0) throw new ProtobufError(`proto: illegal tag ${field} (wire type ${tag})`);
    return { field, wireType: tag % 8 };
  }

  /** As a number; what is beyond 2^53 is as close as a double comes. Above 2^63 it is negative. */
  varint(): number {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new ProtobufError(endOfInput);
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high |= bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) return high * 0x1_0000_0000 + (low >>> 0);
    }
    throw new ProtobufError('proto: integer overflow');
  }

  bytes(): Uint8Array {
    const length = this.varint();
    const end = this.#at + length;
    if (length < 0 || end > this.#bytes.length) throw new ProtobufError(length < 0 ? 'proto: negative length found during unmarshaling' : endOfInput);
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  string(): string {
    return utf8.decode(this.bytes());
  }

  skip(wireType: number): void {
    switch (wireType) {
      case 0:
        this.varint();
        return;
      case 1:
        this.#advance(8);
        return;
      case 2:
        this.bytes();
        return;
      case 5:
        this.#advance(4);
        return;
      default:
        throw new ProtobufError(`proto: illegal wireType ${wireType}`);
    }
  }

  #advance(count: number): void {
    this.#at += count;
    if (this.#at > this.#bytes.length) throw new ProtobufError(endOfInput);
  }
}
