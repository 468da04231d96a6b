import { type ClientHttp2Session, connect } from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { describe, expect, test } from 'vitest';
import { credentials, requestHttp2, send, until } from './client.ts';
import type { World } from '../../src/world/world.ts';
import { startWireServer, type WireServer } from './wire-server.ts';

const watchPath = '/api/v1/namespaces/default/configmaps?watch=true';

interface Frame {
  readonly type: string;
  readonly object: { readonly kind: string; readonly metadata: { readonly name: string }; readonly [member: string]: unknown };
}

interface WatchClient {
  readonly frames: Frame[];
  /** 'open', then how it ended. */
  state: 'open' | 'ended' | 'broken';
  readonly contentType: string;
  close(): void;
}

const names = (client: WatchClient): string[] => client.frames.map(({ type, object }) => `${type} ${object.metadata?.name ?? ''}`);

function parser(): { frames: Frame[]; take: (chunk: Buffer) => void } {
  const frames: Frame[] = [];
  let rest = '';
  return {
    frames,
    take: (chunk) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) frames.push(JSON.parse(line) as Frame);
    },
  };
}

function watchHttp1(wire: WireServer, path = watchPath, headers: Record<string, string> = {}): Promise<WatchClient> {
  return new Promise((resolve, reject) => {
    const request = https.get(wire.server.url + path, { agent: false, headers, ...credentials(wire) }, (response) => {
      const { frames, take } = parser();
      const client: WatchClient = { frames, state: 'open', contentType: response.headers['content-type'] ?? '', close: () => request.destroy() };
      response.on('data', take);
      response.on('end', () => (client.state = 'ended'));
      response.on('error', () => (client.state = 'broken'));
      resolve(client);
    });
    request.on('error', reject);
  });
}

function watchHttp2(session: ClientHttp2Session, path = watchPath): Promise<WatchClient> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path });
    stream.on('error', reject);
    stream.on('response', (headers) => {
      const { frames, take } = parser();
      const client: WatchClient = { frames, state: 'open', contentType: headers['content-type'] ?? '', close: () => stream.close() };
      stream.on('data', take);
      stream.on('end', () => (client.state = 'ended'));
      stream.on('aborted', () => (client.state = 'broken'));
      resolve(client);
    });
  });
}

describe('a watch', () => {
  test.each(['HTTP/1.1', 'HTTP/2'])('over %s tells the state, then every change, then why it ends', async (protocol) => {
    await using wire = await startWireServer();
    wire.api.put('default', 'old', { a: '1' });
    const session = protocol === 'HTTP/2' ? connect(wire.server.url, credentials(wire)) : undefined;
    const client = session === undefined ? await watchHttp1(wire) : await watchHttp2(session);
    expect(client.contentType).toBe('application/json');
    wire.api.put('default', 'new', { b: 'ü' });
    wire.api.put('default', 'new', { b: '2' });
    wire.api.put('other', 'not-ours', {});
    await until('all changes', () => client.frames.length === 3);
    expect(names(client)).toEqual(['ADDED old', 'ADDED new', 'MODIFIED new']);
    expect(client.frames[1]?.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { b: 'ü' } });
    wire.api.expireWatches();
    await until('the end', () => client.state === 'ended');
    expect(client.frames.at(-1)).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    await until('no watch is left', () => wire.api.openWatches === 0);
    session?.close();
  });

  test('can be of tables, whose columns come once', async () => {
    await using wire = await startWireServer();
    wire.api.put('default', 'a', {});
    const client = await watchHttp1(wire, watchPath, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    wire.api.put('default', 'b', {});
    await until('both', () => client.frames.length === 2);
    const [first, second] = client.frames.map(
      ({ object }) => object as unknown as { kind: string; columnDefinitions: unknown[] | null; rows: { cells: unknown[] }[] },
    );
    expect(first?.columnDefinitions).toHaveLength(3);
    expect(second?.columnDefinitions).toBe(null);
    expect(second?.rows[0]?.cells[0]).toBe('b');
    client.close();
  });

  test('ends with its client, however that leaves', async () => {
    await using wire = await startWireServer();
    const polite = await watchHttp1(wire);
    const session = connect(wire.server.url, credentials(wire));
    const reset = await watchHttp2(session);
    const gone = await watchHttp2(session);
    const socket = await rawWatch(wire);
    await until('four are open', () => wire.api.openWatches === 4);
    polite.close();
    await until('three are open', () => wire.api.openWatches === 3);
    reset.close();
    await until('two are open', () => wire.api.openWatches === 2);
    socket.end(); // half-closed: the client will not send any more, and says nothing else
    await until('one is open', () => wire.api.openWatches === 1);
    session.destroy();
    await until('none is open', () => wire.api.openWatches === 0);
    expect(gone.frames).toEqual([]);
    expect(wire.metrics.text()).toContain('apiserver_longrunning_requests 0\n');
  });

  test('one that was given up while the API still prepared it is not left behind', async () => {
    await using wire = await startWireServer();
    let go: (() => void) | undefined;
    wire.api.before = () => new Promise((resolve) => (go = resolve));
    const request = https.get(wire.server.url + watchPath, { agent: false, ...credentials(wire) });
    request.on('error', () => undefined);
    await until('it arrived', () => go !== undefined);
    request.destroy();
    await until('the connection is gone', () => wire.metrics.text().includes('mooring_connections 0\n'));
    go?.();
    await until('it was opened', () => wire.metrics.text().includes('apiserver_request_total{verb="WATCH"'));
    await until('nor is it left', () => wire.api.openWatches === 0 && wire.metrics.text().includes('apiserver_longrunning_requests 0\n'));
  });

  test('too many are sent away', async () => {
    await using wire = await startWireServer({ limits: { watches: 2 } });
    const [first] = [await watchHttp1(wire), await watchHttp1(wire)];
    const refused = await send(wire, watchPath);
    expect(refused).toMatchObject({ code: 429 });
    expect(refused.headers['retry-after']).toBe('1');
    first.close();
    await until('there is room', () => wire.api.openWatches === 1);
    expect((await watchHttp1(wire)).state).toBe('open');
  });
});

