import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { statusErrors } from '../../api/status.ts';
import type { Upgrade } from '../../streams/upgrades.ts';
import { type Exchange, type Output, headersWithPrefix, type ResponseHead } from '../exchange.ts';

/** An HTTP/1.1 request with an Upgrade header. A plain response ends the connection. */
export class UpgradeExchange implements Exchange {
  readonly protocol = 'HTTP/1.1';
  readonly method: string;
  readonly target: string;
  readonly socket: TLSSocket;
  readonly #request: IncomingMessage;
  readonly #head: Buffer;

  constructor(request: IncomingMessage, head: Buffer) {
    this.#request = request;
    this.#head = head;
    this.method = request.method ?? '';
    this.target = request.url ?? '/';
    this.socket = request.socket as TLSSocket;
    this.socket.on('error', () => this.socket.destroy());
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return typeof value === 'string' ? value : value?.[0];
  }

  headersWithPrefix(prefix: string): readonly (readonly [string, string])[] {
    return headersWithPrefix(this.#request.rawHeaders, prefix);
  }

  /** From now on the connection is the caller's. */
  readonly upgrade: Upgrade = () => ({ request: this.#request, socket: this.socket, head: this.#head });

  /** As long as its content-length says: nothing else ends it. */
  async body(limit: number): Promise<Uint8Array> {
    const length = Number(this.header('content-length') ?? 0);
    if (this.header('transfer-encoding') !== undefined || length > limit) throw statusErrors.tooLarge(limit);
    const parts = [this.#head];
    for (let received = this.#head.length; received < length; ) {
      const part = await nextChunk(this.socket);
      parts.push(part);
      received += part.length;
    }
    return Buffer.concat(parts).subarray(0, length);
  }

  respond(head: ResponseHead, body: Uint8Array): void {
    if (this.socket.destroyed || this.socket.writableEnded) return;
    this.socket.write(this.#headOf(head, ['content-length', String(body.length)]));
    if (this.method === 'HEAD') this.socket.end();
    else this.socket.end(body);
  }

  open(head: ResponseHead): Output {
    const { socket } = this;
    socket.write(this.#headOf(head, []));
    return {
      write: (bytes) => void socket.write(bytes),
      buffered: () => socket.writableLength,
      onceDrained: (callback) => void socket.once('drain', callback),
      end: () => void socket.end(),
      abort: () => void socket.destroy(),
    };
  }

  onClose(callback: () => void): void {
    if (this.socket.destroyed) callback();
    else this.socket.once('close', callback);
  }

  #headOf({ code, headers }: ResponseHead, more: readonly string[]): string {
    const all = [...headers, ...more, 'connection', 'close'];
    const lines = [`HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ''}`];
    for (let i = 0; i + 1 < all.length; i += 2) lines.push(`${all[i]}: ${all[i + 1]}`);
    return `${lines.join('\r\n')}\r\n\r\n`;
  }
}

function nextChunk(socket: Duplex): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      socket.off('data', onData).off('close', onClose);
      socket.pause();
      resolve(chunk);
    };
    const onClose = (): void => reject(statusErrors.badRequest('the request body was not sent completely'));
    socket.on('data', onData).on('close', onClose);
    socket.resume();
  });
}
