/** One table of calls for three pairs of client and server: Mooring's own with itself, and each with @grpc/grpc-js. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CallHandler, Channel } from '../../src/grpc/channel.ts';
import { Http2Channel } from '../../src/grpc/http2-channel.ts';
import { GrpcServer } from '../../src/grpc/http2-server.ts';
import { RpcError } from '../../src/grpc/status.ts';
import { createRealWorld } from '../../src/host/world.ts';
import { GrpcJsChannel, serveWithGrpcJs } from './grpc-js-peer.ts';

const { timers } = createRealWorld({ logLevel: 'silent' });

type Serve = (address: string, handlers: ReadonlyMap<string, CallHandler>) => Promise<{ close(): Promise<void> }>;

const serveOwn: Serve = async (address, handlers) => {
  const server = new GrpcServer(handlers);
  await server.listen(address, { timers });
  return server;
};
const connectOwn = (address: string): Channel => new Http2Channel({ address, timers });
const connectJs = (address: string): Channel => new GrpcJsChannel(address);

const pairs: readonly { readonly name: string; readonly connect: (address: string) => Channel; readonly serve: Serve }[] = [
  { name: 'own client, own server', connect: connectOwn, serve: serveOwn },
  { name: 'own client, grpc-js server', connect: connectOwn, serve: serveWithGrpcJs },
  { name: 'grpc-js client, own server', connect: connectJs, serve: serveOwn },
];

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (message: Uint8Array): string => new TextDecoder().decode(message);
const weird = 'volume "π" is 100% full\n\u{1f4be} %41 %zz';

/** What the handlers under test have seen. */
interface Observed {
  aborted: boolean;
  yielded: number;
}

