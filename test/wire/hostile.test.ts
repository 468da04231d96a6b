import { connect, constants } from 'node:http2';
import https from 'node:https';
import tls from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { credentials, json, requestHttp2, send, sendHttp2, until } from './client.ts';
import { startWireServer, type WireServer } from './wire-server.ts';

const collection = '/api/v1/namespaces/default/configmaps';

let wire: WireServer;
/** A well-behaved client, all the while. */
let bystander: { failures: unknown[]; served: number; stop(): Promise<void> };

beforeEach(async () => {
  wire = await startWireServer({ limits: { discardedBodyBytes: 16 * 1024 * 1024 } });
  wire.api.put('default', 'a', { k: 'v' });
  bystander = startBystander(wire);
});

afterEach(async () => {
  const served = bystander.served;
  await until('the bystander is still served', () => bystander.served > served);
  await bystander.stop();
  expect(bystander.failures).toEqual([]);
  expect(wire.errors).toEqual([]);
  await wire.server.stop();
});

function startBystander(server: WireServer): typeof bystander {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ...credentials(server) });
  const failures: unknown[] = [];
  const state = { failures, served: 0, stopped: false, stop: () => Promise.resolve() };
  const once = (): Promise<void> =>
    new Promise((resolve, reject) => {
      https
        .get(`${server.server.url}${collection}/a`, { agent }, (response) => {
          response.resume();
          response.on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(`status ${response.statusCode}`))));
        })
        .on('error', reject);
    });
  const loop = (async () => {
    while (!state.stopped) {
      await once().then(
        () => (state.served += 1),
        (error: unknown) => failures.push(error),
      );
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    agent.destroy();
  })();
  state.stop = () => {
    state.stopped = true;
    return loop;
  };
  return state;
}

/** A connection of which the test writes every byte. Resolves to all that came back once it is closed. */
async function raw(write: (socket: tls.TLSSocket) => void): Promise<string> {
  const socket = tls.connect({ host: '127.0.0.1', port: wire.server.port, ...credentials(wire), ALPNProtocols: ['http/1.1'] });
  socket.on('error', () => undefined);
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
  await new Promise<void>((resolve) => socket.once('secureConnect', resolve));
  write(socket);
  await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return received;
}

const statusIn = (response: string): unknown => JSON.parse(response.slice(response.indexOf('\r\n\r\n') + 4));

describe('bodies', () => {
  test.each([
    ['HTTP/1.1', send],
    ['HTTP/2', sendHttp2],
  ])('10 MB over %s are too large, and the client is told', async (_protocol, request) => {
    const body = Buffer.alloc(10 * 1024 * 1024, 0x20);
    const reply = await request(wire, collection, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(json(reply)).toMatchObject({ code: 413, reason: 'RequestEntityTooLarge', message: 'Request entity too large: limit is 3145728' });
    expect(wire.api.requests.filter(({ info }) => info.verb === 'create')).toEqual([]);
  });

  test('too large in chunks, without saying so before', async () => {
    const reply = await new Promise<number>((resolve, reject) => {
      const request = https.request(wire.server.url + collection, { method: 'POST', agent: false, ...credentials(wire) }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      request.on('error', reject);
      for (let i = 0; i < 40; i++) request.write(Buffer.alloc(100_000));
      request.end();
    });
    expect(reply).toBe(413);
  });

  test('without end: the connection is closed', async () => {
    const received = await raw((socket) => {
      socket.write(`POST ${collection} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`);
      const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x100000), Buffer.from('\r\n')]);
      const pour = (refused?: Error | null): void => {
        if (!refused) socket.write(chunk, pour);
      };
      pour();
    });
    expect(received).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('of an anonymous client is refused before it has arrived', async () => {
    const reply = await send(wire, collection, { method: 'POST', as: 'anonymous', body: Buffer.alloc(2 * 1024 * 1024) });
    expect(reply.code).toBe(403);
    const session = connect(wire.server.url, credentials(wire, 'anonymous'));
    const stream = session.request({ ':path': collection, ':method': 'POST' });
    stream.on('error', () => undefined);
    const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()));
    stream.resume();
    stream.write('x'); // and nothing more: the server must not wait
    await closed;
    session.close();
  });
});

