import { type ClientHttp2Session, connect } from 'node:http2';
import https from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import { vi } from 'vitest';
import type { Reachable } from './wire-server.ts';

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
export function send(wire: Reachable, path: string, options: Send = {}): Promise<Reply> {
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

export function credentials(wire: Reachable, as: Send['as'] = 'admin'): { ca: string; cert?: string; key?: string } {
  const { authority, admin } = wire.certificates;
  return as === 'anonymous' ? { ca: authority.certificate } : { ca: authority.certificate, cert: admin.certificate, key: admin.key };
}

export const json = (reply: Reply): Record<string, unknown> => JSON.parse(reply.text) as Record<string, unknown>;

/** Waits until a condition holds; fails with what it was waiting for. */
export function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const look = async (): Promise<void> => {
    if (!(await condition())) throw new Error(`never happened: ${what}`);
  };
  return vi.waitFor(look, { timeout: 60_000, interval: 5 });
}

/** The same over HTTP/2. */
export async function sendHttp2(wire: Reachable, path: string, options: Send = {}): Promise<Reply> {
  const session = connect(wire.server.url, credentials(wire, options.as));
  try {
    return await requestHttp2(session, path, options);
  } finally {
    session.close();
  }
}

export function requestHttp2(session: ClientHttp2Session, path: string, options: Send = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    session.on('error', reject);
    const stream = session.request({ ':path': path, ':method': options.method ?? 'GET', ...options.headers }, { endStream: options.body === undefined });
    const chunks: Buffer[] = [];
    let headers: IncomingHttpHeaders = {};
    let code = 0;
    stream.on('response', (received) => {
      code = received[':status'] ?? 0;
      headers = received;
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject);
    stream.on('close', () => (code === 0 ? reject(new Error('no answer')) : resolve({ code, headers, text: Buffer.concat(chunks).toString() })));
    if (options.body !== undefined) stream.end(options.body);
  });
}
