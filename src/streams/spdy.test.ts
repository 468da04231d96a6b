import type { Duplex } from 'node:stream';
import { constants, deflateSync, inflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { duplexPair } from './duplex-pair.ts';
import { SpdySession, type SpdyStream } from './spdy.ts';
import { spdyDictionary } from './spdy-dictionary.ts';

const uint32 = (value: number): Buffer => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value].map((byte) => byte & 255));
const pair = (text: string): Buffer => Buffer.concat([uint32(text.length), Buffer.from(text)]);

function frame(first: number, flags: number, payload: Buffer): Buffer {
  return Buffer.concat([uint32(first), uint32((flags << 24) | payload.length), payload]);
}

const synStream = (id: number, packed: Buffer): Buffer => frame(0x80030001, 0, Buffer.concat([uint32(id), uint32(0), Buffer.from([0, 0]), packed]));

/** The first block of headers on a connection, as a client packs it. */
function packed(headers: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(headers);
  const block = Buffer.concat([uint32(entries.length), ...entries.flatMap(([name, value]) => [pair(name), pair(value)])]);
  return deflateSync(block, { dictionary: spdyDictionary, finishFlush: constants.Z_SYNC_FLUSH });
}

async function collect(far: Duplex, isEnough: (bytes: Buffer) => boolean): Promise<Buffer> {
  let all = Buffer.alloc(0);
  for await (const chunk of far) {
    all = Buffer.concat([all, chunk as Buffer]);
    if (isEnough(all)) break;
  }
  return all;
}

describe('SPDY', () => {
  test('a stream that the client opens is accepted, and data flows both ways', async () => {
    const [near, far] = duplexPair();
    const opened = new Promise<SpdyStream>((resolve) => {
      const session = new SpdySession(near, Buffer.alloc(0), resolve);
      expect(session).toBeDefined();
    });
    far.write(synStream(1, packed({ streamtype: 'data', port: '8080', requestid: '0' })));
    const stream = await opened;
    expect([...stream.headers]).toEqual([
      ['streamtype', 'data'],
      ['port', '8080'],
      ['requestid', '0'],
    ]);
    stream.write('from the server');
    const data = frame(1, 1, Buffer.from('from the client'));
    far.write(data.subarray(0, 11));
    far.write(data.subarray(11));
    const heard: Buffer[] = [];
    for await (const chunk of stream) heard.push(chunk as Buffer);
    expect(Buffer.concat(heard).toString()).toBe('from the client');
    const said = await collect(far, (bytes) => bytes.includes('from the server'));
    // The reply: no headers, which any reader of zlib understands.
    expect(said.readUInt32BE(0)).toBe(0x80030002);
    const length = said.readUIntBE(5, 3);
    expect(said.readUInt32BE(8)).toBe(1);
    expect(inflateSync(said.subarray(12, 8 + length), { finishFlush: constants.Z_SYNC_FLUSH })).toEqual(uint32(0));
    const answer = frame(1, 0, Buffer.from('from the server'));
    expect(said.subarray(8 + length, 8 + length + answer.length)).toEqual(answer);
  });

  test('pings come back', async () => {
    const [near, far] = duplexPair();
    const session = new SpdySession(near, Buffer.alloc(0), () => undefined);
    const ping = frame(0x80030006, 0, uint32(7));
    far.write(ping);
    expect(await collect(far, (bytes) => bytes.length >= ping.length)).toEqual(ping);
    session.end();
  });

  test('a peer that breaks the protocol is disconnected', async () => {
    const [near, far] = duplexPair();
    const session = new SpdySession(near, Buffer.alloc(0), () => undefined);
    far.write(frame(1, 0, Buffer.alloc(0)).fill(255, 5));
    await new Promise((resolve) => near.once('close', resolve));
    expect(near.destroyed).toBe(true);
    session.end();
  });

  test('headers that unpack to megabytes end the connection', async () => {
    const [near, far] = duplexPair();
    let opened = 0;
    const session = new SpdySession(near, Buffer.alloc(0), () => void opened++);
    expect(session).toBeDefined();
    far.resume();
    far.write(synStream(1, deflateSync(Buffer.alloc(100 * 1024 * 1024), { dictionary: spdyDictionary, finishFlush: constants.Z_SYNC_FLUSH })));
    await expect.poll(() => near.destroyed).toBe(true);
    expect(opened).toBe(0);
  });
});
