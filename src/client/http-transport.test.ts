import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { configMapKind } from '../api/kinds/core/config-map.ts';
import { parseRequestInfo, resourceRequestInfo } from '../api/request-info.ts';
import { createRealWorld } from '../host/world.ts';
import type { ApiError } from '../api/status.ts';
import { HttpTransport } from './http-transport.ts';
import type { StreamEvent, TransportRequest } from './transport.ts';

const world = createRealWorld({ logLevel: 'silent' });
const open: { close(): void }[] = [];
afterEach(() => {
  for (const thing of open.splice(0)) thing.close();
});

/** A transport to a server that answers as told. */
async function connect(answer: (request: IncomingMessage, response: ServerResponse, body: string) => void, timeoutMs = 5000): Promise<HttpTransport> {
  const server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => answer(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const transport = new HttpTransport({ access: { url: `http://127.0.0.1:${port}/base/`, token: 'secret' }, world, userAgent: 'moor/test', timeoutMs });
  open.push({ close: () => (transport.close(), server.closeAllConnections(), server.close()) });
  return transport;
}

const get = (path: string, query: Record<string, string> = {}): TransportRequest => {
  const parsed = new URLSearchParams(query);
  return { info: parseRequestInfo('GET', path, parsed), query: parsed };
};
const json = (response: ServerResponse, code: number, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

test('a request carries its path, query, token, body and fence', async () => {
  let received: unknown;
  const transport = await connect((request, response, body) => {
    const { authorization, 'content-type': type, 'mooring-fence': fence, 'user-agent': agent } = request.headers;
    received = { method: request.method, url: request.url, authorization, type, fence, agent, body: JSON.parse(body) as unknown };
    json(response, 201, { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } });
  });
  const answer = await transport.send({
    info: resourceRequestInfo('update', configMapKind, { namespace: 'default', name: 'a?b#c d' }),
    query: new URLSearchParams({ fieldManager: 'a&b' }),
    body: { contentType: 'application/json', object: { data: { x: 'ü' } } },
    fence: { lease: 'kube-system/moor', epoch: 17 },
  });
  expect(received).toEqual({
    method: 'PUT',
    url: '/base/api/v1/namespaces/default/configmaps/a%3Fb%23c%20d?fieldManager=a%26b',
    authorization: 'Bearer secret',
    type: 'application/json',
    fence: 'kube-system/moor;epoch=17',
    agent: 'moor/test',
    body: { data: { x: 'ü' } },
  });
  expect(answer).toMatchObject({ type: 'object', object: { metadata: { name: 'a' } } });
});

test('objects are frozen, and the items of a list say what they are', async () => {
  const transport = await connect((_, response) =>
    json(response, 200, { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '9' }, items: [{ metadata: { name: 'a' } }] }),
  );
  const answer = await transport.send(get('/api/v1/configmaps'));
  expect(answer).toEqual({ type: 'list', metadata: { resourceVersion: '9' }, items: [{ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } }] });
  if (answer.type === 'list') expect(Object.isFrozen(answer.items[0]) && Object.isFrozen(answer.items[0]?.metadata)).toBe(true);
});

test('a Status that says failure is an answer, with the time to wait', async () => {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 429, reason: 'TooManyRequests', message: 'later' };
  const transport = await connect((_, response) => json(response, 429, status, { 'retry-after': '7' }));
  expect(await transport.send(get('/x'))).toMatchObject({
    type: 'failed',
    error: { code: 429, reason: 'TooManyRequests', message: 'later', details: { retryAfterSeconds: 7 } },
  });
});

test('an error that is no Status keeps its code and its text', async () => {
  const transport = await connect((_, response) => response.writeHead(502).end('bad gateway'));
  expect(await transport.send(get('/x'))).toMatchObject({ type: 'failed', error: { code: 502, message: 'bad gateway' } });
});