function handlersFor(seen: Observed): ReadonlyMap<string, CallHandler> {
  const handlers: Record<string, CallHandler> = {
    async *Echo({ requests }) {
      for await (const request of requests) yield request;
    },
    async *Metadata({ requests, metadata }) {
      for await (const request of requests) yield bytes(`${text(request)}=${metadata[text(request)]}`);
    },
    // oxlint-disable-next-line require-yield
    async *Fail({ requests }) {
      for await (const request of requests) {
        if (text(request) !== 'throw') throw new RpcError(text(request) as 'NotFound', weird);
        throw new Error('the disk is on fire');
      }
    },
    async *FailLate({ requests }) {
      for await (const request of requests) {
        yield request;
        throw new RpcError('OutOfRange', 'after one message');
      }
    },
    // oxlint-disable-next-line require-yield
    async *Wait({ signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      seen.aborted = true;
    },
    async *Count({ requests, signal }) {
      for await (const request of requests)
        for (let i = 0; i < Number(text(request)) && !signal.aborted; i++) {
          seen.yielded++;
          yield new Uint8Array(64 * 1024).fill(i);
        }
      seen.aborted = signal.aborted;
    },
  };
  return new Map(Object.entries(handlers).map(([name, handler]) => [`/test.Calls/${name}`, handler]));
}

describe.each(pairs)('$name', ({ connect, serve }) => {
  let folder: string;
  let server: { close(): Promise<void> };
  let channel: Channel;
  let seen: Observed;

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'mooring-grpc-'));
    seen = { aborted: false, yielded: 0 };
    const address = `unix://${path.join(folder, 's.sock')}`;
    server = await serve(address, handlersFor(seen));
    channel = connect(address);
  });

  afterEach(async () => {
    channel.close();
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const call = async (name: string, request: string, options?: Parameters<Channel['unary']>[2]): Promise<string> =>
    text(await channel.unary(`/test.Calls/${name}`, bytes(request), options));

  test('unary calls, one after the other and many at once', async () => {
    expect(await call('Echo', 'one')).toBe('one');
    expect(await call('Echo', '')).toBe('');
    const many = Array.from({ length: 200 }, (_, i) => `call ${i}`);
    expect(await Promise.all(many.map((each) => call('Echo', each)))).toEqual(many);
  });

  test('a message of 3 MiB in both directions', async () => {
    const large = 'x'.repeat(3 * 1024 * 1024);
    expect(await call('Echo', large)).toBe(large);
  });

  test('a message beyond the limit of the receiver', async () => {
    await expect(call('Echo', 'x'.repeat(5 * 1024 * 1024))).rejects.toMatchObject({ code: 'ResourceExhausted' });
    expect(await call('Echo', 'the channel still works')).toBe('the channel still works');
  });

  test('metadata', async () => {
    expect(await call('Metadata', 'x-epoch', { metadata: { 'x-epoch': '7 of 9' } })).toBe('x-epoch=7 of 9');
  });

  test('every code, with any text', async () => {
    for (const code of ['Canceled', 'InvalidArgument', 'NotFound', 'AlreadyExists', 'FailedPrecondition', 'Aborted', 'DataLoss', 'Unauthenticated'])
      await expect(call('Fail', code)).rejects.toMatchObject({ code, message: weird });
    await expect(call('Fail', 'throw')).rejects.toMatchObject({ code: 'Unknown', message: 'the disk is on fire' });
  });

  test('a method that is not there', async () => {
    await expect(call('Nothing', '')).rejects.toMatchObject({ code: 'Unimplemented' });
  });

  test('a deadline ends the call on both sides', async () => {
    await expect(call('Wait', '', { timeoutMs: 50 })).rejects.toMatchObject({ code: 'DeadlineExceeded' });
    await expect.poll(() => seen.aborted).toBe(true);
  });

  test('a canceled call', async () => {
    const abort = new AbortController();
    const waiting = call('Wait', '', { signal: abort.signal });
    setTimeout(() => abort.abort(), 20);
    await expect(waiting).rejects.toMatchObject({ code: 'Canceled' });
    await expect.poll(() => seen.aborted).toBe(true);
  });

  test('requests and answers take turns in a stream', async () => {
    let answered: (answer: string) => void = () => undefined;
    async function* requests(): AsyncIterable<Uint8Array> {
      for (let i = 0; i < 5; i++) {
        const turn = new Promise<string>((resolve) => (answered = resolve));
        yield bytes(`message ${i}`);
        expect(await turn).toBe(`message ${i}`);
      }
    }
    const answers: string[] = [];
    for await (const answer of channel.stream('/test.Calls/Echo', requests())) {
      answers.push(text(answer));
      answered(text(answer));
    }
    expect(answers).toHaveLength(5);
  });

  test('a stream that fails after its first answer', async () => {
    const answers: string[] = [];
    const read = async (): Promise<void> => {
      for await (const answer of channel.stream('/test.Calls/FailLate', endless())) answers.push(text(answer));
    };
    await expect(read()).rejects.toMatchObject({ code: 'OutOfRange', message: 'after one message' });
    expect(answers).toEqual(['0']);
  });

  test('a reader that stands still holds the server back, and the end of its loop cancels the call', async () => {
    let received = 0;
    for await (const answer of channel.stream('/test.Calls/Count', once('1000'))) {
      expect(answer).toHaveLength(64 * 1024);
      // Other calls go on meanwhile: long enough for a server that is not held back to send everything.
      if (++received === 1) for (let i = 0; i < 200; i++) await call('Echo', String(i));
      if (received === 3) break;
    }
    await expect.poll(() => seen.aborted).toBe(true);
    expect(seen.yielded).toBeLessThan(200);
  });

  test('a whole stream of many messages arrives', async () => {
    let received = 0;
    for await (const answer of channel.stream('/test.Calls/Count', once('300'))) expect(answer[0]).toBe(received++ % 256);
    expect(received).toBe(300);
  });
});

async function* once(request: string): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(bytes(request));
}

/** Requests until the call ends. */
async function* endless(): AsyncIterable<Uint8Array> {
  for (let i = 0; ; i++) {
    yield bytes(String(i));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
