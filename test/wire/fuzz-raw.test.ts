import fc from 'fast-check';
import { createServer } from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allKinds } from '../../src/api/kinds/index.ts';
import type { Api } from '../../src/apiserver/api.ts';
import { parseFastPathRequest } from '../../src/apiserver/http/http1-fast-path-request.ts';
import { credentials, send, until } from './client.ts';
import { fuzzing } from './fuzz.ts';
import { frameConversation, frameTypesIn } from './raw-frames.ts';
import { rawConversation, rawRequest } from './raw-requests.ts';
import { startRealWireServer, type WireServer } from './wire-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
/** The server notices a dead connection soon enough for the test not to wait for it. */
const limits = { probeMs: 500, probeIdleMs: 200, probeAnswerMs: 200 };

let wire: WireServer<Api>;
let session: Buffer | undefined;
let beside: https.Agent;

beforeAll(async () => {
  wire = await startRealWireServer(allKinds, { limits });
  beside = new https.Agent({ keepAlive: true, maxSockets: 1, ...credentials(wire) });
  const made = await send(wire, '/api/v1/namespaces', {
    method: 'POST',
    body: '{"metadata":{"name":"default"}}',
    headers: { 'content-type': 'application/json' },
  });
  expect(made.code).toBe(201);
});
afterAll(async () => {
  beside.destroy();
  await wire[Symbol.asyncDispose]();
});

function open(protocol: 'http/1.1' | 'h2'): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: '127.0.0.1',
      port: wire.server.port,
      ALPNProtocols: [protocol],
      ...credentials(wire),
      ...(session === undefined ? {} : { session }),
    });
    socket.once('session', (known: Buffer) => (session = known));
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      socket.removeListener('error', reject);
      resolve(socket);
    });
  });
}

/** So long nothing has come back: nothing more will. */
const silenceMs = 40;

/** Says all that, one piece after the other, then nothing more; what comes back until the server closes or has said its last word. */
async function converse(protocol: 'http/1.1' | 'h2', pieces: readonly Buffer[]): Promise<Buffer> {
  const socket = await open(protocol);
  const received: Buffer[] = [];
  await new Promise<void>((resolve) => {
    let quiet: NodeJS.Timeout | undefined;
    // A machine that stands still is no silence: who wakes up much too late listens once more.
    const listen = (): void => {
      clearTimeout(quiet);
      const since = performance.now();
      quiet = setTimeout(() => (performance.now() - since > 2 * silenceMs ? listen() : resolve()), silenceMs);
    };
    socket.on('error', () => undefined).on('close', () => resolve());
    socket.on('data', (chunk: Buffer) => {
      received.push(chunk);
      listen();
    });
    void (async () => {
      for (const piece of pieces) {
        if (!socket.writable) break;
        await new Promise((written) => void socket.write(piece, written));
      }
      listen();
    })();
  });
  socket.destroy();
  return Buffer.concat(received);
}

/** The codes of the answers that bytes consist of. @throws Error if they are anything else; the last one may be cut off. */
function answersIn(received: Buffer): readonly number[] {
  const codes: number[] = [];
  let rest = received.toString('latin1');
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) throw new Error(`a head without an end: ${JSON.stringify(rest.slice(0, 200))}`);
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
    const status = /^HTTP\/1\.1 ([1-5]\d\d) [ -~]*$/.exec(first);
    if (status === null) throw new Error(`no status line: ${JSON.stringify(first)}`);
    for (const text of lines) if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+: [\t -~\x80-\xff]*$/.test(text)) throw new Error(`no header: ${JSON.stringify(text)}`);
    codes.push(Number(status[1]));
    const body = bodyAfter(rest.slice(end + 4), lines, Number(status[1]));
    if (body === undefined) break;
    rest = body;
  }
  return codes;
}

