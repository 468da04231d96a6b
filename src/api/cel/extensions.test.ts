import { beforeAll, describe, expect, test } from 'vitest';
import { type Cel, loadCel } from './environment.ts';

let cel: Cel;
beforeAll(async () => {
  cel = await loadCel();
});

/** Examples of the documentation in v1.36.4's sources (apiserver/pkg/cel/library), and others. */
const examples: readonly (readonly [expression: string, value: unknown])[] = [
  // sets
  ["sets.contains(['a', 'b'], ['a'])", true],
  ["sets.contains([], ['a'])", false],
  ['sets.contains([1, 2, 3, 4], [2.0, 3])', true],
  ["sets.equivalent([[1], [2]], [[2], [1], [1]]) && !sets.equivalent(['1'], [1])", true],
  ["sets.intersects([{'a': 1, 'b': 2}], [{'b': 2, 'a': 1}]) && !sets.intersects([], [1])", true],
  // quantities
  ["quantity('1k').asInteger()", 1000n],
  ["quantity('50000000G').isInteger()", true],
  ["quantity('9999999999999999999999999999999999999G').isInteger()", false],
  ["quantity('1500m').isInteger()", false],
  ["quantity('50.703k').asApproximateFloat()", 50703],
  ["quantity('1Gi').add(quantity('512Mi')) == quantity('1.5Gi')", true],
  ["quantity('50k').add(20).sub(100000).sign()", -1n],
  ["quantity('200M').compareTo(quantity('0.2G'))", 0n],
  ["quantity('150Mi').isGreaterThan(quantity('100Mi')) && quantity('50M').isLessThan(quantity('50Mi'))", true],
  ["isQuantity('1.3Gi') && !isQuantity('1Mu') && !isQuantity('200')", false],
  // addresses
  ["ip('192.168.0.1').family() + ip('::1').family()", 10n],
  ["isIP('10.0.0.1') && !isIP('010.0.0.1') && !isIP('::ffff:1.2.3.4') && !isIP('1.2.3')", true],
  ["ip('127.0.0.1').isLoopback() && ip('::').isUnspecified() && ip('fe80::1').isLinkLocalUnicast()", true],
  ["ip('224.0.0.1').isLinkLocalMulticast() && ip('8.8.8.8').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast()", true],
  ["ip.isCanonical('2001:db8::abcd') && !ip.isCanonical('2001:DB8::ABCD')", true],
  ["ip('2001:db8:0:0::1') == ip('2001:db8::1') && string(ip('2001:DB8::1')) == '2001:db8::1'", true],
  ["cidr('192.168.0.0/24').containsIP(ip('192.168.0.1')) && !cidr('192.168.0.0/24').containsIP('192.168.1.1')", true],
  ["cidr('192.168.0.0/16').containsCIDR('192.168.10.0/24') && !cidr('192.168.10.0/24').containsCIDR(cidr('192.168.0.0/16'))", true],
  ["!cidr('0.0.0.0/0').containsIP('::1')", true],
  ["cidr('192.168.1.77/24').masked() == cidr('192.168.1.0/24') && cidr('192.168.1.77/24').ip() == ip('192.168.1.77')", true],
  ["string(cidr('10.1.2.3/8').masked()) + ' ' + string(cidr('10.1.2.3/8').prefixLength())", '10.0.0.0/8 8'],
  ["isCIDR('192.168.0.0/24') && !isCIDR('192.168.0.0') && !isCIDR('192.168.0.0/33')", true],
  // URLs
  ["url('https://example.com:443/a%20b?k=1&k=2#f').getPort()", '443'],
  ["url('HTTPS://user@Example.com/').getHost() + url('https://[::1]:80/').getHostname()", 'Example.com::1'],
  ["url('https://example.com/a%20b').getEscapedPath()", '/a%20b'],
  ["url('https://e/?k=1&k=2&l=3').getQuery() == {'k': ['1', '2'], 'l': ['3']}", true],
  ["isURL('/absolute-path') && !isURL('relative') && !isURL('https://a:b/') && !isURL('../x') && !isURL('')", true],
  ["url('/path').getHost() + url('mailto:a@b').getScheme()", 'mailto'],
  // versions
  ["semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.0.0-alpha.1').isLessThan(semver('1.0.0'))", true],
  ["semver('v01.01', true) == semver('1.1.0') && semver('2.3.4').major() == 2", true],
  ["isSemver('1.0.0') && !isSemver('v1.0.0') && isSemver('v1.0', true) && !isSemver('1.0.0.0') && !isSemver('hello')", true],
  ["semver('1.0.0-rc.10').compareTo(semver('1.0.0-rc.9')) + semver('1.0.0-1').compareTo(semver('1.0.0-a'))", 0n],
  // formats
  ["format.dns1123Label().validate('my-name').hasValue()", false],
  ["format.dns1123Label().validate('My_Name').value().size()", 1n],
  ["format.named('uuid').value().validate('no').value()[0]", 'does not match the UUID format'],
  ["format.named('nothing').hasValue()", false],
  // names of libraries are names like any other
  ["['1'].all(ip, ip.startsWith('1') && isIP('::' + ip)) && ['a'].exists(format, format == 'a') && [[1]].all(sets, sets == [1])", true],
  // text and lists
  ["'%s is %d of %.2f (%x, %b, %%)'.format(['a', 3, 4.5, 255, true])", 'a is 3 of 4.50 (ff, 1, %)'],
  ["'%s'.format([[1, 'a', {'b': null}]])", '[1, a, {b: null}]'],
  ["'hello hello'.replace('he', 'we', 1) + 'hello'.replace('l', '', 0) + 'aaa'.replace('a', 'b', -1)", 'wello hellohellobbb'],
  ['[1, 2, 3, 4].slice(1, 3) == [2, 3] && [1, 2].reverse() == [2, 1]', true],
];

describe('what Kubernetes adds to the language', () => {
  test.each(examples)('%s', (expression, value) => {
    expect(cel.compile(expression).evaluate({ self: null })).toEqual(value);
  });

  test.each([
    ["ip('fe80::1%eth0')", 'IP address "fe80::1%eth0" with zone value is not allowed'],
    ["quantity('1500m').asInteger()", 'cannot convert value to integer'],
    ["'%d'.format(['a'])", 'error during formatting'],
    ["'%d %d'.format([1])", 'index 1 out of range'],
    ["url('relative')", 'URL parse error during conversion from string: parse "relative": invalid URI for request'],
    ['[1].slice(0, 2)', 'cannot slice(0, 2), list is length 1'],
  ])('%s is an error', (expression, message) => {
    expect(() => cel.compile(expression).evaluate({ self: null })).toThrow(message);
  });

  test.each(["quantity('1').value", "ip('::1').constructor", 'sets.contains', "dyn(url('/x')).parts", "dyn(semver('1.2.3')).numbers", "cidr('::/0').cidr"])(
    '%s: the fields of a value are not accessible',
    (expression) => {
      expect(() => cel.compile(expression).evaluate({ self: null })).toThrow(/No such key/);
    },
  );

  test('two long lists as sets cost what they would in Kubernetes, and take no time', () => {
    const self = Array.from({ length: 900 }, (_, i) => BigInt(i));
    expect(cel.compile('sets.contains(self, self)').run({ self }).value).toBe(true);
    const long = Array.from({ length: 2_000 }, (_, i) => BigInt(i));
    expect(cel.compile('sets.contains(self, self)').run({ self: long }).error?.message).toBe('operation cancelled: actual cost limit exceeded');
  });
});
