import type { Readable } from 'node:stream';
import type { APIService } from '../../api/generated/types.ts';
import type { Address } from '../admission/webhooks/service-resolver.ts';
import type { User } from '../api.ts';

/** A request to the server behind an APIService. */
export interface RemoteCall {
  readonly service: APIService;
  readonly address: Address;
  readonly user: User;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

export interface RemoteAnswer {
  readonly code: number;
  /** Name and value in turn. */
  readonly rawHeaders: readonly string[];
  readonly body: Readable;
}

/** Sends requests to the servers behind APIServices, as the front proxy that they trust. */
export interface RemoteServers {
  /** Resolves with the head of the answer. @throws Error in Go's words */
  send(call: RemoteCall): Promise<RemoteAnswer>;
  /** Closes idle connections. */
  stop(): void;
}

/** @throws Error beyond `limit` */
export async function wholeBody(body: Readable, limit: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) {
      body.destroy();
      throw new Error(`the answer is larger than ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
