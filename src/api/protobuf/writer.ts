const shortLength = 32;

/**
 * Writes a protobuf message from its end to its start: the length of a nested message is known once it is written,
 * so everything is visited once and nothing is copied.
 */
export class BackwardWriter {
  #buffer: Buffer;
  #start: number;

  constructor(capacity = 1024) {
    this.#buffer = Buffer.allocUnsafe(capacity);
    this.#start = capacity;
  }

  /** How many bytes are written; the difference of two is the length of what was written in between. */
  get length(): number {
    return this.#buffer.length - this.#start;
  }

  finish(): Uint8Array {
    return new Uint8Array(this.#buffer.subarray(this.#start));
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#start -= bytes.length;
    this.#buffer.set(bytes, this.#start);
  }

  string(text: string): void {
    if (text.length <= shortLength && this.#shortAscii(text)) return;
    const length = Buffer.byteLength(text);
    this.#reserve(length);
    this.#start -= length;
    this.#buffer.write(text, this.#start, length, 'utf8');
  }

  /** Most strings are short and ASCII: writing them here is faster than calling out. False: it is not ASCII, nothing is written. */
  #shortAscii(text: string): boolean {
    this.#reserve(text.length);
    const start = this.#start - text.length;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      this.#buffer[start + i] = code;
    }
    this.#start = start;
    return true;
  }

  /** A whole number; negative ones as 64-bit two's complement. */
  varint(value: number): void {
    if (value >= 0 && value < 0x80) {
      this.#reserve(1);
      this.#buffer[--this.#start] = value;
    } else if (value >= 0 && value <= 0x7fffffff) this.#smallVarint(value);
    else this.#largeVarint(BigInt.asUintN(64, BigInt(value)));
  }

  double(value: number): void {
    this.#reserve(8);
    this.#start -= 8;
    this.#buffer.writeDoubleLE(value, this.#start);
  }

  tag(field: number, wireType: number): void {
    this.varint((field << 3) | wireType);
  }

  /** Closes what was written since `length` was `before`: puts its length and its tag in front. */
  close(field: number, before: number): void {
    this.varint(this.length - before);
    this.tag(field, 2);
  }

  #smallVarint(value: number): void {
    let size = 1;
    for (let rest = value >>> 7; rest !== 0; rest >>>= 7) size++;
    this.#reserve(size);
    this.#start -= size;
    let rest = value;
    let at = this.#start;
    for (; rest >= 0x80; rest >>>= 7) this.#buffer[at++] = (rest & 0x7f) | 0x80;
    this.#buffer[at] = rest;
  }

  #largeVarint(value: bigint): void {
    const bytes: number[] = [];
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    this.bytes(Uint8Array.from(bytes));
  }

  #reserve(size: number): void {
    if (size <= this.#start) return;
    const used = this.length;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, used + size + 1024));
    this.#buffer.copy(grown, grown.length - used, this.#start);
    this.#buffer = grown;
    this.#start = grown.length - used;
  }
}
