import { describe, expect, test } from 'vitest';
import { cidrWarnings, formatIp, ipWarnings, parseCidr, parseIp, validateIp, validateLegacyCidr, validateLegacyIp } from './ip.ts';

describe('addresses in their one form', () => {
  test.each([
    ['10.0.0.1', '10.0.0.1'],
    ['010.000.000.001', '10.0.0.1'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0db8::ffff', '2001:db8::ffff'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
  ])('%s is %s', (text, canonical) => {
    const ip = parseIp(text);
    expect(ip && formatIp(ip)).toBe(canonical);
  });
});

test.each([
  '',
  '1.2.3',
  '1.2.3.256',
  '1.2.3.4.5',
  '1.2.3.a',
  ':',
  ':::',
  '1::2::3',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '12345::',
  'g::',
  '1.2.3.4::',
  'fe80::1%eth0',
  '1::2:3:4:5:6:7:8:9',
])('%j is no address', (text) => {
  expect(parseIp(text)).toBeUndefined();
  expect(validateLegacyIp(text, 'ip')).toMatchObject([{ detail: 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)' }]);
});

test('an address of old may stay in any form, a new one not', () => {
  expect(validateLegacyIp('010.0.0.1', 'ip')).toMatchObject([{ detail: 'must not have leading 0s' }]);
  expect(validateLegacyIp('::ffff:1.2.3.4', 'ip')).toMatchObject([{ detail: 'must not be an IPv4-mapped IPv6 address' }]);
  expect(validateLegacyIp('010.0.0.1', 'ip', ['010.0.0.1'])).toEqual([]);
  expect(validateIp('2001:DB8::1', 'ip')).toMatchObject([{ detail: 'must be in canonical form ("2001:db8::1")' }]);
  expect(ipWarnings('010.0.0.1', 'ip')).toEqual(['ip: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"']);
});

describe('ranges', () => {
  test.each([
    ['10.0.0.0/24', undefined],
    ['2001:db8::/64', undefined],
    ['10.0.0.0', 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
    ['10.0.0.0/33', 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
    ['10.0.0.0/08', 'must not have leading 0s in IP or prefix length'],
    ['10.0.0.1/24', 'must not have bits set beyond the prefix length'],
    ['10.0.0.128/25', undefined],
    ['::ffff:10.0.0.0/120', 'must not have an IPv4-mapped IPv6 address'],
  ])('%s', (text, problem) => expect(validateLegacyCidr(text, 'cidr').map(({ detail }) => detail)).toEqual(problem === undefined ? [] : [problem]));

  test('that are also an address are ambiguous', () => {
    expect(cidrWarnings('10.0.0.1/24', 'cidr')).toEqual([
      'cidr: CIDR value "10.0.0.1/24" is ambiguous in this context (should be "10.0.0.0/24" or "10.0.0.1/32"?)',
    ]);
    expect(cidrWarnings('2001:DB8::/64', 'cidr')).toEqual(['cidr: IPv6 CIDR value "2001:DB8::/64" should be in RFC 5952 canonical format ("2001:db8::/64")']);
    expect(parseCidr('10.0.0.0/0')?.prefix).toBe(0);
  });
});
