/** Invalid protobuf, in the words of Go's generated code. */
export class ProtobufError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtobufError';
  }
}

const endOfInput = 'unexpected EOF';
const maxTag = 2 ** 32;

/** A field's number and wire type, as they are written: in one number. */
export type Tag = number;
export const fieldOf = (tag: Tag): number => tag >>> 3;
export const wireTypeOf = (tag: Tag): number => tag & 7;

/** Reads the fields of one protobuf message. */
export class MessageReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  tag(): Tag {
    const tag = this.varint();
    if (tag < 8 || tag >= maxTag) throw new ProtobufError(`proto: illegal tag ${Math.floor(tag / 8)} (wire type ${tag})`);
    return tag;
  }

  /** As a number; beyond 2^53 it is rounded. From 2^63 on it is negative. */
  varint(): number {
    const first = this.#bytes[this.#at];
    if (first !== undefined && first < 0x80) {
      this.#at++;
      return first;
    }
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

  double(): number {
    const start = this.#at;
    this.#advance(8);
    return this.#bytes.readDoubleLE(start);
  }

  bytes(): Uint8Array {
    const start = this.#pastLength();
    return this.#bytes.subarray(start, this.#at);
  }

  string(): string {
    const start = this.#pastLength();
    // Most strings in a message of Kubernetes are empty.
    return start === this.#at ? '' : this.#bytes.toString('utf8', start, this.#at);
  }

  /** Skips a length-delimited field; returns its start. */
  #pastLength(): number {
    const length = this.varint();
    const start = this.#at;
    if (length < 0) throw new ProtobufError('proto: negative length found during unmarshaling');
    if (start + length > this.#bytes.length) throw new ProtobufError(endOfInput);
    this.#at = start + length;
    return start;
  }

  skip(tag: Tag): void {
    const wireType = wireTypeOf(tag);
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