describe('headers', () => {
  test('that are too many get 431', async () => {
    const received = await raw((socket) => socket.write(`GET / HTTP/1.1\r\nhost: x\r\n${'x-flood: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(5_000)}\r\n`));
    expect(received).toMatch(/^HTTP\/1\.1 431 /);
    expect(statusIn(received)).toMatchObject({ kind: 'Status', code: 431 });
  });

  test('that are too many over HTTP/2 end the stream', async () => {
    const session = connect(wire.server.url, credentials(wire));
    session.on('error', () => undefined);
    const headers = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`x-flood-${i}`, 'a'.repeat(30)]));
    await expect(requestHttp2(session, '/version', { headers })).rejects.toThrow();
    session.destroy();
  });

  test.each(['GET /healthz\r\n\r\n', 'GET /healthz HTTP/2.0\r\nhost: x\r\n\r\n'])('another version of HTTP is answered, not left open: %j', async (request) => {
    const received = await raw((socket) => socket.write(request));
    expect(received).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
    expect(received).toContain('"the request is not valid HTTP"');
  });

  test('that contain what they must not get 400', async () => {
    const received = await raw((socket) => socket.write('GET / HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n'));
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
    expect(statusIn(received)).toMatchObject({ kind: 'Status', code: 400 });
  });

  test('two lengths (request smuggling) get 400', async () => {
    const received = await raw((socket) =>
      socket.write(`POST ${collection} HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
    );
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('connections', () => {
  test('that are aborted in the handshake leave nothing behind', async () => {
    for (let i = 0; i < 50; i++) {
      const socket = tls.connect({ host: '127.0.0.1', port: wire.server.port, ...credentials(wire) });
      socket.on('error', () => undefined);
      socket.once('connect', () => setTimeout(() => socket.destroy(), i % 5));
    }
    await until('only the bystander is connected', () => wire.metrics.text().includes('mooring_connections 1\n'));
  });

  test('with garbage inside TLS get 400', async () => {
    const received = await raw((socket) => socket.write('\u0016\u0003 this is not HTTP at all\r\n\r\n'));
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('many at once are served', async () => {
    const replies = await Promise.all(Array.from({ length: 200 }, () => send(wire, `${collection}/a`)));
    expect(new Set(replies.map(({ code }) => code))).toEqual(new Set([200]));
  });
});

describe('HTTP/2', () => {
  test('streams that are reset as fast as they are opened end the connection', async () => {
    const session = connect(wire.server.url, { ...credentials(wire), maxSessionMemory: 1000 });
    session.on('error', () => undefined);
    let sentAway = false;
    session.once('goaway', () => (sentAway = true));
    session.once('close', () => (sentAway = true));
    let opened = 0;
    const storm = (): void => {
      if (sentAway || opened >= 20_000) return;
      const streams = Array.from({ length: 100 }, () => session.request({ ':path': `${collection}/a` }));
      opened += streams.length;
      for (const stream of streams) stream.on('error', () => undefined);
      setImmediate(() => {
        for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
        setImmediate(storm);
      });
    };
    storm();
    await until('the client is sent away', () => sentAway);
    expect(opened).toBeLessThan(20_000);
    session.destroy();
  });

  test('more streams than allowed wait or are refused, and the rest is served', async () => {
    const session = connect(wire.server.url, credentials(wire));
    session.setMaxListeners(1_000);
    const replies = await Promise.allSettled(Array.from({ length: 600 }, () => requestHttp2(session, `${collection}/a`)));
    expect(replies.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(200);
    session.close();
  });
});
