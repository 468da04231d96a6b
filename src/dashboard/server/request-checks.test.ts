import { describe, expect, test } from 'vitest';
import { type BrowserRequest, crossSiteRefusal, isLoopback, refusal } from './request-checks.ts';

const request = (headers: Readonly<Record<string, string>>, localAddress = '127.0.0.1'): BrowserRequest => ({
  method: 'GET',
  header: (name) => headers[name],
  localAddress,
});
const loopback = { hosts: [], beyondLoopback: false };

describe('the host of a request', () => {
  test.each(['127.0.0.1:6443', 'localhost:6443', '[::1]:6443', 'LOCALHOST'])('%s is one of loopback', (host) => {
    expect(refusal(request({ host }), loopback)).toBeUndefined();
  });

  test.each(['evil.example:6443', '127.0.0.1.evil.example', 'localhost.', ''])('%j is refused: a name of another site may point here', (host) => {
    expect(refusal(request({ host }), loopback)).toMatch('not served under the name');
  });

  test('is needed', () => {
    expect(refusal(request({}), loopback)).toBe('the request has no Host');
  });

  test('may be a name of the server', () => {
    const reach = { hosts: ['moor.example', 'fd00::1'], beyondLoopback: true };
    for (const host of ['moor.example:6443', '[fd00::1]:6443']) expect(refusal(request({ host }, '10.0.0.1'), reach)).toBeUndefined();
  });
});

test('a connection to another address than loopback is refused, unless the dashboard was asked for there', () => {
  const asked = request({ host: '127.0.0.1' }, '10.0.0.1');
  expect(refusal(asked, loopback)).toBe('the dashboard is served on loopback addresses only');
  expect(refusal(asked, { ...loopback, beyondLoopback: true })).toBeUndefined();
});

test('addresses of loopback', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].every(isLoopback)).toBe(true);
  expect(['10.0.0.1', '::', '', '::ffff:10.0.0.1', '1127.0.0.1'].some(isLoopback)).toBe(false);
});

describe('a request with a session', () => {
  const from = (headers: Readonly<Record<string, string>>) => crossSiteRefusal(request({ host: '127.0.0.1:6443', ...headers }));

  test('comes from the page itself', () => {
    expect(from({})).toBeUndefined();
    expect(from({ 'sec-fetch-site': 'same-origin', origin: 'https://127.0.0.1:6443' })).toBeUndefined();
  });

  test.each(['cross-site', 'same-site', 'none'])('is refused with Sec-Fetch-Site: %s', (site) => {
    expect(from({ 'sec-fetch-site': site })).toMatch('another site');
  });

  test.each(['https://evil.example', 'https://127.0.0.1:9999', 'http://127.0.0.1:6443', 'null'])('is refused from the origin %s', (origin) => {
    expect(from({ origin })).toMatch('another origin');
  });
});
