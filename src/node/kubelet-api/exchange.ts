/** Requests to the kubelet API and their responses: as HTTP, or after an upgrade on the bare connection. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { Pod } from '../../api/generated/types.ts';
import type { PodStreams } from '../../streams/contract.ts';
import type { UpgradeRequest } from '../../streams/upgrades.ts';

/** What the kubelet API serves. */
export interface KubeletBackend {
  /** The node's pods. */
  readonly pods: () => readonly Pod[];
  readonly streams: PodStreams;
}

export interface KubeletRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly upgrade: UpgradeRequest;
}

export interface KubeletResponse {
  readonly code: number;
  readonly contentType: string;
  readonly body: string | Readable;
}

/** Answered as text. */
export class KubeletError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export const text = (code: number, body: string): KubeletResponse => ({ code, contentType: 'text/plain; charset=utf-8', body });

export interface KubeletResponder extends UpgradeRequest {
  /** Does nothing if the client has disconnected. */
  answer(answer: KubeletResponse): void;
}

const headerOf = (request: IncomingMessage) => ({
  header: (name: string): string | undefined => [request.headers[name] ?? []].flat()[0],
  headersWithPrefix(prefix: string): (readonly [string, string])[] {
    const raw = request.rawHeaders;
    return raw.flatMap((name, i) => (i % 2 === 0 && name.toLowerCase().startsWith(prefix) ? [[name.toLowerCase(), raw[i + 1] ?? ''] as const] : []));
  },
});

export function responderOf(request: IncomingMessage, response: ServerResponse): KubeletResponder {
  return {
    ...headerOf(request),
    answer({ code, contentType, body }) {
      // No request has a body: the connection of a client that sends one is closed.
      const sends = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
      response.writeHead(code, { 'content-type': contentType, 'x-content-type-options': 'nosniff', ...(sends ? { connection: 'close' } : {}) });
      if (typeof body === 'string') return void response.end(body);
      response.flushHeaders();
      response.on('close', () => body.destroy());
      body.on('error', () => response.destroy());
      return void body.pipe(response);
    },
  };
}

export function upgradeResponder(request: IncomingMessage, socket: Duplex, head: Buffer): KubeletResponder {
  const begin = (code: number, lines: readonly string[]) => socket.write([`HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ''}`, ...lines, '', ''].join('\r\n'));
  return {
    ...headerOf(request),
    upgrade: () => ({ request, socket, head }),
    answer({ code, contentType, body }) {
      const bytes = Buffer.from(typeof body === 'string' ? body : '');
      begin(code, [`Content-Type: ${contentType}`, `Content-Length: ${bytes.length}`, 'Connection: close']);
      socket.end(bytes);
    },
  };
}
