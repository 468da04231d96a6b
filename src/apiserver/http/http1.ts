import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { readBody } from './read-body.ts';
import { type Exchange, type Output, headersWithPrefix, type ResponseHead } from '../exchange.ts';
import type { Limits } from '../limits.ts';

/** HTTP/1.1. Bodies are written whole with their length, or in chunks. */
export class Http1Exchange implements Exchange {
  readonly protocol = 'HTTP/1.1';
  readonly method: string;
  readonly target: string;
  readonly socket: TLSSocket;
  private readonly request: IncomingMessage;
  private readonly response: ServerResponse;
  private readonly limits: Limits;
  /** Whether the server is stopping: then the connection ends with this response. */
  private readonly last: () => boolean;

  constructor(request: IncomingMessage, response: ServerResponse, options: { limits: Limits; last: () => boolean }) {
    this.request = request;
    this.response = response;
    this.method = request.method ?? '';
    this.target = request.url ?? '/';
    this.socket = request.socket as TLSSocket;
    this.limits = options.limits;
    this.last = options.last;
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return typeof value === 'string' ? value : value?.[0];
  }

  headersWithPrefix(prefix: string): readonly (readonly [string, string])[] {
    return headersWithPrefix(this.request.rawHeaders, prefix);
  }

  body(limit: number): Promise<Uint8Array> {
    const announced = this.request.headers['content-length'];
    const length = announced === undefined ? (this.request.headers['transfer-encoding'] === undefined ? 0 : Number.NaN) : Number(announced);
    const bounds = { limit, discarded: this.limits.discardedBodyBytes, giveUp: () => this.socket.destroy() };
    return readBody(this.request, length, bounds);
  }

  respond(head: ResponseHead, body: Uint8Array): void {
    // A response that failed midway cannot become another one: the client must see that it is incomplete.
    if (this.response.headersSent) this.response.destroy();
    if (this.response.destroyed) return;
    this.writeHead(head, body.length);
    this.response.end(this.method === 'HEAD' || head.code === 304 ? undefined : body);
  }

  open(head: ResponseHead): Output {
    this.writeHead(head, undefined);
    this.response.flushHeaders();
    return new Http1Output(this.response);
  }

  onClose(callback: () => void): void {
    if (this.response.destroyed) callback();
    else this.response.once('close', callback);
  }

  private writeHead(head: ResponseHead, length: number | undefined): void {
    const headers = [...head.headers];
    if (length !== undefined && head.code !== 304) headers.push('content-length', String(length));
    if (this.last()) headers.push('connection', 'close');
    this.response.writeHead(head.code, headers);
  }
}

class Http1Output implements Output {
  private readonly response: ServerResponse;
  constructor(response: ServerResponse) {
    this.response = response;
  }
  write(bytes: Uint8Array): void {
    this.response.write(bytes);
  }
  buffered(): number {
    return this.response.writableLength;
  }
  onceDrained(callback: () => void): void {
    this.response.once('drain', callback);
  }
  end(): void {
    this.response.end();
  }
  abort(): void {
    this.response.destroy();
  }
}