/** What follows an answer's body; undefined: the body goes on. */
function bodyAfter(text: string, lines: readonly string[], code: number): string | undefined {
  if (code < 200 || code === 304) return text;
  const length = lines.find((one) => /^content-length: /i.test(one));
  if (length !== undefined) {
    const bytes = Number(length.slice('content-length: '.length));
    if (!Number.isInteger(bytes)) throw new Error(`no length: ${length}`);
    return text.length < bytes ? undefined : text.slice(bytes);
  }
  expect(lines.map((one) => one.toLowerCase())).toContain('transfer-encoding: chunked');
  let rest = text;
  for (;;) {
    const size = /^([0-9a-f]+)\r\n/i.exec(rest);
    if (size === null) {
      if (!'0123456789abcdef\r\n'.includes(rest[0] ?? '0')) throw new Error(`no chunk: ${JSON.stringify(rest.slice(0, 50))}`);
      return undefined;
    }
    const bytes = Number.parseInt(size[1] ?? '', 16);
    rest = rest.slice(size[0].length + bytes + 2);
    if (bytes === 0) return rest;
    if (rest === '') return undefined;
  }
}

/** A well-behaved client is served, on the connection that it has had all the time. */
async function expectServedBeside(): Promise<void> {
  const code = await new Promise<number | undefined>((resolve, reject) => {
    https
      .get(`${wire.server.url}${maps}`, { agent: beside }, (response) => response.resume().on('end', () => resolve(response.statusCode)))
      .on('error', reject);
  });
  expect(code).toBe(200);
}

const ownFaults = (): number => {
  const counts = wire.metrics.text().matchAll(/^apiserver_request_total\{.*code="500".*\} (\d+)$/gm);
  return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
};
let faultsBefore = 0;

/** No answer was the server's own fault, and nothing was logged as such, since the last check: a case that failed is to shrink. */
function expectUnharmed(): void {
  const before = faultsBefore;
  faultsBefore = ownFaults();
  expect(wire.errors.splice(0)).toEqual([]);
  expect(faultsBefore).toBe(before);
}

describe('whatever bytes are sent, what comes back is HTTP, nothing breaks, and others are served:', () => {
  test('HTTP/1.1', async () => {
    const answered = new Map<number, number>();
    const attack = fc.asyncProperty(rawConversation, async (pieces) => {
      for (const code of answersIn(await converse('http/1.1', pieces))) answered.set(code, (answered.get(code) ?? 0) + 1);
      expectUnharmed();
      await expectServedBeside();
    });
    await fc.assert(attack, fuzzing(120));
    // The attack is one that reaches something: it is refused in many ways, and not always.
    expect([...answered.keys()]).toEqual(expect.arrayContaining([200, 400, 404, 405]));
  });

  test('HTTP/2', async () => {
    const seen = new Set<number>();
    const attack = fc.asyncProperty(frameConversation, async (bytes) => {
      const types = frameTypesIn(await converse('h2', [bytes]));
      if (types === undefined) throw new Error('no frames');
      for (const type of types) seen.add(type);
      expectUnharmed();
      await expectServedBeside();
    });
    await fc.assert(attack, fuzzing(80));
    // Settings, answers (headers and data), streams refused, the connection refused.
    expect([...seen]).toEqual(expect.arrayContaining([0, 1, 3, 4, 7]));
  });

  test('and no connection is left behind', async () => {
    const connections = (): number => Number(/^mooring_connections (\d+)$/m.exec(wire.metrics.text())?.[1]);
    await until('only the well-behaved client is connected', () => connections() <= 1);
  });
});

/** Names, in lower case, and values. */
const pairsOf = (raw: readonly string[]): readonly (readonly [string, string])[] =>
  raw.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1] ?? ''] as const] : []));

describe('whatever is read as a simple request', () => {
  test('Node reads in the same way, whatever bytes they are', async () => {
    let seen: unknown;
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen = { method: request.method, target: request.url, headers: pairsOf(request.rawHeaders), body: Buffer.concat(chunks).toString('latin1') };
        response.setHeader('connection', 'close').end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    let simple = 0;
    const same = fc.asyncProperty(rawRequest, async (text) => {
      const bytes = Buffer.from(text, 'latin1');
      const here = parseFastPathRequest(bytes, 64 * 1024);
      if (here === undefined) return;
      simple += 1;
      seen = undefined;
      await new Promise<void>((resolve, reject) => {
        const socket = connectTcp(port, '127.0.0.1')
          .on('error', reject)
          .on('close', () => resolve());
        socket.resume().end(bytes);
      });
      const headers = [...here.headers];
      expect({ method: here.method, target: here.target, headers, body: Buffer.from(here.body).toString('latin1') }).toEqual(seen);
    });
    await fc.assert(same, fuzzing(3_000));
    server.close();
    expect(simple).toBeGreaterThan(50);
  });
});
