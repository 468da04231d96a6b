import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Timers } from '../../world/world.ts';
import { readBody } from './read-body.ts';
import { type Exchange, type Output, headersWithPrefix, type ResponseHead } from '../exchange.ts';
import type { Limits } from '../limits.ts';

/** The default flow-control window of HTTP/2. */
const defaultWindow = 65_535;

interface Http2Options {
  readonly socket: TLSSocket;
  /** Names and values in turn, as sent. */
  readonly rawHeaders: readonly string[];
  readonly limits: Limits;
  readonly timers: Timers;
}

/** One HTTP/2 stream. */
export class Http2Exchange implements Exchange {
  readonly protocol = 'HTTP/2.0';
  readonly method: string;
  readonly target: string;
  readonly socket: TLSSocket;
  private readonly stream: ServerHttp2Stream;
  private readonly headers: IncomingHttpHeaders;
  private readonly rawHeaders: readonly string[];
  private readonly limits: Limits;
  private readonly timers: Timers;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, options: Http2Options) {
    this.stream = stream;
    this.headers = headers;
    this.method = headers[':method'] ?? '';
    this.target = headers[':path'] ?? '/';
    this.rawHeaders = options.rawHeaders;
    this.socket = options.socket;
    this.limits = options.limits;
    this.timers = options.timers;
  }

  header(name: string): string | undefined {
    const value = this.headers[name];
    return typeof value === 'string' ? value : value?.[0];
  }

  headersWithPrefix(prefix: string): readonly (readonly [string, string])[] {
    return headersWithPrefix(this.rawHeaders, prefix);
  }

  body(limit: number): Promise<Uint8Array> {
    const announced = this.headers['content-length'];
    const length = this.stream.endAfterHeaders ? 0 : announced === undefined ? Number.NaN : Number(announced);
    const giveUp = () => this.stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    return readBody(this.stream, length, { limit, discarded: this.limits.discardedBodyBytes, giveUp });
  }

  respond(head: ResponseHead, body: Uint8Array): void {
    // A response that failed midway cannot become another one: the client must see that it is incomplete.
    if (this.stream.headersSent) this.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    if (this.gone()) return;
    const headers = headersOf(head);
    headers['content-length'] = String(body.length);
    if (this.method === 'HEAD' || head.code === 304 || body.length === 0) this.stream.respond(headers, { endStream: true });
    else {
      this.stream.respond(headers);
      this.stream.end(body);
      if (body.length > defaultWindow) this.giveUpIfStalled();
    }
    this.stopReading();
  }

  /** Resets the stream of a client that opens no window for the response. */
  private giveUpIfStalled(): void {
    this.stream.once(
      'close',
      this.timers.after(this.limits.stalledMs, () => this.stream.close(constants.NGHTTP2_CANCEL)),
    );
  }

  /** An unread body would keep its stream open for ever: after the response the client is told to stop sending. */
  private stopReading(): void {
    if (!this.stream.endAfterHeaders && !this.stream.readableEnded) this.stream.close(constants.NGHTTP2_NO_ERROR);
  }

  open(head: ResponseHead): Output {
    if (!this.gone()) this.stream.respond(headersOf(head));
    return new Http2Output(this.stream);
  }

  onClose(callback: () => void): void {
    if (this.stream.destroyed) callback();
    else this.stream.once('close', callback);
  }

  private gone(): boolean {
    return this.stream.destroyed || this.stream.closed;
  }
}

function headersOf(head: ResponseHead): Record<string, string | number | string[]> {
  const headers: Record<string, string | number | string[]> = { ':status': head.code };
  for (let i = 0; i + 1 < head.headers.length; i += 2) {
    const name = head.headers[i] ?? '';
    const value = head.headers[i + 1] ?? '';
    const before = headers[name];
    headers[name] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [String(before), value];
  }
  return headers;
}

class Http2Output implements Output {
  private readonly stream: ServerHttp2Stream;
  constructor(stream: ServerHttp2Stream) {
    this.stream = stream;
  }
  write(bytes: Uint8Array): void {
    if (!this.stream.destroyed) this.stream.write(bytes);
  }
  buffered(): number {
    return this.stream.writableLength;
  }
  onceDrained(callback: () => void): void {
    this.stream.once('drain', callback);
  }
  end(): void {
    this.stream.end();
  }
  abort(): void {
    this.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }
}
