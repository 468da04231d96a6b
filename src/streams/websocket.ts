import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';

/** The server's side of a WebSocket (RFC 6455): whole messages in, binary messages out. */
export interface WebSocketEvents {
  onMessage(message: Buffer): void;
  /** Once, however it ended. */
  onClose(): void;
}

/** What a client has to be answered with, besides 101, if it speaks one of these protocols; undefined: it speaks none, or no WebSocket. */
export function handshake(
  header: (name: string) => string | undefined,
  protocols: readonly string[],
): { readonly protocol: string; readonly headers: readonly string[] } | undefined {
  const key = header('sec-websocket-key') ?? '';
  const offered = (header('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim());
  const protocol = offered.find((name) => protocols.includes(name));
  if (Buffer.from(key, 'base64').length !== 16 || header('sec-websocket-version') !== '13' || protocol === undefined) return undefined;
  const accepted = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  return { protocol, headers: ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accepted}`, `Sec-WebSocket-Protocol: ${protocol}`] };
}

const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const closeCodes = { normal: 1000, protocolError: 1002, tooLarge: 1009 } as const;

/** Clients send standard input in pieces of some tens of KiB. */
const maxMessageBytes = 4 * 1024 * 1024;

export class WebSocketConnection {
  readonly #socket: Duplex;
  readonly #events: WebSocketEvents;
  #unread: Buffer;
  #parts: Buffer[] = [];
  #partsLength = 0;
  #isOpen = true;

  /** `head`: what came right behind the request. */
  constructor(socket: Duplex, head: Buffer, events: WebSocketEvents) {
    this.#socket = socket;
    this.#events = events;
    this.#unread = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#end());
    socket.on('end', () => socket.end());
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    if (head.length > 0) this.#receive(head);
  }

  /** False: wait for `onceDrained` before you send more. */
  send(message: Uint8Array): boolean {
    return this.#isOpen && this.#frame(opcodes.binary, message);
  }

  onceDrained(callback: () => void): void {
    if (this.#socket.destroyed) return;
    this.#socket.once('drain', callback);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(code: number = closeCodes.normal): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const reason = Buffer.alloc(2);
    reason.writeUInt16BE(code);
    this.#frame(opcodes.close, reason);
    this.#socket.end();
    this.#events.onClose();
  }

  #end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#events.onClose();
  }

  #receive(chunk: Buffer): void {
    this.#unread = this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk]);
    while (this.#isOpen) {
      const frame = readFrame(this.#unread);
      if (frame === 'incomplete') return;
      if (typeof frame === 'number') return this.close(frame);
      this.#unread = this.#unread.subarray(frame.length);
      this.#take(frame);
    }
  }

  #take({ opcode, isLast, payload }: Frame): void {
    switch (opcode) {
      case opcodes.ping:
        this.#frame(opcodes.pong, payload);
        return;
      case opcodes.pong:
        return;
      case opcodes.close:
        return this.close();
      case opcodes.continuation:
      case opcodes.text:
      case opcodes.binary:
        return this.#collect(opcode === opcodes.continuation, isLast, payload);
      default:
        return this.close(closeCodes.protocolError);
    }
  }

  #collect(goesOn: boolean, isLast: boolean, payload: Buffer): void {
    // A message that goes on must have begun, and one that begins must not be in the middle of another.
    if (goesOn !== this.#parts.length > 0) return this.close(closeCodes.protocolError);
    this.#parts.push(payload);
    this.#partsLength += payload.length;
    if (this.#partsLength > maxMessageBytes) return this.close(closeCodes.tooLarge);
    if (!isLast) return;
    const message = this.#parts.length === 1 ? payload : Buffer.concat(this.#parts);
    [this.#parts, this.#partsLength] = [[], 0];
    this.#events.onMessage(message);
  }

  #frame(opcode: number, payload: Uint8Array): boolean {
    if (this.#socket.destroyed || this.#socket.writableEnded) return true;
    const { length } = payload;
    const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
    head[0] = 0x80 | opcode;
    if (length < 126) head[1] = length;
    else if (length < 65_536) {
      head[1] = 126;
      head.writeUInt16BE(length, 2);
    } else {
      head[1] = 127;
      head.writeBigUInt64BE(BigInt(length), 2);
    }
    return this.#socket.write(Buffer.concat([head, payload]));
  }
}

interface Frame {
  readonly opcode: number;
  readonly isLast: boolean;
  readonly payload: Buffer;
  /** Of the whole frame. */
  readonly length: number;
}

/** A frame; or the code to close with, because no client may send such. */
function readFrame(bytes: Buffer): Frame | 'incomplete' | number {
  if (bytes.length < 2) return 'incomplete';
  const [first = 0, second = 0] = bytes;
  const opcode = first & 0x0f;
  const short = second & 0x7f;
  const isControl = opcode >= 8;
  // No extension was agreed on, clients mask, and control frames are short and whole.
  if ((first & 0x70) !== 0 || (second & 0x80) === 0 || (isControl && (short > 125 || (first & 0x80) === 0))) return closeCodes.protocolError;
  const lengthBytes = short < 126 ? 0 : short === 126 ? 2 : 8;
  if (bytes.length < 6 + lengthBytes) return 'incomplete';
  const length = lengthBytes === 0 ? short : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (length > maxMessageBytes) return closeCodes.tooLarge;
  const from = 6 + lengthBytes;
  if (bytes.length < from + length) return 'incomplete';
  const mask = bytes.subarray(from - 4, from);
  const payload = Buffer.allocUnsafe(length);
  for (let i = 0; i < length; i++) payload[i] = (bytes[from + i] ?? 0) ^ (mask[i & 3] ?? 0);
  return { opcode, isLast: (first & 0x80) !== 0, payload, length: from + length };
}
