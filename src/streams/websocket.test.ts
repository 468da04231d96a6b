import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { negotiateProtocol, WebSocketConnection } from './websocket.ts';

const headers: Readonly<Record<string, string>> = {
  upgrade: 'websocket',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-version': '13',
  'sec-websocket-protocol': 'v9.channel.k8s.io, v5.channel.k8s.io',
};

/** A frame as clients send it. `first`: the byte with the opcode. */
function masked(first: number, payload: Buffer): Buffer {
  const mask = Buffer.from([1, 2, 3, 4]);
  const length = payload.length < 126 ? Buffer.from([0x80 | payload.length]) : Buffer.from([0x80 | 126, payload.length >> 8, payload.length & 255]);
  return Buffer.concat([Buffer.from([first]), length, mask, Buffer.from(payload.map((byte, i) => byte ^ (mask[i % 4] ?? 0)))]);
}

/** A connection whose socket shows what was written to it. `stuck`: the peer takes nothing. */
function open({ head = Buffer.alloc(0), stuck = false }: { head?: Buffer; stuck?: boolean } = {}) {
  const written: Buffer[] = [];
  const socket = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, callback) => {
      written.push(chunk);
      if (!stuck) callback();
    },
  });
  const connection = WebSocketConnection.accept({ request: { method: 'GET', headers } as unknown as IncomingMessage, socket, head }, 'v5.channel.k8s.io');
  if (connection === undefined) throw new Error('not accepted');
  const messages: string[] = [];
  let closed = 0;
  const start = () => connection.start({ onMessage: (message) => messages.push(message.toString()), onClose: () => closed++ });
  const text = () => Buffer.concat(written).toString('latin1');
  const frames = () => Buffer.from(text().slice(text().indexOf('\r\n\r\n') + 4), 'latin1');
  return { socket, connection, start, messages, text, frames, closed: () => closed };
}

const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

describe('WebSockets', () => {
  test('the subprotocol is the first of the client’s that the server speaks', () => {
    expect(negotiateProtocol((name) => headers[name], ['v5.channel.k8s.io', 'v4.channel.k8s.io'])).toBe('v5.channel.k8s.io');
    expect(negotiateProtocol((name) => headers[name], ['v1'])).toBeUndefined();
    expect(negotiateProtocol((name) => (name === 'sec-websocket-key' ? 'short' : headers[name]), ['v5.channel.k8s.io'])).toBeUndefined();
    expect(negotiateProtocol((name) => (name === 'sec-websocket-version' ? '12' : headers[name]), ['v5.channel.k8s.io'])).toBeUndefined();
  });

  test('the handshake is that of RFC 6455', () => {
    const { text } = open();
    expect(text()).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    expect(text()).toContain('Sec-WebSocket-Protocol: v5.channel.k8s.io');
  });

  test('the subprotocol need not be a token, nor the method GET: kubectl forwards ports by the first, and exec may be posted', () => {
    const written: string[] = [];
    const socket = new Duplex({ read: () => undefined, write: (chunk: Buffer, _encoding, callback) => callback(void written.push(chunk.toString())) });
    const protocol = 'SPDY/3.1+portforward.k8s.io';
    const request = { method: 'POST', headers: { ...headers, 'sec-websocket-protocol': protocol } } as unknown as IncomingMessage;
    expect(WebSocketConnection.accept({ request, socket, head: Buffer.alloc(0) }, protocol)).toBeDefined();
    expect(written.join('')).toMatch(/^HTTP\/1\.1 101 [^]*\r\nSec-WebSocket-Protocol: SPDY\/3\.1\+portforward\.k8s\.io\r\n\r\n$/);
  });

  test('messages wait for the start, arrive whole, and pings are answered in between', async () => {
    const { socket, start, messages, frames } = open({ head: masked(0x02, Buffer.from('one ')) });
    socket.push(Buffer.concat([masked(0x89, Buffer.from('p')), masked(0x80, Buffer.from('message')), masked(0x82, Buffer.from('x'.repeat(300)))]));
    await soon();
    expect(messages).toEqual([]);
    start();
    await soon();
    expect(messages).toEqual(['one message', 'x'.repeat(300)]);
    expect(frames()).toEqual(Buffer.from([0x8a, 1, 'p'.charCodeAt(0)]));
  });

  test('a sender learns that the client does not keep up', () => {
    expect(open().connection.send(Buffer.alloc(10))).toBe(true);
    expect(open({ stuck: true }).connection.send(Buffer.alloc(1024 * 1024))).toBe(false);
  });

  test.each([
    ['a frame without a mask', Buffer.from([0x82, 1, 65]), 1002],
    ['a message that is too long', Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 0x40, 0, 1, 1, 2, 3, 4]), 1009],
  ])('%s ends the connection, once', async (_, bytes, code) => {
    const { socket, start, frames, closed, messages } = open();
    start();
    socket.push(bytes);
    await soon();
    expect(frames()).toEqual(Buffer.from([0x88, 2, code >> 8, code & 255]));
    socket.push(null);
    await soon();
    expect([closed(), messages]).toEqual([1, []]);
  });
});
