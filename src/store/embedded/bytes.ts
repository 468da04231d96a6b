/** Appends numbers, keys and values to a buffer that grows. */
export class ByteWriter {
  #bytes: Buffer;
  #length = 0;

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }

  get length(): number {
    return this.#length;
  }

  get capacity(): number {
    return this.#bytes.length;
  }

  /** What was written so far; valid until the next write. */
  get written(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  /** Leaves room for what is known only later; returns where it is. */
  reserve(size: number): number {
    this.#grow(size);
    const at = this.#length;
    this.#length += size;
    return at;
  }

  byte(value: number): void {
    this.#grow(1);
    this.#bytes[this.#length++] = value;
  }

  double(value: number): void {
    const at = this.reserve(8);
    this.#bytes.writeDoubleLE(value, at);
  }

  /** An integer from 0 to 2^53 - 1, seven bits a byte, the low ones first. */
  integer(value: number): void {
    this.#grow(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** A length, then bytes. */
  value(value: Uint8Array): void {
    this.integer(value.byteLength);
    const at = this.reserve(value.byteLength);
    this.#bytes.set(value, at);
  }

  /** Twice the length in characters, then one byte each; plus one and two bytes each if one byte does not hold them all. */
  key(key: string): void {
    this.integer(key.length * 2);
    const start = this.reserve(key.length);
    for (let i = 0; i < key.length; i++) {
      const code = key.charCodeAt(i);
      if (code > 0xff) {
        this.#length = start - integerSize(key.length * 2);
        this.#wideKey(key);
        return;
      }
      this.#bytes[start + i] = code;
    }
  }

  #wideKey(key: string): void {
    this.integer(key.length * 2 + 1);
    const at = this.reserve(key.length * 2);
    this.#bytes.write(key, at, 'utf16le');
  }

  #grow(size: number): void {
    if (this.#length + size <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + size));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

function integerSize(value: number): number {
  let size = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
  return size;
}

/** Reads what a ByteWriter wrote. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#at = 0;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#at++);
  }

  double(): number {
    this.#at += 8;
    return this.#bytes.readDoubleLE(this.#at - 8);
  }

  integer(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  /** A copy, which does not keep the bytes around it in memory. */
  value(): Uint8Array {
    return new Uint8Array(this.#take(this.integer()));
  }

  key(): string {
    const size = this.integer();
    const length = Math.floor(size / 2);
    return size % 2 === 0 ? this.#take(length).toString('latin1') : this.#take(length * 2).toString('utf16le');
  }

  #take(size: number): Buffer {
    this.#at += size;
    if (this.#at > this.#bytes.length) throw new RangeError('a record reaches beyond its frame');
    return this.#bytes.subarray(this.#at - size, this.#at);
  }
}