describe('an event that cannot be written', () => {
  test('ends the watches that would see it, is logged, and leaves other watches alone', async () => {
    await using wire = await startWireServer();
    const json = await watchHttp1(wire);
    const metadata = await watchHttp1(wire, watchPath, { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' });
    const stored = wire.api.put('default', 'a', {});
    const broken = {
      ...stored,
      json: () => {
        throw new Error('unwritable');
      },
    };
    await until('both saw the first', () => json.frames.length === 1 && metadata.frames.length === 1);
    wire.api.tell('default', 'MODIFIED', broken);
    await until('one is broken off', () => json.state === 'broken');
    await until('the other goes on', () => metadata.frames.length === 2);
    expect(wire.api.openWatches).toBe(1);
    expect(wire.errors.join()).toContain('unwritable');
    metadata.close();
  });
});

describe('many watches', () => {
  test('1,000 of them see an update that was encoded once', async () => {
    await using wire = await startWireServer();
    const sessions = Array.from({ length: 5 }, () => connect(wire.server.url, credentials(wire)));
    const clients = (await Promise.all(sessions.map((session) => Promise.all(Array.from({ length: 200 }, () => watchHttp2(session)))))).flat();
    expect(wire.api.openWatches).toBe(1_000);
    wire.api.put('default', 'a', { x: '1' });
    wire.api.put('default', 'a', { x: '2' });
    await until('all watches saw both', () => clients.every(({ frames }) => frames.length === 2));
    expect(new Set(clients.map((client) => names(client).join()))).toEqual(new Set(['ADDED a,MODIFIED a']));
    const text = wire.metrics.text();
    expect(text).toContain('mooring_watch_encodings_total 2\n');
    expect(text).toContain('apiserver_watch_events_total 2000\n');
    for (const session of sessions) session.destroy();
    await until('none is left', () => wire.api.openWatches === 0);
  });
});

describe('a client that does not read', () => {
  /** Writes, as fast as one client reads, until the server disconnected another one, and reports how much that took. */
  async function writeUntilCutOff(wire: WireServer, reader: WatchClient): Promise<number> {
    let written = 0;
    while (!wire.metrics.text().includes('mooring_watches_cut_off_total 1\n') && written < 500) {
      wire.api.put('default', 'big', { text: 'x'.repeat(100_000) });
      written += 1;
      while (reader.state === 'open' && reader.frames.length < written) await new Promise((resolve) => setImmediate(resolve));
    }
    return written;
  }

  test('is cut off once too much waits for it, and other clients do not notice', async () => {
    await using wire = await startWireServer({ limits: { watchBufferBytes: 1024 * 1024 } });
    const reader = await watchHttp1(wire);
    const socket = await rawWatch(wire);
    socket.pause();
    await until('both are open', () => wire.api.openWatches === 2);
    const written = await writeUntilCutOff(wire, reader);
    // What the kernel holds for the sleeper, and what may wait for it; not everything that was ever written.
    expect(written).toBeLessThan(200);
    await until('only the reader is left', () => wire.api.openWatches === 1);
    await until('the reader saw everything', () => reader.frames.length === written);
    expect(reader.state).toBe('open');
    socket.destroy();
  });

  test('is cut off over HTTP/2 as well, while other watches of its connection go on', async () => {
    await using wire = await startWireServer({ limits: { watchBufferBytes: 1024 * 1024 } });
    const session = connect(wire.server.url, credentials(wire));
    const reader = await watchHttp2(session);
    const sleeper = session.request({ ':path': watchPath });
    sleeper.on('error', () => undefined);
    sleeper.pause();
    await until('both are open', () => wire.api.openWatches === 2);
    const written = await writeUntilCutOff(wire, reader);
    await until('only the reader is left', () => wire.api.openWatches === 1);
    await until('the reader saw everything', () => reader.frames.length === written);
    expect(reader.state).toBe('open');
    session.destroy();
  });

  test('is cut off after a while even if little waits for it', async () => {
    await using wire = await startWireServer({ limits: { stalledMs: 200 } });
    for (let i = 0; i < 200; i++) wire.api.put('default', `m-${i}`, { text: 'x'.repeat(100_000) });
    const socket = await rawWatch(wire);
    socket.pause();
    await until('it was asked for', () => wire.api.requests.length === 1);
    await until('it is cut off', () => wire.metrics.text().includes('mooring_connections 0\n'));
    expect(wire.api.openWatches).toBe(0);
    socket.destroy();
  });

  test('the state it begins with may be larger than what may wait, if it is read', async () => {
    await using wire = await startWireServer({ limits: { watchBufferBytes: 1024 * 1024 } });
    for (let i = 0; i < 200; i++) wire.api.put('default', `m-${i}`, { text: 'x'.repeat(100_000) });
    const reader = await watchHttp1(wire);
    await until('all of it', () => reader.frames.length === 200);
    wire.api.put('default', 'last', {});
    await until('what came later', () => names(reader).at(-1) === 'ADDED last');
  });
});

describe('a connection over HTTP/2', () => {
  test('is closed when it has carried nothing for a while, and not while it carries a watch', async () => {
    let passed = 0;
    const timed = (real: World): World => ({ ...real, clock: { ...real.clock, monotonic: () => real.clock.monotonic() + passed } });
    await using wire = await startWireServer({ limits: { idleMs: 3_600_000, probeMs: 30, probeIdleMs: 30 }, timed });
    const idle = connect(wire.server.url, credentials(wire));
    const used = connect(wire.server.url, credentials(wire));
    const watch = await watchHttp2(used);
    await requestHttp2(idle, '/healthz');
    passed = 2 * 3_600_000;
    await until('the idle one is closed', () => idle.closed || idle.destroyed);
    expect(watch.state).toBe('open');
    expect(used.closed).toBe(false);
    used.destroy();
  });
});

describe('a client that vanished', () => {
  test('is noticed by its silence over HTTP/2', async () => {
    // How long an answer may take is up to the test: a slow machine is no client that vanished.
    const answerMs = 3_600_000;
    const overdue = new Set<() => void>();
    const timed = (real: World): World => ({
      ...real,
      timers: {
        ...real.timers,
        after(ms, callback) {
          if (ms !== answerMs) return real.timers.after(ms, callback);
          overdue.add(callback);
          return () => overdue.delete(callback);
        },
      },
    });
    await using wire = await startWireServer({ limits: { probeMs: 50, probeIdleMs: 50, probeAnswerMs: answerMs }, timed });
    // Between client and server, something that stops passing on what it gets, and closes nothing.
    let blackHole = false;
    const proxy = net.createServer((client) => {
      const server = net.connect(wire.server.port, '127.0.0.1');
      client.on('data', (chunk) => blackHole || server.write(chunk));
      server.on('data', (chunk) => blackHole || client.write(chunk));
      for (const socket of [client, server]) socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const session = connect(`https://127.0.0.1:${(proxy.address() as net.AddressInfo).port}`, credentials(wire));
    session.on('error', () => undefined);
    await watchHttp2(session);
    await requestHttp2(session, '/healthz');
    let probes = 0;
    session.on('ping', () => (probes += 1));
    await until('several probes came, which the client answers', () => probes >= 3);
    expect(wire.api.openWatches).toBe(1);
    blackHole = true;
    await until('the watch is gone', () => {
      for (const callback of overdue) callback();
      return wire.api.openWatches === 0;
    });
    session.destroy();
    proxy.close();
  });
});

/** A watch on a bare connection, so that a test decides what is read and when. */
async function rawWatch(wire: WireServer): Promise<tls.TLSSocket> {
  const socket = tls.connect({ host: '127.0.0.1', port: wire.server.port, ...credentials(wire), ALPNProtocols: ['http/1.1'] });
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.once('secureConnect', resolve));
  socket.write(`GET ${watchPath} HTTP/1.1\r\nhost: x\r\n\r\n`);
  return socket;
}
