import { describe, expect, test } from 'vitest';
import { parseTarget, requestedTimeout } from './request-target.ts';

test('a target may be a whole URL, as proxies send it', () => {
  const { path, query } = parseTarget('http://host/api/v1/pods?watch=1');
  expect([path, query.get('watch')]).toEqual(['/api/v1/pods', '1']);
});

test.each(['', 'nonsense', 'api/v1/pods'])('%j is no target', (target) => {
  expect(() => parseTarget(target)).toThrow(expect.objectContaining({ code: 400 }) as Error);
});

describe('how long a client waits', () => {
  test.each([
    ['', 0],
    ['timeout=', 0],
    ['timeout=0', 0],
    ['timeout=32s', 32_000],
    ['timeout=1m30s', 90_000],
    ['timeout=1.5h', 5_400_000],
    ['timeout=250ms', 250],
    ['timeout=-5s', 0],
    [`timeout=${'11s'.repeat(10_000)}`, 110_000_000],
  ])('%j → %d ms', (query, ms) => {
    expect(requestedTimeout(new URLSearchParams(query))).toBe(ms);
  });

  test('a text that can be divided in many ways is refused at once', () => {
    expect(() => requestedTimeout(new URLSearchParams({ timeout: `${'11s'.repeat(10_000)}!` }))).toThrow('unknown unit "s!"');
  });

  test.each([
    ['soon', 'time: invalid duration "soon"'],
    ['5', 'time: missing unit in duration "5"'],
    ['5x', 'time: unknown unit "x" in duration "5x"'],
    ['5s!', 'time: unknown unit "s!" in duration "5s!"'],
  ])('%j is none', (value, problem) => {
    expect(() => requestedTimeout(new URLSearchParams({ timeout: value }))).toThrow(`invalid timeout specified in the request URL - ${problem}`);
  });
});
