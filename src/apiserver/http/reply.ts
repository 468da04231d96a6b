import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Cancel, Timers } from '../../world/world.ts';
import type { Body } from '../render/body.ts';
import { warningHeaders } from '../render/warnings.ts';
import type { Exchange, Output, ResponseHead } from '../exchange.ts';
import type { Limits } from '../limits.ts';

/** A response ready to be sent. */
export interface Reply {
  readonly code: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: Body;
}

/** A body in pieces up to this length is sent at once. */
const wholeBytes = 512 * 1024;
/** So many bytes may lie in the connection's buffer before the next piece waits. */
const connectionBufferBytes = 1024 * 1024;

export interface SendOptions {
  readonly limits: Limits;
  readonly timers: Timers;
}

/** Headers of every response about resources. */
export function standardHeaders(auditId: string, contentType: string, warnings: readonly string[]): string[] {
  const headers = ['audit-id', auditId, 'cache-control', 'no-cache, private', 'content-type', contentType];
  if (warnings.length > 0) for (const warning of warningHeaders(warnings)) headers.push('warning', warning);
  return headers;
}

/** Sends a response, a long one in pieces as the client reads. Resolves when it is written. */
export async function sendReply(exchange: Exchange, reply: Reply, options: SendOptions): Promise<void> {
  const { body } = reply;
  const length = body.type === 'whole' ? body.bytes.length : body.length;
  const head: ResponseHead = { code: reply.code, headers: reply.headers };
  if (length >= options.limits.gzipFromBytes && takesGzip(exchange)) return sendCompressed(exchange, reply, options);
  if (body.type === 'whole') return exchange.respond(head, body.bytes);
  if (length <= wholeBytes || exchange.method === 'HEAD') return exchange.respond(head, Buffer.concat([...body.pieces], length));
  const output = exchange.open({ code: reply.code, headers: [...reply.headers, 'content-length', String(length)] });
  const client = new SlowClient(exchange, output, options);
  for (const piece of body.pieces) {
    output.write(piece);
    if (!(await client.keepsUp())) return undefined;
  }
  output.end();
  return undefined;
}

/** Compression trades processor time for bytes on a network: on loopback there is no network. */
function takesGzip(exchange: Exchange): boolean {
  const accepted = exchange.header('accept-encoding');
  if (accepted === undefined || !accepted.split(',').some((token) => token.trim() === 'gzip')) return false;
  return !isLoopback(exchange.socket.remoteAddress ?? '');
}

const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');

/** Level 1, as Kubernetes: a little larger than the best, at a fraction of the time. */
async function sendCompressed(exchange: Exchange, reply: Reply, options: SendOptions): Promise<void> {
  const output = exchange.open({ code: reply.code, headers: [...reply.headers, 'content-encoding', 'gzip', 'vary', 'Accept-Encoding'] });
  const client = new SlowClient(exchange, output, options);
  const pieces = reply.body.type === 'whole' ? [reply.body.bytes] : reply.body.pieces;
  await pipeline(Readable.from(pieces), createGzip({ level: 1 }), async (compressed: AsyncIterable<Uint8Array>) => {
    for await (const chunk of compressed) {
      output.write(chunk);
      if (!(await client.keepsUp())) return;
    }
    output.end();
  });
}

/** Waits for a client that reads a long response slowly, and aborts for one that does not read. */
class SlowClient {
  readonly #exchange: Exchange;
  readonly #output: Output;
  readonly #options: SendOptions;
  #gone = false;
  /** Ends the wait under way, if any. */
  #wake: (() => void) | undefined;

  constructor(exchange: Exchange, output: Output, options: SendOptions) {
    this.#exchange = exchange;
    this.#output = output;
    this.#options = options;
    this.#exchange.onClose(() => {
      this.#gone = true;
      this.#wake?.();
    });
  }

  /** Resolves when more can be written; false: never. */
  async keepsUp(): Promise<boolean> {
    if (this.#gone) return false;
    if (this.#output.buffered() < connectionBufferBytes) return true;
    let stall: Cancel | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#output.onceDrained(resolve);
      stall = this.#options.timers.after(this.#options.limits.stalledMs, () => this.#output.abort());
    });
    stall?.();
    return !this.#gone;
  }
}
