import type { TLSSocket } from 'node:tls';
import type { Upgrade } from '../streams/upgrades.ts';

/** One request and the place of its answer, whichever version of HTTP carries it. */
export interface Exchange {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  /** undefined if absent; of a header sent twice, what the protocol says (joined, or the first). */
  header(name: string): string | undefined;
  /** Every value by itself of the headers whose names, in lower case, begin so. */
  headersWithPrefix(prefix: string): readonly (readonly [name: string, value: string])[];
  readonly socket: TLSSocket;
  readonly protocol: 'HTTP/1.1' | 'HTTP/2.0';
  /** The whole body. @throws ApiError 413 beyond `limit`, 400 if the client broke off. */
  body(limit: number): Promise<Uint8Array>;
  /** Answers at once and whole. */
  respond(head: ResponseHead, body: Uint8Array): void;
  /** Begins an answer that is written piece by piece. */
  open(head: ResponseHead): Output;
  /** Of a request for another protocol. */
  readonly upgrade?: Upgrade;
  /** Called once when the exchange is over: answered, or broken off by either side. */
  onClose(callback: () => void): void;
}

/** The same of a list of names and values in turn. */
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

/** An answer under way. */
export interface Output {
  write(bytes: Uint8Array): void;
  /** Bytes written that the client has not taken yet. */
  buffered(): number;
  /** Calls back once when what is buffered has drained. */
  onceDrained(callback: () => void): void;
  end(): void;
  /** Ends without completing the answer, so that the client knows that something is missing. */
  abort(): void;
}
