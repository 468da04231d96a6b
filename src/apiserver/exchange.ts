import type { TLSSocket } from 'node:tls';
import type { Upgrade } from '../streams/upgrades.ts';

/** One request and its response, over any version of HTTP. */
export interface Exchange {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  /** undefined if absent. A header sent twice is joined, or its first value counts, as HTTP says. */
  header(name: string): string | undefined;
  /** Each value of the headers whose lower-case names have this prefix. */
  headersWithPrefix(prefix: string): readonly (readonly [name: string, value: string])[];
  readonly socket: TLSSocket;
  readonly protocol: 'HTTP/1.1' | 'HTTP/2.0';
  /** The whole body. @throws ApiError 413 beyond `limit`, 400 if the client broke off. */
  body(limit: number): Promise<Uint8Array>;
  /** Sends a whole response. */
  respond(head: ResponseHead, body: Uint8Array): void;
  /** Begins a response that is written in pieces. */
  open(head: ResponseHead): Output;
  /** Of a request for another protocol. */
  readonly upgrade?: Upgrade;
  /** Called once when the exchange is over: answered, or aborted by either side. */
  onClose(callback: () => void): void;
}

/** The same for a list of alternating names and values. */
export function headersWithPrefix(raw: readonly string[], prefix: string): readonly (readonly [string, string])[] {
  const found: [string, string][] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]?.toLowerCase() ?? '';
    if (name.startsWith(prefix)) found.push([name, raw[i + 1] ?? '']);
  }
  return found;
}

export interface ResponseHead {
  readonly code: number;
  /** Name and value in turn; names in lower case. */
  readonly headers: readonly string[];
}

/** A response under way. */
export interface Output {
  write(bytes: Uint8Array): void;
  /** Bytes written that the client has not read yet. */
  buffered(): number;
  /** Calls back once when what is buffered has drained. */
  onceDrained(callback: () => void): void;
  end(): void;
  /** Ends without completing the response, so that the client sees that it is incomplete. */
  abort(): void;
}
