/** The Host of requests, on every way into the server: the fast path, Node's parser, an upgrade, HTTP/2. */
import { connect } from 'node:http2';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { credentials, json, requestHttp2, send } from './client.ts';
import { startWireServer, type WireServer } from './wire-server.ts';

let wire: WireServer;
beforeAll(async () => {
  wire = await startWireServer();
});
afterAll(() => wire[Symbol.asyncDispose]());

/** Everything that comes back until the server closes, or until as many responses are there. */
function raw(request: string, responses = 1): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host: '127.0.0.1', port: wire.server.port, ...credentials(wire), ALPNProtocols: ['http/1.1'] });
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString();
      if (received.split('HTTP/1.1 ').length > responses && /\}\n?$|ok$/.test(received)) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
    socket.write(request);
  });
}

/** The code and the message of a Status. */
const answerTo = async (request: string): Promise<string> => {
  const text = await raw(request);
  const body = text.slice(text.indexOf('\r\n\r\n') + 4);
  return `${text.slice(9, 12)} ${body.startsWith('{') ? (JSON.parse(body) as { message?: string }).message : body}`;
};

/** Ways of a request that is not the fast path's. */
const ways = { 'the fast path': '', "Node's parser": 'TE: trailers\r\n', 'an upgrade': 'Connection: upgrade\r\nUpgrade: websocket\r\n' };

describe.each(Object.entries(ways))('%s', (_, more) => {
  test.each([
    ['', '400 missing required Host header'],
    ['Host: a\r\nHost: a\r\n', '400 too many Host headers'],
    ['Host: a\r\nhost: b\r\n', '400 too many Host headers'],
    ['Host: a b\r\n', '400 malformed Host header'],
    ['Host: a/b\r\n', '400 malformed Host header'],
    ['Host: user@a\r\n', '400 malformed Host header'],
    ['Host: 127.0.0.1:6443\r\n', '200 ok'],
    ['Host: [::1]:6443\r\n', '200 ok'],
    ['Host:\r\n', '200 ok'],
  ])('%j: %s', async (host, expected) => {
    expect(await answerTo(`GET /healthz HTTP/1.1\r\n${host}${more}\r\n`)).toBe(expected);
  });

  test('also of a request with a body, and of an absolute target', async () => {
    expect(await answerTo(`POST /api/v1/namespaces/a/configmaps HTTP/1.1\r\n${more}Content-Length: 2\r\n\r\n{}`)).toBe('400 missing required Host header');
    expect(await answerTo(`GET https://a/healthz HTTP/1.1\r\n${more}\r\n`)).toBe('400 missing required Host header');
  });
});

test('HTTP/1.0 needs no Host', async () => {
  expect(await answerTo('GET /healthz HTTP/1.0\r\n\r\n')).toBe('200 ok');
  expect(await answerTo('GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n')).toBe('400 too many Host headers');
});

test('a request in front of the wrong one is answered, and none behind it', async () => {
  const good = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
  const received = await raw(`${good}GET /healthz HTTP/1.1\r\n\r\n${good}`, 3);
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
});

test('over HTTP/2 a Host has to be the authority', async () => {
  const session = connect(wire.server.url, credentials(wire));
  const code = async (headers: Record<string, string>) => (await requestHttp2(session, '/healthz', { headers })).code;
  expect(await code({})).toBe(200);
  expect(await code({ ':authority': 'a:1', host: 'A:1' })).toBe(200);
  expect(await code({ ':authority': 'a', host: 'b' })).toBe(400);
  expect(await code({ ':authority': 'user@a' })).toBe(400);
  session.close();
});

test('a path that does not exist is not found, with any method', async () => {
  for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']) {
    for (const path of ['/api//v1/namespaces', '/nowhere', '/api/v1/namespaces/a/namespaces/b']) {
      expect((await send(wire, path, { method })).code, `${method} ${path}`).toBe(404);
    }
  }
  expect(json(await send(wire, '/api', { method: 'POST' }))).toMatchObject({ code: 405 });
});
