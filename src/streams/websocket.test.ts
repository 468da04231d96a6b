import { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { handshake, WebSocketConnection } from './websocket.ts';

/** A socket of which one sees what was written to it. */
function socket(): { readonly socket: Duplex; readonly written: () => Buffer } {
  const written: Buffer[] = [];
  const duplex = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, callback) => {
      written.push(chunk);
      callback();
    },
  });
  return { socket: duplex, written: () => Buffer.concat(written) };
}

/** A frame as clients send it. `first`: the byte with the opcode. */
function masked(first: number, payload: Buffer): Buffer {
  const mask = Buffer.from([1, 2, 3, 4]);
  const length = payload.length < 126 ? Buffer.from([0x80 | payload.length]) : Buffer.from([0x80 | 126, payload.length >> 8, payload.length & 255]);
  return Buffer.concat([Buffer.from([first]), length, mask, Buffer.from(payload.map((byte, i) => byte ^ (mask[i % 4] ?? 0)))]);
}

function open() {
  const { socket: line, written } = socket();
  const messages: string[] = [];
  let closed = 0;
  const connection = new WebSocketConnection(line, Buffer.alloc(0), { onMessage: (message) => messages.push(message.toString()), onClose: () => closed++ });
  return { line, written, messages, connection, closed: () => closed };
}

const closeFrame = (code: number): Buffer => Buffer.from([0x88, 2, code >> 8, code & 255]);

describe('WebSockets', () => {
  test('the handshake is that of RFC 6455, for a protocol that both speak', () => {
    const headers: Record<string, string> = {
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-version': '13',
      'sec-websocket-protocol': 'v9.channel.k8s.io, v5.channel.k8s.io',
    };
    const agreed = handshake((name) => headers[name], ['v5.channel.k8s.io', 'v4.channel.k8s.io']);
    expect(agreed?.protocol).toBe('v5.channel.k8s.io');
    expect(agreed?.headers).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    expect(handshake((name) => headers[name], ['v1'])).toBeUndefined();
    expect(handshake((name) => (name === 'sec-websocket-key' ? 'short' : headers[name]), ['v5.channel.k8s.io'])).toBeUndefined();
  });

  test('messages arrive whole, however they were cut; pings are answered in between', () => {
    const { line, messages, written } = open();
    const long = 'x'.repeat(300);
    const bytes = Buffer.concat([
      masked(0x02, Buffer.from('one ')),
      masked(0x89, Buffer.from('p')),
      masked(0x80, Buffer.from('message')),
      masked(0x82, Buffer.from(long)),
    ]);
    for (const byte of bytes) line.emit('data', Buffer.from([byte]));
    expect(messages).toEqual(['one message', long]);
    expect(written()).toEqual(Buffer.from([0x8a, 1, 'p'.charCodeAt(0)]));
  });

  test('what is sent has its length in as many bytes as it needs', () => {
    const { connection, written } = open();
    connection.send(Buffer.alloc(125));
    connection.send(Buffer.alloc(126));
    connection.send(Buffer.alloc(70_000));
    expect(written().subarray(0, 2)).toEqual(Buffer.from([0x82, 125]));
    expect(written().subarray(127, 131)).toEqual(Buffer.from([0x82, 126, 0, 126]));
    expect(written().subarray(257, 267)).toEqual(Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 1, 0x11, 0x70]));
  });

  test.each([
    ['a frame without a mask', Buffer.from([0x82, 1, 65]), 1002],
    ['a message that goes on before it began', masked(0x80, Buffer.from('x')), 1002],
    ['an unknown kind of frame', masked(0x83, Buffer.from('x')), 1002],
    ['bits of an extension that nobody agreed on', masked(0xc2, Buffer.from('x')), 1002],
    ['a long ping', masked(0x89, Buffer.alloc(126)), 1002],
    ['a message that is too long', Buffer.from([0x82, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4]), 1009],
    ['a goodbye', masked(0x88, Buffer.alloc(0)), 1000],
  ])('%s ends the connection, once', (_, bytes, code) => {
    const { line, written, closed, messages } = open();
    line.emit('data', bytes);
    line.emit('data', masked(0x82, Buffer.from('too late')));
    expect(written()).toEqual(closeFrame(code));
    expect([closed(), messages]).toEqual([1, []]);
  });
});
