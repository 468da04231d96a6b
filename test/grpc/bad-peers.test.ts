/** Peers that break the protocol, or the connection: each call fails with the code of gRPC's specification, and the next one works. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import {
  connect as connectHttp2,
  constants,
  createServer as createHttp2Server,
  type Http2Server,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CallHandler } from '../../src/grpc/channel.ts';
import { frame } from '../../src/grpc/frames.ts';
import { Http2Channel } from '../../src/grpc/http2-channel.ts';
import { GrpcServer } from '../../src/grpc/http2-server.ts';
import type { RpcError } from '../../src/grpc/status.ts';
import { createRealWorld } from '../../src/host/world.ts';

const { timers } = createRealWorld({ logLevel: 'silent' });
const nothing = new Uint8Array();

let folder: string;
let socket: string;
let channel: Http2Channel;
let closers: (() => unknown)[];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'mooring-grpc-'));
  socket = path.join(folder, 's.sock');
  channel = new Http2Channel({ address: `unix://${socket}`, timers });
  closers = [];
});

afterEach(async () => {
  channel.close();
  for (const close of closers) await close();
  rmSync(folder, { recursive: true });
});

async function listening<S extends Server | Http2Server>(server: S): Promise<S> {
  await new Promise<void>((resolve) => void server.listen(socket, resolve));
  closers.push(() => new Promise((resolve) => void server.close(resolve)));
  return server;
}

const failureOf = (timeoutMs?: number): Promise<RpcError> =>
  channel.unary('/test.Calls/Any', nothing, timeoutMs === undefined ? {} : { timeoutMs }).then(
    () => Promise.reject(new Error('the call succeeded')),
    (error: RpcError) => error,
  );

describe('a server that is no gRPC server', () => {
  const raw = (onSocket: (socket: Socket) => void) => listening(createServer((each) => onSocket(each.on('error', () => undefined))));

  test.each([
    ['garbage', Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 7919) % 256))],
    ['HTTP/1', Buffer.from('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')],
    ['half a frame', Buffer.from([0, 0, 6, 4, 0])],
  ])('%s', async (_, answer) => {
    await raw((each) => each.once('data', () => each.end(answer)));
    expect(await failureOf()).toMatchObject({ name: 'RpcError', code: 'Unavailable' });
  });

  test('a connection that is closed at once', async () => {
    await raw((each) => each.destroy());
    expect(await failureOf()).toMatchObject({ code: 'Unavailable' });
  });

  test('a connection that stays silent', async () => {
    const sockets: Socket[] = [];
    await raw((each) => sockets.push(each));
    expect(await failureOf(50)).toMatchObject({ code: 'DeadlineExceeded', message: 'context deadline exceeded' });
    for (const each of sockets) each.destroy();
  });

  test('no server: the words of Go, for those who search for them', async () => {
    expect(await failureOf()).toMatchObject({
      code: 'Unavailable',
      message: `connection error: desc = "transport: Error while dialing: dial unix ${socket}: connect: no such file or directory"`,
    });
  });
});

describe('answers in HTTP/2', () => {
  const answering = (answer: (stream: ServerHttp2Stream, headers: OutgoingHttpHeaders) => void) => {
    const server = createHttp2Server();
    server.on('stream', (stream, headers) =>
      answer(
        stream.on('error', () => undefined),
        headers,
      ),
    );
    return listening(server);
  };
  const grpc = { ':status': 200, 'content-type': 'application/grpc' };

  test.each([
    [400, 'Internal'],
    [401, 'Unauthenticated'],
    [403, 'PermissionDenied'],
    [404, 'Unimplemented'],
    [429, 'Unavailable'],
    [503, 'Unavailable'],
    [500, 'Unknown'],
  ])('HTTP status %i is %s', async (status, code) => {
    await answering((stream) => {
      stream.respond({ ':status': status, 'content-type': 'text/html' });
      stream.end('<html>');
    });
    expect(await failureOf()).toMatchObject({ code, message: expect.stringContaining(`unexpected HTTP status code received from server: ${status}`) });
  });

  test.each([
    [constants.NGHTTP2_REFUSED_STREAM, 'Unavailable'],
    [constants.NGHTTP2_CANCEL, 'Canceled'],
    [constants.NGHTTP2_ENHANCE_YOUR_CALM, 'ResourceExhausted'],
    [constants.NGHTTP2_INADEQUATE_SECURITY, 'PermissionDenied'],
    [constants.NGHTTP2_INTERNAL_ERROR, 'Internal'],
  ])('RST_STREAM %i is %s', async (reset, code) => {
    await answering((stream) => stream.close(reset));
    expect(await failureOf()).toMatchObject({ code });
  });

  test.each<[string, OutgoingHttpHeaders, Buffer, string]>([
    ['no trailers', {}, frame(nothing), 'Internal'],
    ['a status that is no number', { 'grpc-status': 'fine' }, frame(nothing), 'Unknown'],
    ['a code that does not exist', { 'grpc-status': '99' }, frame(nothing), 'Unknown'],
    ['no message', { 'grpc-status': '0' }, Buffer.alloc(0), 'Internal'],
    ['two messages', { 'grpc-status': '0' }, Buffer.concat([frame(nothing), frame(nothing)]), 'Internal'],
    ['half a message', { 'grpc-status': '0' }, Buffer.from([0, 0, 0, 0, 9, 1]), 'Internal'],
    ['a compressed message', { 'grpc-status': '0' }, Buffer.from([1, 0, 0, 0, 0]), 'Internal'],
    ['an unknown format', { 'grpc-status': '0' }, Buffer.from([7, 0, 0, 0, 0]), 'Internal'],
    ['a message of 4 GiB', { 'grpc-status': '0' }, Buffer.from([0, 255, 255, 255, 255, 1]), 'ResourceExhausted'],
  ])('%s', async (_, trailers, body, code) => {
    await answering((stream) => {
      stream.respond(grpc, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers(trailers));
      stream.end(body);
    });
    expect(await failureOf()).toMatchObject({ code });
  });

  test('text that is no UTF-8 is kept', async () => {
    await answering((stream) => stream.respond({ ...grpc, 'grpc-status': '5', 'grpc-message': 'disk %ff%zz' }, { endStream: true }));
    expect(await failureOf()).toMatchObject({ code: 'NotFound', message: 'disk %ff%zz' });
  });

  test('after GOAWAY and after a cut the next call has a new connection', async () => {
    let calls = 0;
    await answering((stream) => {
      calls++;
      if (calls === 2) return stream.session?.destroy();
      stream.respond(grpc, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(frame(nothing));
      if (calls === 1) stream.session?.close();
    });
    await channel.unary('/test.Calls/Any', nothing);
    expect(await failureOf()).toMatchObject({ code: 'Unavailable' });
    await channel.unary('/test.Calls/Any', nothing);
    expect(calls).toBe(3);
  });
});

describe('clients that break the rules', () => {
  const handlers = new Map<string, CallHandler>([
    [
      '/test.Calls/Any',
      async function* answer({ requests }) {
        for await (const request of requests) yield request;
      },
    ],
  ]);
  let server: GrpcServer;

  beforeEach(async () => {
    server = new GrpcServer(handlers);
    await server.listen(`unix://${socket}`);
    closers.push(() => server.close());
  });

  async function ask(headers: OutgoingHttpHeaders, body = frame(nothing)): Promise<Record<string, unknown>> {
    const session = connectHttp2('http://localhost', { createConnection: () => connect(socket) });
    const stream = session.request({ ':method': 'POST', ':path': '/test.Calls/Any', 'content-type': 'application/grpc', te: 'trailers', ...headers });
    const answer: Record<string, unknown> = {};
    stream.on('response', (head) => Object.assign(answer, head));
    stream.on('trailers', (trailers) => Object.assign(answer, trailers));
    stream.resume().end(body);
    await new Promise((resolve) => void stream.once('close', resolve));
    session.destroy();
    return answer;
  }

  test.each<[string, OutgoingHttpHeaders, Buffer, Record<string, unknown>]>([
    ['another content type', { 'content-type': 'application/json' }, frame(nothing), { ':status': 415 }],
    ['gRPC for browsers', { 'content-type': 'application/grpc-web' }, frame(nothing), { ':status': 415 }],
    ['another method', { ':method': 'PUT' }, frame(nothing), { ':status': 405 }],
    ['a compressed message', {}, Buffer.from([1, 0, 0, 0, 0]), { ':status': 200, 'grpc-status': '12' }],
    ['compression', { 'grpc-encoding': 'gzip' }, frame(nothing), { 'grpc-status': '12', 'grpc-accept-encoding': 'identity' }],
    ['a malformed timeout', { 'grpc-timeout': '5 minutes' }, frame(nothing), { 'grpc-status': '13' }],
    ['a message of 4 GiB', {}, Buffer.from([0, 255, 255, 255, 255, 1]), { 'grpc-status': '8' }],
    ['half a message', {}, Buffer.from([0, 0, 0, 0, 9, 1]), { 'grpc-status': '13' }],
    ['an unknown service', { ':path': '/a.B/C' }, frame(nothing), { 'grpc-status': '12', 'grpc-message': 'unknown service a.B' }],
  ])('%s', async (_, headers, body, answer) => {
    expect(await ask(headers, body)).toMatchObject(answer);
    expect(await channel.unary('/test.Calls/Any', nothing)).toHaveLength(0);
  });

  test('garbage, and connections that are cut', async () => {
    for (const bytes of ['GET / HTTP/1.1\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\xff garbage', '']) {
      const client = connect(socket).on('error', () => undefined);
      client.write(bytes, 'latin1');
      await new Promise((resolve) => setTimeout(resolve, 10));
      client.destroy();
    }
    expect(await channel.unary('/test.Calls/Any', nothing)).toHaveLength(0);
  });

  test('a socket is of its owner; a live one is refused, a stale one replaced, another file kept', async () => {
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    await expect(new GrpcServer(handlers).listen(`unix://${socket}`)).rejects.toThrow('address already in use');
    const file = path.join(folder, 'file');
    writeFileSync(file, '');
    await expect(new GrpcServer(handlers).listen(`unix://${file}`)).rejects.toThrow('no socket');
    const stale = path.join(folder, 'stale.sock');
    const dead = spawn(process.execPath, ['-e', `require('net').createServer().listen(${JSON.stringify(stale)}, () => process.kill(process.pid, 'SIGKILL'))`]);
    await new Promise((resolve) => void dead.once('exit', resolve));
    chmodSync(stale, 0o600);
    const next = new GrpcServer(handlers);
    await next.listen(`unix://${stale}`, { mode: 0o660 });
    expect(statSync(stale).mode & 0o777).toBe(0o660);
    await next.close();
  });

  test('a closed channel refuses calls; a call in flight ends', async () => {
    const waiting = channel.unary('/test.Calls/Any', nothing);
    channel.close();
    await expect(waiting).rejects.toMatchObject({ code: 'Canceled' });
    expect(await failureOf()).toMatchObject({ code: 'Canceled', message: 'grpc: the client connection is closing' });
  });
});

test('what no header or no time can carry is refused without a call', async () => {
  expect(await channel.unary('/a/b', nothing, { metadata: { 'Bad Name': '' } }).catch((error: unknown) => error)).toMatchObject({ code: 'Internal' });
  expect(await channel.unary('/a/b', nothing, { metadata: { name: 'line\nbreak' } }).catch((error: unknown) => error)).toMatchObject({ code: 'Internal' });
  expect(await channel.unary('/a/b', nothing, { timeoutMs: 0 }).catch((error: unknown) => error)).toMatchObject({ code: 'DeadlineExceeded' });
  const small = new Http2Channel({ address: socket, timers, maxSendBytes: 3 });
  expect(await small.unary('/a/b', new Uint8Array(4)).catch((error: unknown) => error)).toMatchObject({
    code: 'ResourceExhausted',
    message: 'trying to send message larger than max (4 vs. 3)',
  });
  small.close();
});
