import https from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import type { WireServer } from './wire-server.ts';

export interface Reply {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Send {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
  /** Whom to be; the administrator by certificate unless said. */
  readonly as?: 'admin' | 'anonymous';
}

/** One request over HTTP/1.1, on a connection of its own. */
export function send(wire: WireServer, path: string, options: Send = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = https.request(
      wire.server.url + path,
      { agent: false, method: options.method ?? 'GET', headers: options.headers, ...credentials(wire, options.as) },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => resolve({ code: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() }));
      },
    );
    request.on('error', reject);
    request.end(options.body);
  });
}

export function credentials(wire: WireServer, as: Send['as'] = 'admin'): { ca: string; cert?: string; key?: string } {
  const { authority, admin } = wire.certificates;
  return as === 'anonymous' ? { ca: authority.certificate } : { ca: authority.certificate, cert: admin.certificate, key: admin.key };
}

export const json = (reply: Reply): Record<string, unknown> => JSON.parse(reply.text) as Record<string, unknown>;

/** Waits until a condition holds; fails with what it was waiting for. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