test('no answer, half an answer, nonsense and silence are all: unreachable', async () => {
  const cut = await connect((request) => request.socket.destroy());
  const half = await connect((request, response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('{');
    setImmediate(() => request.socket.destroy());
  });
  const nonsense = await connect((_, response) => response.writeHead(200).end('<html>'));
  const silence = await connect(() => undefined, 50);
  for (const transport of [cut, half, nonsense, silence]) expect(await transport.send(get('/x'))).toMatchObject({ type: 'unreachable' });
  const unreachable = new HttpTransport({ access: { url: 'http://127.0.0.1:1' }, world, userAgent: 'x' });
  expect(await unreachable.send(get('/x'))).toMatchObject({ type: 'unreachable' });
});

/** Everything a watch delivers until it ends. */
function watchAll(transport: HttpTransport): Promise<{ events: StreamEvent[]; error: ApiError | undefined }> {
  const events: StreamEvent[] = [];
  return new Promise((resolve) => {
    transport.watch(get('/api/v1/configmaps', { watch: 'true' }), { events: (batch) => events.push(...batch), end: (error) => resolve({ events, error }) });
  });
}

const line = (type: string, name: string) => `${JSON.stringify({ type, object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name } } })}\n`;

test('a watch is a stream of lines, wherever it is cut into pieces', async () => {
  const bytes = Buffer.from(line('ADDED', 'ä') + line('MODIFIED', 'ö') + line('DELETED', 'ü'));
  const transport = await connect((_, response) => {
    const write = (from: number) => {
      if (from >= bytes.length) return void response.end();
      response.write(bytes.subarray(from, from + 7));
      setImmediate(() => write(from + 7));
    };
    write(0);
  });
  const { events, error } = await watchAll(transport);
  expect(events.map((e) => `${e.type} ${e.object.metadata.name}`)).toEqual(['ADDED ä', 'MODIFIED ö', 'DELETED ü']);
  expect(error).toBeUndefined();
});

test('an ERROR event ends the watch with what it says; so does a refusal', async () => {
  const gone = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 410, reason: 'Expired', message: 'too old' };
  const inStream = await connect((_, response) => response.writeHead(200).end(`${line('ADDED', 'a')}${JSON.stringify({ type: 'ERROR', object: gone })}\n`));
  expect(await watchAll(inStream)).toMatchObject({ events: [{ type: 'ADDED' }], error: { code: 410, reason: 'Expired' } });
  const atOnce = await connect((_, response) => json(response, 410, gone));
  expect(await watchAll(atOnce)).toMatchObject({ events: [], error: { code: 410 } });
});

test('a stream that breaks, or is none, ends without an error', async () => {
  const broken = await connect((request, response) => {
    response.writeHead(200).write(line('ADDED', 'a'));
    setTimeout(() => request.socket.destroy(), 20);
  });
  expect(await watchAll(broken)).toMatchObject({ events: [{ type: 'ADDED' }], error: undefined });
  const nonsense = await connect((_, response) => response.writeHead(200).write('<html>\n'));
  expect(await watchAll(nonsense)).toEqual({ events: [], error: undefined });
});

test('a watch that was closed delivers nothing more, and lets the server know', async () => {
  const closed = new Promise<void>((resolve) => {
    void connect((_, response) => {
      response.writeHead(200).write(line('ADDED', 'a'));
      response.on('close', resolve);
    }).then((transport) => {
      const stream = transport.watch(get('/x'), { events: () => stream.close(), end: () => expect.unreachable() });
    });
  });
  await closed;
});

test('a path without objects is read with its code, also if it is a refusal', async () => {
  const transport = await connect((request, response) => {
    if (request.url === '/base/readyz') response.writeHead(500).end('[-]store failed: reason withheld\n');
    else response.destroy();
  });
  expect(await transport.readPath('/readyz')).toEqual({ code: 500, text: '[-]store failed: reason withheld\n' });
  expect(await transport.readText(get('/readyz'))).toBeUndefined();
  expect(await transport.readPath('/away')).toBeUndefined();
});
