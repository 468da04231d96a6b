import { describe, expect, test } from 'vitest';
import { parseAddress } from './address.ts';
import { frame, FrameDecoder } from './frames.ts';
import { percentDecoded, percentEncoded } from './percent-encoding.ts';
import { formatTimeout, parseTimeout } from './timeout.ts';

test('any text survives percent-encoding, and the encoded form is ASCII', () => {
  for (const text of ['', 'plain', '100%', 'a\nb', 'π \u{1f4be}', '%41', '\0\x7f']) {
    expect(percentEncoded(text)).toMatch(/^[\x20-\x7e]*$/);
    expect(percentDecoded(percentEncoded(text))).toBe(text);
  }
  expect(percentEncoded('π%')).toBe('%CF%80%25');
});

test('what is not percent-encoded, or no UTF-8, is kept', () => {
  expect(percentDecoded('50% of %4')).toBe('50% of %4');
  expect(percentDecoded('%ff')).toBe('%ff');
  expect(percentDecoded('\u00cf\u0080')).toBe('π');
});

test('timeouts have at most 8 digits and are never shortened', () => {
  for (const ms of [1, 0.2, 1_500, 99_999_999, 100_000_001, 1e12]) {
    const value = formatTimeout(ms);
    expect(value).toMatch(/^\d{1,8}[HMSm]$/);
    expect(parseTimeout(value)).toBeGreaterThanOrEqual(ms);
  }
  expect(formatTimeout(1e30)).toBe('99999999H');
  expect([parseTimeout('5S'), parseTimeout('100u'), parseTimeout('2H')]).toEqual([5_000, 0.1, 7_200_000]);
  for (const malformed of ['', '5', 'S', '123456789m', '-1S', '1s', '1.5S']) expect(parseTimeout(malformed)).toBeUndefined();
});

test('addresses', () => {
  expect(parseAddress('unix:///run/csi.sock')).toEqual({ path: '/run/csi.sock' });
  expect(parseAddress('unix:csi.sock')).toEqual({ path: 'csi.sock' });
  expect(parseAddress('/run/csi.sock')).toEqual({ path: '/run/csi.sock' });
  expect(parseAddress('[::1]:2379')).toEqual({ host: '::1', port: 2379 });
  expect(parseAddress('tcp://etcd:2379')).toEqual({ host: 'etcd', port: 2379 });
  for (const wrong of ['', 'unix://', 'etcd', 'etcd:99999', 'http://etcd:1', 'a b:1']) expect(() => parseAddress(wrong)).toThrow(JSON.stringify(wrong));
});

describe('frames', () => {
  const messages = [new Uint8Array(), Buffer.from('one'), Buffer.alloc(70_000, 7)];
  const bytes = Buffer.concat(messages.map((message) => frame(message)));

  test.each([1, 2, 4, 5, 6, 1_000, bytes.length])('messages come out whole, in chunks of %i', (size) => {
    const decoder = new FrameDecoder(100_000, 'Internal');
    const received: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) received.push(...decoder.push(bytes.subarray(at, at + size)));
    expect(received.map((message) => Buffer.from(message))).toEqual(messages.map((message) => Buffer.from(message)));
    expect(decoder.isEmpty).toBe(true);
  });

  test('a message that is too long is refused with its header', () => {
    expect(() => new FrameDecoder(10, 'Internal').push(Buffer.from([0, 0, 0, 0, 11]))).toThrow('grpc: received message larger than max (11 vs. 10)');
    expect(() => frame(new Uint8Array(11), 10)).toThrow('trying to send message larger than max (11 vs. 10)');
  });
});
