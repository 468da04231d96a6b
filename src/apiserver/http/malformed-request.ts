import type { Duplex } from 'node:stream';
import { ApiError, statusErrors } from '../../api/status.ts';
import type { Timers } from '../../world/world.ts';

/** Bytes that are no HTTP, headers without end, a client that takes too long. */
const failures: Readonly<Record<string, { readonly code: number; readonly phrase: string; readonly message: string }>> = {
  HPE_HEADER_OVERFLOW: { code: 431, phrase: 'Request Header Fields Too Large', message: 'the headers of the request are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 408, phrase: 'Request Timeout', message: 'the request did not arrive in time' },
};
const malformed = { code: 400, phrase: 'Bad Request', message: 'the request is not valid HTTP' };

/** A Status that says what is wrong with a request's headers. */
export const badRequestBody = (message: string): Uint8Array => Buffer.from(`${JSON.stringify(statusErrors.badRequest(message).toStatus())}\n`);

const answered = new WeakSet<Duplex>();
/** For which a refused client may go on sending: closed earlier, it would not see the response. */
const lingerMs = 1_000;

/** Answers what Node could not parse, and closes: the next request has no known start. */
export function answerMalformedRequest(error: Error & { code?: string }, socket: Duplex, timers: Timers): void {
  if (answered.has(socket)) return;
  answered.add(socket);
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const failure = failures[error.code ?? ''] ?? malformed;
  const body = `${JSON.stringify(new ApiError(failure.code, 'BadRequest', failure.message).toStatus())}\n`;
  const head = [
    `HTTP/1.1 ${failure.code} ${failure.phrase}`,
    'content-type: application/json',
    'cache-control: no-cache, private',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.resume();
  socket.once(
    'close',
    timers.after(lingerMs, () => socket.destroy()),
  );
}
