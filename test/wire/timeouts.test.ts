import { connect } from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { describe, expect, test } from 'vitest';
import { requestPath } from '../../src/api/request-info.ts';
import type { Limits } from '../../src/apiserver/limits.ts';
import { credentials, send, until } from './client.ts';
import { startWireServer, type WireServer } from './wire-server.ts';

/** Each test gets short the one that it is about: a busy machine would run into others by itself. */
const short = 1_500;
const limited = (...which: (keyof Limits)[]) => ({ limits: Object.fromEntries(which.map((limit) => [limit, short])) as Partial<Limits> });
const collection = '/api/v1/namespaces/default/configmaps';

async function connectRaw(wire: WireServer): Promise<tls.TLSSocket> {
  const socket = tls.connect({ host: '127.0.0.1', port: wire.server.port, ...credentials(wire), ALPNProtocols: ['http/1.1'] });
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.once('secureConnect', resolve));
  return socket;
}

/** All that comes back until the server closes. */
async function answerTo(socket: tls.TLSSocket): Promise<string> {
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
  await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return received;
}

const noConnections = (wire: WireServer): Promise<void> => until('no connection is left', () => wire.metrics.text().includes('mooring_connections 0\n'));

// Each on a server of its own, all at once: most of the time is waiting.
describe.concurrent('patience with', () => {
  test('headers that come drop by drop (slow-loris) ends with 408', async () => {
    await using wire = await startWireServer(limited('headersMs'));
    const socket = await connectRaw(wire);
    socket.write(`GET ${collection} HTTP/1.1\r\nhost: x\r\n`);
    const drip = setInterval(() => socket.write('x-a: b\r\n'), 50);
    const received = await answerTo(socket);
    clearInterval(drip);
    expect(received).toMatch(/^HTTP\/1\.1 408 /);
    expect(JSON.parse(received.slice(received.indexOf('\r\n\r\n')))).toMatchObject({ kind: 'Status', code: 408 });
  });

  test('many of them at once does not keep others waiting', async () => {
    await using wire = await startWireServer({ limits: { handshakeMs: 60_000, headersMs: 60_000 } });
    const sockets = await Promise.all(Array.from({ length: 50 }, () => connectRaw(wire)));
    for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nhost:');
    expect(await send(wire, '/healthz')).toMatchObject({ code: 200 });
    for (const socket of sockets) socket.destroy();
  });

  test('a body that stops in the middle ends with 408', async () => {
    await using wire = await startWireServer(limited('receiveMs', 'headersMs'));
    const socket = await connectRaw(wire);
    socket.write(`POST ${collection} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"half":`);
    expect(await answerTo(socket)).toMatch(/^HTTP\/1\.1 408 /);
    await noConnections(wire);
  });

  test.each([
    ['garbage', Buffer.from('\u0000\u0001garbage\r\n\r\n')],
    ['plain HTTP', Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n')],
    ['half a handshake', Buffer.from('1603010200010001fc0303', 'hex')],
    ['nothing at all', Buffer.alloc(0)],
  ])('%s instead of TLS ends with a closed connection', async (_case, bytes) => {
    await using wire = await startWireServer(limited('handshakeMs'));
    const socket = net.connect(wire.server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.resume();
    socket.write(bytes);
    await new Promise<void>((resolve) => socket.once('close', () => resolve()));
    await noConnections(wire);
  });

  test('a client that never takes its answer ends', async () => {
    await using wire = await startWireServer(limited('stalledMs'));
    for (let i = 0; i < 100; i++) wire.api.put('big', `m-${i}`, { text: 'x'.repeat(100_000) });
    const socket = await connectRaw(wire);
    socket.pause();
    socket.write('GET /api/v1/namespaces/big/configmaps HTTP/1.1\r\nhost: x\r\n\r\n');
    await until('it was asked', () => wire.api.requests.length === 1);
    await noConnections(wire);
    socket.destroy();
  });

  test('a client that asks and asks and never reads ends', async () => {
    await using wire = await startWireServer(limited('stalledMs'));
    wire.api.put('default', 'large', { text: 'x'.repeat(200_000) });
    const socket = await connectRaw(wire);
    socket.pause();
    socket.write(`GET ${collection}/large HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(500));
    await until('it was asked', () => wire.api.requests.length > 0);
    await noConnections(wire);
    // It was not answered 500 times into the server's memory first: what the kernel takes, and one more.
    expect(wire.api.requests.length).toBeLessThan(100);
    socket.destroy();
  });

  test('a client that asks too far ahead ends', async () => {
    await using wire = await startWireServer({ limits: { pipelinedRequests: 20 } });
    wire.api.before = () => new Promise(() => undefined);
    const socket = await connectRaw(wire);
    socket.write(`GET ${collection}/large HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(50));
    expect(await answerTo(socket)).toBe('');
  });

  test('requests sent ahead are answered in their order', async () => {
    await using wire = await startWireServer();
    for (let i = 0; i < 50; i++) wire.api.put('default', `m-${i}`, {});
    // The first answers take the longest.
    wire.api.before = (request) => new Promise((resolve) => setTimeout(resolve, requestPath(request.info).endsWith('-0') ? 30 : 0));
    const socket = await connectRaw(wire);
    socket.write(
      Array.from({ length: 50 }, (_, i) => `GET ${collection}/m-${i} HTTP/1.1\r\nhost: x\r\n${i === 49 ? 'connection: close\r\n' : ''}\r\n`).join(''),
    );
    const received = await answerTo(socket);
    expect([...received.matchAll(/"name":"(m-\d+)"/g)].map(([, name]) => name)).toEqual(Array.from({ length: 50 }, (_, i) => `m-${i}`));
  });

  test('garbage behind a watch does not get into the watch', async () => {
    await using wire = await startWireServer();
    const socket = await connectRaw(wire);
    socket.write(`GET ${collection}?watch=1 HTTP/1.1\r\nhost: x\r\n\r\n`);
    await until('it is open', () => wire.api.openWatches === 1);
    socket.write('\u0001\u0002 garbage\r\n\r\n');
    const received = await answerTo(socket);
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    await until('the watch is gone', () => wire.api.openWatches === 0);
  });

  test('nor does garbage behind a request that is sent ahead of its end', async () => {
    await using wire = await startWireServer();
    const socket = await connectRaw(wire);
    // With `te` it is no simple request: Node reads it, and what follows.
    socket.write(`GET ${collection}?watch=1 HTTP/1.1\r\nhost: x\r\nte: trailers\r\n\r\n`);
    await until('it is open', () => wire.api.openWatches === 1);
    socket.write(`GET ${collection} HTTP/1.1\r\nhost: x\r\n\r\n\u0001\u0002 garbage\r\n\r\n`);
    const received = await answerTo(socket);
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    await until('the watch is gone', () => wire.api.openWatches === 0);
  });

  test('a client that opens no window over HTTP/2 ends', async () => {
    await using wire = await startWireServer(limited('stalledMs'));
    wire.api.put('default', 'large', { text: 'x'.repeat(300_000) });
    const session = connect(wire.server.url, { ...credentials(wire), settings: { initialWindowSize: 0 } });
    const stream = session.request({ ':path': `${collection}/large` });
    stream.on('error', () => undefined);
    await new Promise<void>((resolve) => stream.once('close', () => resolve()));
    session.destroy();
  });
});
