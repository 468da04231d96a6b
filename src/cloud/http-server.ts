import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LostAnswer } from './engine/errors.ts';
import type { HttpAnswer, HttpRequest } from './ec2/endpoint.ts';

export interface CloudServer {
  /** 'http://127.0.0.1:4566' */
  readonly url: string;
  close(): Promise<void>;
}

/** A request of EC2 is a form of a few kilobytes; user data may have 16. */
const mostBytes = 1024 * 1024;

/** Serves `handle` over HTTP. A lost answer ends the connection after the effect. */
export async function serveCloud(
  listen: { readonly host: string; readonly port: number },
  handle: (request: HttpRequest) => Promise<HttpAnswer> | HttpAnswer,
): Promise<CloudServer> {
  const server = createServer({ requestTimeout: 60_000 }, (request, response) => void respond(request, response, handle));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listen.port, listen.host, () => resolve());
  });
  const { address, port } = server.address() as AddressInfo;
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function respond(request: IncomingMessage, response: ServerResponse, handle: (request: HttpRequest) => Promise<HttpAnswer> | HttpAnswer): Promise<void> {
  try {
    const body = await bodyOf(request);
    if (body === undefined) {
      response.writeHead(413).end();
      return;
    }
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : (value ?? '')]));
    const answer = await handle({ method: request.method ?? 'GET', path: request.url ?? '/', headers, body });
    response.writeHead(answer.status, { ...answer.headers, 'content-length': String(Buffer.byteLength(answer.body)) }).end(answer.body);
  } catch (error) {
    if (error instanceof LostAnswer) request.socket.destroy();
    else if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' }).end(error instanceof Error ? error.message : 'internal error');
    else request.socket.destroy();
  }
}

/** Undefined: it is too long. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
