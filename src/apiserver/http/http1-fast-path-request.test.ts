import fc from 'fast-check';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseFastPathRequest } from './http1-fast-path-request.ts';

const read = (text: string) => parseFastPathRequest(Buffer.from(text, 'latin1'), 4096);

describe('a simple request', () => {
  test('is read with its headers in lower case and its body', () => {
    const request = read('POST /api/v1/pods?a=b HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\nX-Odd:  two words \r\n\r\n{"a"');
    expect(request).toMatchObject({ method: 'POST', target: '/api/v1/pods?a=b' });
    expect(Object.fromEntries(request?.headers ?? [])).toEqual({ host: 'here', 'content-length': '4', 'x-odd': 'two words' });
    expect(Buffer.from(request?.body ?? []).toString()).toBe('{"a"');
  });

  test.each<[string, string]>([
    ['whose body is under way', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nabc'],
    ['with another one behind it', 'GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['whose headers are under way', 'GET / HTTP/1.1\r\nhost: a\r\n'],
    ['in chunks', 'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n'],
    ['with chunks and a length (smuggling)', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['with two lengths (smuggling)', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\ncontent-length: 0\r\n\r\n'],
    ['with a length that is no number', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: +0\r\n\r\n'],
    ['with a space before the colon', 'GET / HTTP/1.1\r\nhost : a\r\n\r\n'],
    ['with a header on two lines', 'GET / HTTP/1.1\r\nhost: a\r\nx: 1\r\n 2\r\n\r\n'],
    ['with a bare line feed', 'GET / HTTP/1.1\r\nhost: a\nx: 1\r\n\r\n'],
    ['with a bare carriage return', 'GET / HTTP/1.1\r\nhost: a\rb\r\n\r\n'],
    ['with a control character', 'GET / HTTP/1.1\r\nhost: a\0\r\n\r\n'],
    ['without a host', 'GET / HTTP/1.1\r\nx: a\r\n\r\n'],
    ['of HTTP/1.0', 'GET / HTTP/1.0\r\nhost: a\r\n\r\n'],
    ['for a whole URL', 'GET http://a/ HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['that wants to be the last', 'GET / HTTP/1.1\r\nhost: a\r\nConnection: close\r\n\r\n'],
    ['that wants another protocol', 'GET / HTTP/1.1\r\nhost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
    ['that waits to be asked for its body', 'POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 0\r\n\r\n'],
    ['of another method', 'HEAD / HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['with too long headers', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(5000)}\r\n\r\n`],
    ['that is none', '\x16\x03\x01\r\n\r\n'],
  ])('is not one %s', (_what, text) => {
    expect(read(text)).toBeUndefined();
  });
});

/** What Node makes of one request: undefined if it refuses it. */
interface Seen {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

describe('whatever is read as simple', () => {
  let server: Server;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const seen = { method: request.method, target: request.url, headers: request.headers, body: Buffer.concat(chunks).toString('latin1') };
        response.setHeader('connection', 'close').end(JSON.stringify(seen));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => void server.close());

  const asNodeReadsIt = (bytes: Buffer) =>
    new Promise<Seen | undefined>((resolve, reject) => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      let text = '';
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        text += chunk;
      });
      socket
        .on('error', reject)
        .on('close', () => resolve(text.startsWith('HTTP/1.1 200') ? (JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as Seen) : undefined));
      socket.end(bytes);
    });

  const odd = fc.constantFrom('', ' ', '\t', '\r', '\n', '\0', ':', 'é', '\x7f', ',');
  const name = fc.oneof(
    fc.constantFrom('Host', 'x-a', 'X-A', 'Content-Length', 'accept', 'Connection', 'Transfer-Encoding', 'Expect'),
    fc.tuple(fc.constantFrom('x', 'y-'), odd).map((parts) => parts.join('')),
  );
  const value = fc.oneof(
    fc.constantFrom('a', '3', '03', '0', 'keep-alive', 'chunked', ' padded\t'),
    fc.tuple(odd, fc.constantFrom('v', ''), odd).map((parts) => parts.join('')),
  );
  const header = fc.tuple(name, fc.constantFrom(':', ': ', ' :'), value).map((parts) => parts.join(''));
  const request = fc
    .record({
      method: fc.constantFrom('GET', 'POST', 'PATCH', 'DELETE', 'get', 'PURGE'),
      target: fc.constantFrom('/', '/a?b=c%20d', '/a b', '//x', '/é', '*', '/#f'),
      headers: fc.array(header, { maxLength: 4 }),
      ending: fc.constantFrom('\r\n', '\r\n', '\r\n', '\n'),
      body: fc.constantFrom('', 'abc', 'abcd'),
    })
    .map(({ method, target, headers, ending, body }) => `${method} ${target} HTTP/1.1\r\nHost: here${ending}${[...headers, ''].join(ending)}${ending}${body}`);

  test('Node reads in the same way', async () => {
    let simple = 0;
    await fc.assert(
      fc.asyncProperty(request, async (text) => {
        const bytes = Buffer.from(text, 'latin1');
        const here = parseFastPathRequest(bytes, 4096);
        if (here === undefined) return;
        simple += 1;
        const there = await asNodeReadsIt(bytes);
        expect({
          method: here.method,
          target: here.target,
          headers: Object.fromEntries(here.headers),
          body: Buffer.from(here.body).toString('latin1'),
        }).toEqual(there);
      }),
      { numRuns: 8000, seed: 1 },
    );
    expect(simple).toBeGreaterThan(100);
  });
});
