import { STATUS_CODES } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { statusErrors } from '../../api/status.ts';
import type { Clock } from '../../world/world.ts';
import { impersonationPrefix } from '../authentication/impersonation.ts';
import type { Exchange, Output, ResponseHead } from '../exchange.ts';
import type { Limits } from '../limits.ts';
import { parseFastPathRequest, type FastPathRequest } from './http1-fast-path-request.ts';

export interface FastPathOptions {
  readonly limits: Limits;
  readonly clock: Clock;
  readonly handle: (exchange: Exchange) => void;
  /** Hands the connection to Node for good; unanswered bytes are in the socket again. */
  readonly fallBack: (socket: TLSSocket) => void;
  /** Whether the server is stopping: then a connection ends with its response. */
  readonly stopping: () => boolean;
}

/**
 * HTTP/1.1 as nearly every client sends it: a request arrives in one piece, and the next one after its response. Such a request costs
 * less here than in Node's parser (docs/decisions/0013-http1-fast-path.md). The first request that is anything else (chunks, an incomplete body,
 * pipelining, an upgrade, an ambiguous header, garbage) goes to Node together with its connection, so that one parser alone judges doubtful bytes.
 */
export class Http1FastPath {
  readonly #serving: FastPathOptions;
  readonly #open = new Set<FastPathConnection>();

  constructor(serving: FastPathOptions) {
    this.#serving = serving;
  }

