import type { Readable } from 'node:stream';
import { statusErrors } from '../../api/status.ts';

export interface BodyBounds {
  readonly limit: number;
  readonly discarded: number;
  /** Called when even `discarded` is exceeded. */
  readonly giveUp: () => void;
}

const nothing = new Uint8Array(0);

/**
 * Reads a body to its end.
 *
 * A body that is too long is refused as soon as that is known, but read on for a while: a server that closes a
 * connection with bytes unread makes the client's kernel drop the answer that explains why.
 */
export function readBody(source: Readable, announced: number, bounds: BodyBounds): Promise<Uint8Array> {
  if (announced === 0) return Promise.resolve(nothing);
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    let open = true;
    const refuse = (error: () => Error): void => {
      if (!open) return;
      open = false;
      chunks.length = 0;
      reject(error());
    };
    const tooLarge = (): void => refuse(() => statusErrors.tooLarge(bounds.limit));
    const brokenOff = (): void => refuse(() => statusErrors.badRequest('the request body was not sent completely'));
    if (source.destroyed) brokenOff();
    if (announced > bounds.limit) tooLarge();
    source.on('data', (chunk: Uint8Array) => {
      length += chunk.length;
      if (length > bounds.limit) tooLarge();
      if (open) chunks.push(chunk);
      else if (length > bounds.limit + bounds.discarded) bounds.giveUp();
    });
    source.once('end', () => {
      open = false;
      resolve(chunks.length === 1 ? (chunks[0] ?? nothing) : Buffer.concat(chunks));
    });
    source.once('error', brokenOff);
    source.once('close', brokenOff);
  });
}
