import { describe, expect, test } from 'vitest';
import { parseListen } from './shared-flags.ts';

describe('--listen', () => {
  test.each([
    ['127.0.0.1:6443', { host: '127.0.0.1', port: 6443 }],
    ['0.0.0.0:0', { host: '0.0.0.0', port: 0 }],
    ['[::1]:80', { host: '::1', port: 80 }],
    [':8443', { host: '127.0.0.1', port: 8443 }],
    ['8443', { host: '127.0.0.1', port: 8443 }],
    ['moor.example:1', { host: 'moor.example', port: 1 }],
  ])('%s', (text, expected) => expect(parseListen(text)).toEqual(expected));

  test.each(['', 'localhost', '127.0.0.1:', '127.0.0.1:65536', '::1:80', 'a:b', '1.2.3.4:-1'])('refuses %j and says what would be right', (text) =>
    expect(() => parseListen(text)).toThrow(/--listen must be HOST:PORT with a port from 0 to 65535/),
  );
});
