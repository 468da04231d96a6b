import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Exchange, Output, ResponseHead } from '../exchange.ts';
import { defaultLimits } from '../limits.ts';
import { type Reply, sendReply, standardHeaders } from './reply.ts';

/** A client that takes as much as a test lets it, and remembers it. */
class FakeClient {
  readonly received: Uint8Array[] = [];
  readonly heads: ResponseHead[] = [];
  state: 'open' | 'ended' | 'aborted' = 'open';
  /** Bytes that lie in the connection. */
  waiting = 0;
  #drained: (() => void)[] = [];
  #closed: (() => void)[] = [];

  exchange(address: string, headers: Record<string, string> = {}): Exchange {
    return {
      method: 'GET',
      target: '/',
      protocol: 'HTTP/1.1',
      headersWithPrefix: () => [],
      header: (name) => headers[name],
      socket: { remoteAddress: address } as Exchange['socket'],
      body: () => Promise.resolve(new Uint8Array()),
      respond: (head, body) => {
        this.heads.push(head);
        this.received.push(body);
        this.state = 'ended';
      },
      open: (head) => {
        this.heads.push(head);
        return this.#output();
      },
      onClose: (callback) => void this.#closed.push(callback),
    };
  }

  #output(): Output {
    return {
      write: (bytes) => {
        this.received.push(bytes);
        this.waiting += bytes.length;
      },
      buffered: () => this.waiting,
      onceDrained: (callback) => void this.#drained.push(callback),
      end: () => {
        this.state = 'ended';
      },
      abort: () => {
        this.state = 'aborted';
        for (const closed of this.#closed) closed();
      },
    };
  }

  takeAll(): void {
    this.waiting = 0;
    for (const drained of this.#drained.splice(0)) drained();
  }
}

const piece = Buffer.alloc(600_000, 0x61);
const pieces = (count: number): Reply => ({
  code: 200,
  headers: ['content-type', 'application/json'],
  body: { type: 'pieces', length: count * piece.length, pieces: Array.from({ length: count }, () => piece) },
});

/** Timers that fire when a test says so. */
function handTimers(): { timers: Parameters<typeof sendReply>[2]['timers']; fire: () => void; readonly armed: number } {
  const armed = new Set<() => void>();
  return {
    timers: {
      after: (_ms, callback) => {
        armed.add(callback);
        return () => void armed.delete(callback);
      },
      soon: (callback) => void setImmediate(callback),
    },
    fire: () => {
      for (const callback of armed) callback();
    },
    get armed() {
      return armed.size;
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('sending an answer', () => {
  test('in pieces, never more than a client that is slow can be kept waiting with', async () => {
    const client = new FakeClient();
    const { timers, ...state } = handTimers();
    const sending = sendReply(client.exchange('192.0.2.1'), pieces(10), { limits: defaultLimits, timers });
    await turn();
    expect(client.received.length).toBe(2);
    client.takeAll();
    await turn();
    expect(client.received.length).toBe(4);
    while (client.state === 'open') {
      client.takeAll();
      await turn();
    }
    await sending;
    expect(Buffer.concat(client.received).length).toBe(10 * piece.length);
    expect(client.heads[0]?.headers).toContain('content-length');
    expect(state.armed).toBe(0);
  });

  test('a client that takes nothing is given up', async () => {
    const client = new FakeClient();
    const { timers, fire } = handTimers();
    const sending = sendReply(client.exchange('192.0.2.1'), pieces(10), { limits: defaultLimits, timers });
    await turn();
    fire();
    await sending;
    expect(client.state).toBe('aborted');
    expect(client.received.length).toBe(2);
  });

  test.each([
    ['192.0.2.1', 'gzip', true],
    ['192.0.2.1', 'br, gzip', true],
    ['192.0.2.1', 'br', false],
    ['127.0.0.1', 'gzip', false],
    ['::1', 'gzip', false],
    ['::ffff:127.0.0.1', 'gzip', false],
  ])('to %s, which takes %s: compressed %s', async (address, encoding, compressed) => {
    const client = new FakeClient();
    const whole: Reply = { code: 200, headers: [], body: { type: 'whole', bytes: piece } };
    await sendReply(client.exchange(address, { 'accept-encoding': encoding }), whole, { limits: defaultLimits, timers: handTimers().timers });
    const sent = Buffer.concat(client.received);
    expect(client.state).toBe('ended');
    expect(client.heads[0]?.headers.includes('gzip')).toBe(compressed);
    expect((compressed ? gunzipSync(sent) : sent).equals(piece)).toBe(true);
  });

  test('a short answer is never compressed', async () => {
    const client = new FakeClient();
    const short: Reply = { code: 200, headers: [], body: { type: 'whole', bytes: Buffer.from('{}') } };
    await sendReply(client.exchange('192.0.2.1', { 'accept-encoding': 'gzip' }), short, { limits: defaultLimits, timers: handTimers().timers });
    expect(Buffer.concat(client.received).toString()).toBe('{}');
  });

  test('an answer that breaks in the middle says so', async () => {
    const client = new FakeClient();
    const broken: Reply = {
      code: 200,
      headers: [],
      body: {
        type: 'pieces',
        length: 2_000_000,
        pieces: (function* () {
          yield piece;
          throw new Error('broken');
        })(),
      },
    };
    await expect(sendReply(client.exchange('192.0.2.1'), broken, { limits: defaultLimits, timers: handTimers().timers })).rejects.toThrow('broken');
    expect(client.state).toBe('open');
  });

  test('every answer carries its id and is not cached', () => {
    expect(standardHeaders('id', 'application/json', ['careful'])).toEqual(
      ['audit-id', 'id', 'cache-control', 'no-cache, private', 'content-type', 'application/json'].concat('warning', '299 - "careful"'),
    );
  });
});
