import { RpcError } from './status.ts';

/** Before each message: whether it is compressed, and its length. */
const headerLength = 5;

/** gRPC's default for what is received. */
export const defaultMaxMessageBytes = 4 * 1024 * 1024;
/** gRPC's default for what is sent. */
export const defaultMaxSendBytes = 0x7f_ff_ff_ff;

/** Throws ResourceExhausted for a message that is too long. */
export function frame(message: Uint8Array, maxBytes = defaultMaxSendBytes): Buffer {
  if (message.length > maxBytes) throw new RpcError('ResourceExhausted', `trying to send message larger than max (${message.length} vs. ${maxBytes})`);
  const framed = Buffer.allocUnsafe(headerLength + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, headerLength);
  return framed;
}

/**
 * Takes the bytes of a stream as they come, and gives the messages that are complete. What it keeps is copied into one buffer: a peer that
 * sends single bytes costs no more memory than the message.
 */
export class FrameDecoder {
  readonly #maxBytes: number;
  /** The code for a compressed message: a server answers Unimplemented, for a client it is Internal. */
  readonly #compressed: 'Unimplemented' | 'Internal';
  /** An incomplete message, header included: the first `#length` bytes. */
  #buffer = Buffer.alloc(0);
  #length = 0;

  constructor(maxBytes: number, compressed: 'Unimplemented' | 'Internal') {
    this.#maxBytes = maxBytes;
    this.#compressed = compressed;
  }

  /** Throws ResourceExhausted for a message that is too long, before it is buffered. */
  push(chunk: Buffer): readonly Uint8Array[] {
    const messages: Uint8Array[] = [];
    let at = 0;
    while (at < chunk.length) {
      if (this.#length === 0 && chunk.length - at >= headerLength) {
        const end = at + headerLength + this.#messageLength(chunk, at);
        if (end <= chunk.length) {
          messages.push(chunk.subarray(at + headerLength, end));
          at = end;
          continue;
        }
      }
      at += this.#keep(chunk, at);
      const message = this.#complete();
      if (message !== undefined) messages.push(message);
    }
    return messages;
  }

  /** Whether the stream may end here. */
  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Buffers what belongs to the incomplete message, and answers how much that is. */
  #keep(chunk: Buffer, at: number): number {
    const wanted = (this.#length < headerLength ? headerLength : headerLength + this.#messageLength(this.#buffer, 0)) - this.#length;
    const taken = Math.min(wanted, chunk.length - at);
    if (this.#length + taken > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#length + taken, Math.min(this.#length + wanted, this.#buffer.length * 2)));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    chunk.copy(this.#buffer, this.#length, at, at + taken);
    this.#length += taken;
    return taken;
  }

  #complete(): Uint8Array | undefined {
    if (this.#length < headerLength || this.#length < headerLength + this.#messageLength(this.#buffer, 0)) return undefined;
    const message = this.#buffer.subarray(headerLength, this.#length);
    this.#buffer = Buffer.alloc(0);
    this.#length = 0;
    return message;
  }

  #messageLength(header: Buffer, at: number): number {
    const format = header[at];
    if (format === 1) throw new RpcError(this.#compressed, 'grpc: compressed message received: this side announces no compression');
    if (format !== 0) throw new RpcError('Internal', `grpc: received unexpected payload format ${format}`);
    const length = header.readUInt32BE(at + 1);
    if (length > this.#maxBytes) throw new RpcError('ResourceExhausted', `grpc: received message larger than max (${length} vs. ${this.#maxBytes})`);
    return length;
  }
}