  accept(socket: TLSSocket): void {
    const connection = new FastPathConnection(socket, this.#serving, () => this.#open.delete(connection));
    this.#open.add(connection);
  }

  closeIdle(): void {
    for (const connection of this.#open) connection.closeIfIdle();
  }
}

class FastPathConnection {
  readonly #socket: TLSSocket;
  readonly #serving: FastPathOptions;
  readonly #gone: () => void;
  #exchange: FastPathExchange | undefined;
  /** Bytes that the client sent before it had its response. */
  #ahead: Buffer | undefined;
  #clientEnded = false;
  /** After its first request, a connection may be idle for longer. */
  #served = false;

  constructor(socket: TLSSocket, serving: FastPathOptions, gone: () => void) {
    this.#socket = socket;
    this.#serving = serving;
    this.#gone = gone;
    socket.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError).on('close', this.#onClose).on('timeout', this.#onTimeout);
    socket.setTimeout(serving.limits.headersMs);
  }

  /** A response under way is still sent. */
  closeIfIdle(): void {
    const { writableLength, writableEnded, writableFinished } = this.#socket;
    if (this.#exchange === undefined && writableLength === 0 && (!writableEnded || writableFinished)) this.#socket.destroy();
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#exchange !== undefined) {
      this.#ahead = this.#ahead === undefined ? chunk : Buffer.concat([this.#ahead, chunk]);
      this.#socket.pause();
      this.#endIfFollowed();
      return;
    }
    const { limits, clock, handle, stopping } = this.#serving;
    const request = parseFastPathRequest(chunk, limits.headerBytes);
    if (request === undefined) {
      this.#fallBack(chunk);
      return;
    }
    if (!this.#served) this.#socket.setTimeout(limits.idleMs);
    this.#served = true;
    this.#exchange = new FastPathExchange(request, this.#socket, { clock, last: stopping, endless: this.#endIfFollowed, over: this.#onAnswered });
    handle(this.#exchange);
  };

  /** No request can follow a watch on its connection; and while its bytes lie unread, the end of the connection would not be noticed. */
  readonly #endIfFollowed = (): void => {
    if (this.#exchange?.endless === true && (this.#ahead !== undefined || this.#clientEnded)) this.#socket.destroy();
  };

  /** The response was written; a client that does not read it gets no further one. */
  readonly #onAnswered = (ended: boolean): void => {
    if (!ended && this.#socket.writableNeedDrain) {
      this.#socket.once('drain', () => this.#onAnswered(false));
      return;
    }
    this.#exchange = undefined;
    if (ended || this.#clientEnded) this.#socket.end();
    else if (this.#ahead !== undefined) this.#fallBack(this.#ahead);
  };

  #fallBack(unread: Buffer): void {
    const socket = this.#socket;
    socket.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError).off('close', this.#onClose).off('timeout', this.#onTimeout);
    socket.setTimeout(0);
    this.#gone();
    socket.unshift(unread);
    this.#serving.fallBack(socket);
    socket.resume();
  }

  readonly #onEnd = (): void => {
    this.#clientEnded = true;
    if (this.#exchange === undefined) this.#socket.end();
    else this.#endIfFollowed();
  };

  /** Between two requests. A request under way has a timeout of its own, and so has an unread response. */
  readonly #onTimeout = (): void => this.closeIfIdle();

  readonly #onError = (): void => void this.#socket.destroy();

  readonly #onClose = (): void => {
    this.#gone();
    this.#exchange?.close();
  };
}

interface ExchangeOptions {
  readonly clock: Clock;
  readonly last: () => boolean;
  /** The response has begun and will not end by itself. */
  readonly endless: () => void;
  /** `ended`: the response said `connection: close`. */
  readonly over: (ended: boolean) => void;
}

/** From this length on a body is not copied behind its headers. */
const copiedBytes = 64 * 1024;

class FastPathExchange implements Exchange {
  readonly protocol = 'HTTP/1.1';
  readonly method: string;
  readonly target: string;
  readonly socket: TLSSocket;
  readonly #request: FastPathRequest;
  readonly #options: ExchangeOptions;
  readonly #whenClosed: (() => void)[] = [];
  #state: 'waiting' | 'answering' | 'over' = 'waiting';
  /** Whether the response is a watch. */
  endless = false;

  constructor(request: FastPathRequest, socket: TLSSocket, options: ExchangeOptions) {
    this.#request = request;
    this.#options = options;
    this.method = request.method;
    this.target = request.target;
    this.socket = socket;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name);
  }

  headersWithPrefix(prefix: string): readonly (readonly [string, string])[] {
    // Requests with impersonation headers do not take the fast path.
    return prefix === impersonationPrefix ? [] : [...this.#request.headers].filter(([name]) => name.startsWith(prefix));
  }

  async body(limit: number): Promise<Uint8Array> {
    const { body } = this.#request;
    if (body.length > limit) throw statusErrors.tooLarge(limit);
    return body;
  }

  respond(head: ResponseHead, body: Uint8Array): void {
    // A response that failed midway cannot become another one: the client must see that it is incomplete.
    if (this.#state === 'answering') this.socket.destroy();
    if (this.#state !== 'waiting') return;
    const last = this.#options.last();
    const text = this.#head(head, head.code === 304 ? { last } : { last, length: body.length });
    if (head.code === 304) this.socket.write(text, 'latin1');
    else if (body.length > copiedBytes) {
      this.socket.cork();
      this.socket.write(text, 'latin1');
      this.socket.write(body);
      this.socket.uncork();
    } else {
      const bytes = Buffer.allocUnsafe(text.length + body.length);
      bytes.write(text, 0, 'latin1');
      bytes.set(body, text.length);
      this.socket.write(bytes);
    }
    this.#finish(last);
  }

  open(head: ResponseHead): Output {
    // Once over it stays over: `onClose` calls back at once.
    if (this.#state === 'waiting') this.#state = 'answering';
    const last = this.#options.last();
    const chunked = !head.headers.includes('content-length');
    this.endless = chunked;
    if (this.#state === 'answering') this.socket.write(this.#head(head, { last, chunked }), 'latin1');
    if (chunked) this.#options.endless();
    return new FastPathOutput(this.socket, { chunked, ended: () => this.#finish(last) });
  }

  onClose(callback: () => void): void {
    if (this.#state === 'over') callback();
    else this.#whenClosed.push(callback);
  }

  /** The connection is gone. */
  close(): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    for (const callback of this.#whenClosed.splice(0)) callback();
  }

  #finish(last: boolean): void {
    if (this.#state === 'over') return;
    this.close();
    this.#options.over(last);
  }

  #head({ code, headers }: ResponseHead, { last, length, chunked = false }: { last: boolean; length?: number; chunked?: boolean }): string {
    let text = `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ''}\r\n`;
    for (let i = 0; i < headers.length; i += 2) {
      const value = headers[i + 1] ?? '';
      if (!isHeaderValue(value)) throw new Error(`the response header ${headers[i]} has an invalid character`);
      text += `${headers[i]}: ${value}\r\n`;
    }
    text += `date: ${httpDate(this.#options.clock.now())}\r\n`;
    if (length !== undefined) text += `content-length: ${length}\r\n`;
    if (chunked) text += 'transfer-encoding: chunked\r\n';
    return `${text}connection: ${last ? 'close' : 'keep-alive'}\r\n\r\n`;
  }
}

const isHeaderValue = (value: string): boolean => /^[\t -~\x80-\xff]*$/.test(value);

/** Formatted once a second. */
let lastSecond = { second: Number.NaN, text: '' };

function httpDate(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond.second) lastSecond = { second, text: new Date(second * 1000).toUTCString() };
  return lastSecond.text;
}

class FastPathOutput implements Output {
  readonly #socket: TLSSocket;
  readonly #chunked: boolean;
  readonly #ended: () => void;

  constructor(socket: TLSSocket, { chunked, ended }: { readonly chunked: boolean; readonly ended: () => void }) {
    this.#socket = socket;
    this.#chunked = chunked;
    this.#ended = ended;
  }

  write(bytes: Uint8Array): void {
    // An empty chunk would end the response.
    if (this.#socket.destroyed || bytes.length === 0) return;
    if (!this.#chunked) {
      this.#socket.write(bytes);
      return;
    }
    this.#socket.cork();
    this.#socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1');
    this.#socket.write(bytes);
    this.#socket.write('\r\n', 'latin1');
    this.#socket.uncork();
  }

  buffered(): number {
    return this.#socket.writableLength;
  }

  onceDrained(callback: () => void): void {
    this.#socket.once('drain', callback);
  }

  end(): void {
    if (this.#socket.destroyed) return;
    if (this.#chunked) this.#socket.write('0\r\n\r\n', 'latin1');
    this.#ended();
  }

  abort(): void {
    this.#socket.destroy();
  }
}
