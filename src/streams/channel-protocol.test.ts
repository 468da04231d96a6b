import type { IncomingMessage } from 'node:http';
import { Duplex, PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { channelProtocols } from './channel-protocol.ts';
import type { Session } from './contract.ts';
import { serveReader } from './reader-socket.ts';
import { serveSession, type UpgradeRequest } from './upgrades.ts';

const handshake = { upgrade: 'websocket', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' };

/** A client that offers a subprotocol, '': none, and what the server wrote to it. */
function client(protocol: string): { readonly request: UpgradeRequest; readonly head: () => string; readonly messages: () => string[] } {
  const written: Buffer[] = [];
  const socket = new Duplex({ read: () => undefined, write: (chunk: Buffer, _, callback) => callback(void written.push(Buffer.from(chunk))) });
  const headers: Readonly<Record<string, string>> = { ...handshake, ...(protocol === '' ? {} : { 'sec-websocket-protocol': protocol }) };
  const all = (): Buffer => Buffer.concat(written);
  const end = (): number => all().indexOf('\r\n\r\n') + 4;
  return {
    request: {
      header: (name) => headers[name],
      headersWithPrefix: () => [],
      upgrade: () => ({ request: { method: 'GET', headers } as unknown as IncomingMessage, socket, head: Buffer.alloc(0) }),
    },
    head: () => all().subarray(0, end()).toString(),
    messages: () => framesIn(all().subarray(end())),
  };
}

/** The frames of a server have no mask, and are short here. */
function framesIn(bytes: Buffer): string[] {
  const found: string[] = [];
  for (let at = 0; at + 2 <= bytes.length; at += 2 + (bytes[at + 1] ?? 0)) {
    const opcode = (bytes[at] ?? 0) & 15;
    const name = { 1: 'text', 2: 'binary', 8: 'close' }[opcode] ?? String(opcode);
    found.push(opcode === 8 ? name : `${name} ${bytes.toString('latin1', at + 2, at + 2 + (bytes[at + 1] ?? 0))}`);
  }
  return found;
}

/** A program that prints, and ends with a code. */
function program(text: string, code: number): Session {
  const stdout = new PassThrough();
  stdout.end(text);
  return { stdin: undefined, stdout, stderr: undefined, resize: () => undefined, done: Promise.resolve(code), close: () => undefined };
}

const options = { stdin: false, stdout: true, stderr: false, tty: false };
const timers = { after: () => () => undefined, soon: (callback: () => void) => callback() } as never;

async function messagesOf(protocol: string, code: number): Promise<{ readonly head: string; readonly messages: string[] }> {
  const { request, head, messages } = client(protocol);
  await serveSession(request, { options, timers, open: async () => ({ ok: true, value: program('hello', code) }) });
  await expect.poll(messages).toContain('close');
  return { head: head(), messages: messages() };
}

test('before v4 a program that succeeds ends without a message', async () => {
  expect((await messagesOf('channel.k8s.io', 0)).messages).toEqual(['binary \x01', 'binary \x01hello', 'close']);
  expect((await messagesOf('channel.k8s.io', 2)).messages.at(-2)).toBe('binary \x03command terminated with non-zero exit code: exit status 2');
});

test('a client that offers no subprotocol is granted none', async () => {
  const { head, messages } = await messagesOf('', 0);
  expect(head).toContain('101 Switching Protocols');
  expect(head).not.toContain('Sec-WebSocket-Protocol');
  expect(messages).toEqual(['binary \x01', 'binary \x01hello', 'close']);
});

test('base64 comes as text, behind the digit of its channel', async () => {
  const encoded = Buffer.from('hello').toString('base64');
  expect((await messagesOf('base64.channel.k8s.io', 0)).messages).toEqual(['text 1', `text 1${encoded}`, 'close']);
  expect((await messagesOf('v4.base64.channel.k8s.io', 0)).messages.at(-2)).toMatch(/^text 3/);
});

test('every protocol reads what it writes', () => {
  for (const protocol of channelProtocols) {
    const message = protocol.encode(4, Buffer.from([0, 255, 10]));
    expect(protocol.decode(Buffer.from(message)), protocol.name).toEqual({ channel: 4, bytes: Buffer.from([0, 255, 10]) });
  }
});

test('others are refused', async () => {
  const { request } = client('v9.channel.k8s.io');
  const refused = serveSession(request, { options, timers, open: async () => ({ ok: true, value: program('', 0) }) });
  await expect(refused).rejects.toMatchObject({ code: 400 });
});

test.each([
  ['', 'binary one line\n'],
  ['binary.k8s.io', 'binary one line\n'],
  ['base64.binary.k8s.io', `text ${Buffer.from('one line\n').toString('base64')}`],
])('a log is read with %s', async (protocol, expected) => {
  const { request, messages } = client(protocol);
  const log = new PassThrough();
  log.end('one line\n');
  serveReader(request, log);
  await expect.poll(messages).toEqual([expected, 'close']);
});
