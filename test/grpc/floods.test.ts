/** Peers that flood, or fall silent: memory stays bounded, and the next call works. */
import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2, constants, type OutgoingHttpHeaders } from 'node:http2';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CallHandler } from '../../src/grpc/channel.ts';
import { frame } from '../../src/grpc/frames.ts';
import { Http2Channel } from '../../src/grpc/http2-channel.ts';
import { GrpcServer } from '../../src/grpc/http2-server.ts';
import { createRealWorld } from '../../src/host/world.ts';

const { timers } = createRealWorld({ logLevel: 'silent' });
const mebibyte = 1024 * 1024;

let folder: string;
let socket: string;
let closers: (() => unknown)[];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'mooring-grpc-'));
  socket = path.join(folder, 's.sock');
  closers = [];
});
afterEach(async () => {
  for (const close of closers.reverse()) await close();
  rmSync(folder, { recursive: true });
});

describe('a client that floods', () => {
  let yielded: number;
  const handlers = new Map<string, CallHandler>([
    [
      '/test.Calls/Echo',
      async function* echo({ requests }) {
        for await (const request of requests) yield request;
      },
    ],
    [
      '/test.Calls/Endless',
      // oxlint-disable-next-line require-await
      async function* endless() {
        for (;;) {
          yielded++;
          yield new Uint8Array(64 * 1024);
        }
      },
    ],
    [
      '/test.Calls/Wait',
      // oxlint-disable-next-line require-yield
      async function* wait({ signal }) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    ],
  ]);
  let channel: Http2Channel;

  beforeEach(async () => {
    yielded = 0;
    const server = new GrpcServer(handlers);
    await server.listen(`unix://${socket}`, { timers });
    closers.push(() => server.close());
    channel = new Http2Channel({ address: `unix://${socket}`, timers });
    closers.push(() => channel.close());
  });

  const echo = () => channel.unary('/test.Calls/Echo', new Uint8Array(10));

  function openSession(): ClientHttp2Session {
    const session = connectHttp2('http://localhost', { createConnection: () => connect(socket) });
    session.on('error', () => undefined);
    closers.push(() => session.destroy());
    return session;
  }
  const open = (session: ClientHttp2Session, method: string, headers: OutgoingHttpHeaders = {}) =>
    session.request({ ':method': 'POST', ':path': `/test.Calls/${method}`, 'content-type': 'application/grpc', te: 'trailers', ...headers });

  test('a peer that never reads: the server stops, and answers others', async () => {
    const stream = open(openSession(), 'Endless');
    stream.on('error', () => undefined).pause();
    await new Promise((resolve) => void stream.once('response', resolve));
    for (let i = 0; i < 200; i++) expect(await echo()).toHaveLength(10);
    // 64 KiB each: far below what a server sends that is not held back.
    expect(yielded).toBeLessThan(100);
  });

  test('messages that the handler does not read wait at the client', async () => {
    const stream = open(openSession(), 'Wait');
    stream.on('error', () => undefined);
    const message = frame(new Uint8Array(mebibyte));
    let [queued, sent] = [0, 0];
    // At most 64 MiB: without a limit of the receiver all of it is taken.
    const send = (): void => {
      for (let isRoomLeft = true; isRoomLeft && queued < 64; queued++) isRoomLeft = stream.write(message, () => sent++);
    };
    send();
    stream.on('drain', send);
    for (let i = 0; i < 200; i++) expect(await echo()).toHaveLength(10);
    expect(sent).toBeLessThan(64);
  });

  test('a storm of resets', async () => {
    const session = openSession();
    for (let i = 0; i < 3000 && !session.destroyed; i++) {
      const stream = open(session, 'Wait');
      stream.on('error', () => undefined).close(constants.NGHTTP2_CANCEL);
      if (i % 100 === 0) await echo();
    }
    expect(await echo()).toHaveLength(10);
  });

  test('headers without end', async () => {
    const session = openSession();
    const stream = open(session, 'Echo', Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x-${i}`, 'y'.repeat(8000)])));
    stream
      .on('error', () => undefined)
      .resume()
      .end(frame(new Uint8Array(1)));
    let status: unknown;
    stream.on('response', (headers) => (status = headers[':status']));
    await new Promise((resolve) => void stream.once('close', resolve));
    expect(status).not.toBe(200);
    expect(await echo()).toHaveLength(10);
  });

  test('a huge message is refused by its length, before it is sent', async () => {
    const stream = open(openSession(), 'Echo');
    stream.on('error', () => undefined);
    const trailers = new Promise<unknown>((resolve) => void stream.once('response', (headers) => resolve(headers['grpc-status'])));
    stream.resume().write(Buffer.from([0, 0x7f, 0xff, 0xff, 0xff]));
    expect(await trailers).toBe('8');
    expect(await echo()).toHaveLength(10);
  });
});

test('a TCP peer that is gone without a word is noticed by a ping, and the call fails', async () => {
  // It speaks HTTP/2 until the call has begun, and then says nothing more, as a machine without power.
  const server = new GrpcServer(
    new Map<string, CallHandler>([
      [
        '/test.Calls/Wait',
        // oxlint-disable-next-line require-yield
        async function* wait({ signal }) {
          forward = false;
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        },
      ],
    ]),
  );
  let forward = true;
  await server.listen(`unix://${socket}`, { timers });
  closers.push(() => server.close());
  const sockets: Socket[] = [];
  const proxy = createServer((client) => {
    const behind = connect(socket);
    sockets.push(
      client.on('error', () => undefined),
      behind.on('error', () => undefined),
    );
    client.on('data', (data) => forward && behind.write(data));
    behind.on('data', (data) => forward && client.write(data));
  });
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    for (const each of sockets) each.destroy();
    return new Promise((resolve) => void proxy.close(resolve));
  });
  const { port } = proxy.address() as AddressInfo;
  const channel = new Http2Channel({ address: `127.0.0.1:${port}`, timers, keepalive: { intervalMs: 50, timeoutMs: 200 } });
  closers.push(() => channel.close());
  await expect(channel.unary('/test.Calls/Wait', new Uint8Array())).rejects.toMatchObject({
    code: 'Unavailable',
    message: expect.stringContaining('keepalive ping failed to receive ACK within timeout') as unknown,
  });
});

test('a live TCP peer is not taken for a dead one', async () => {
  let finish: (() => void) | undefined;
  const server = new GrpcServer(
    new Map<string, CallHandler>([
      [
        '/test.Calls/Wait',
        async function* wait() {
          await new Promise<void>((resolve) => (finish = resolve));
          yield new Uint8Array(3);
        },
      ],
    ]),
  );
  const port = await server.listen('127.0.0.1:0', { timers });
  closers.push(() => server.close());
  const channel = new Http2Channel({ address: `127.0.0.1:${port}`, timers, keepalive: { intervalMs: 5, timeoutMs: 60_000 } });
  closers.push(() => channel.close());
  const answer = channel.unary('/test.Calls/Wait', new Uint8Array());
  await expect.poll(() => finish).toBeDefined();
  // Several pings.
  await new Promise((resolve) => void timers.after(100, () => resolve(undefined)));
  finish?.();
  expect(await answer).toHaveLength(3);
});
