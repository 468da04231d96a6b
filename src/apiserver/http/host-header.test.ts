import { expect, test } from 'vitest';
import { authorityProblem, hostProblem } from './host-header.ts';

test.each([
  [['Host', 'a'], '1.1', undefined],
  [['accept', 'x', 'hOsT', '[::1]:6443'], '1.1', undefined],
  [['Host', ''], '1.1', undefined],
  [[], '1.1', 'missing required Host header'],
  [['x-host', 'a'], '1.1', 'missing required Host header'],
  [[], '1.0', undefined],
  [['Host', 'a', 'host', 'a'], '1.1', 'too many Host headers'],
  [['Host', 'a', 'host', 'b'], '1.0', 'too many Host headers'],
  ...['a b', 'a/b', 'a?b', 'a#b', 'user@a', 'a\\b', '"a"', 'a\tb', 'ä', '<a>', '{a}', 'a,b c'].map(
    (host) => [['Host', host], '1.1', 'malformed Host header'] as const,
  ),
  [['Host', 'a b'], '1.0', 'malformed Host header'],
] as const)('the headers %j of HTTP/%s: %s', (raw, version, problem) => expect(hostProblem(raw, version)).toBe(problem));

test.each([
  [[], 'a:6443', undefined],
  [[], undefined, undefined],
  [['host', 'a'], undefined, undefined],
  [['host', 'A:6443'], 'a:6443', undefined],
  [['host', 'b'], 'a', 'the Host header differs from :authority'],
  [['host', ''], 'a', 'the Host header differs from :authority'],
  [['host', 'a', 'host', 'a'], 'a', 'too many Host headers'],
  [['host', 'a b'], undefined, 'malformed Host header'],
  [[], 'user@a', 'malformed Host header'],
])('the headers %j with :authority %s: %s', (raw, authority, problem) => expect(authorityProblem(raw, authority)).toBe(problem));
