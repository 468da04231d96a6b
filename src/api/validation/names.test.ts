import { describe, expect, test } from 'vitest';
import { configMapKeyProblems, portNameProblems } from './formats.ts';
import {
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
  maskTrailingDash,
  nameIsDnsSubdomain,
  pathSegmentProblems,
} from './names.ts';
import { byteLength } from './text.ts';

const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const keyText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

describe('what is wrong is said in Kubernetes’ words', () => {
  test.each<[string, (value: string) => string[], string, string[]]>([
    ['a label', dnsLabelProblems, 'my-name', []],
    ['a label', dnsLabelProblems, '-x', [labelText]],
    ['a label', dnsLabelProblems, '', [labelText]],
    ['a label', dnsLabelProblems, 'a.b', ['must not contain dots']],
    ['a label', dnsLabelProblems, 'a'.repeat(64), ['must be no more than 63 characters']],
    ['a subdomain', dnsSubdomainProblems, 'a.b-c.1', []],
    ['a subdomain', dnsSubdomainProblems, 'A', [subdomainText]],
    ['a subdomain', dnsSubdomainProblems, 'a..b', [subdomainText]],
    ['a subdomain', dnsSubdomainProblems, 'a\n', [subdomainText]],
    ['a subdomain', dnsSubdomainProblems, 'a'.repeat(254), ['must be no more than 253 characters']],
    ['a key', labelKeyProblems, 'example.com/My_Name.1', []],
    ['a key', labelKeyProblems, '', ['name part must be non-empty', `name part ${keyText}`]],
    ['a key', labelKeyProblems, '/x', ['prefix part must be non-empty']],
    ['a key', labelKeyProblems, 'Not.Lower/x', [`prefix part ${subdomainText}`]],
    ['a key', labelKeyProblems, 'a..b/x', [`prefix part ${subdomainText}`]],
    ['a key', labelKeyProblems, `${'a.'.repeat(126)}a/${'x'.repeat(63)}`, []],
    ['a key', labelKeyProblems, `${'a'.repeat(254)}/x`, ['prefix part must be no more than 253 bytes']],
    ['a key', labelKeyProblems, 'x'.repeat(64), ['name part must be no more than 63 bytes']],
    ['a key', labelKeyProblems, 'é', [`name part ${keyText}`]],
    ['a key', labelKeyProblems, 'a/b/c', [`a valid label key ${keyText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]],
    ['a value', labelValueProblems, '', []],
    ['a value', labelValueProblems, 'é'.repeat(32), [expect.stringContaining('63 bytes'), expect.stringContaining('a valid label must be')] as string[]],
    ['a file’s key', configMapKeyProblems, '..data', ["must not start with '..'"]],
    ['a port', portNameProblems, '-1-', ['must contain at least one letter (a-z)', 'must not begin or end with a hyphen']],
    ['a port', portNameProblems, 'a--b', ['must not contain consecutive hyphens']],
    ['a service of old', dns1035LabelProblems, '1a', [expect.stringContaining('a DNS-1035 label must')] as string[]],
  ])('%s: %#', (_, problems, value, wrong) => expect(problems(value)).toEqual(wrong));
});

test('a prefix may end with a dash, a name may not', () => {
  expect(nameIsDnsSubdomain('data-', true)).toEqual([]);
  expect(nameIsDnsSubdomain('data-', false)).toHaveLength(1);
  expect(maskTrailingDash('-')).toBe('-');
});

test('a name has to fit into a path', () => {
  expect(pathSegmentProblems('..', false)).toEqual(["may not be '..'"]);
  expect(pathSegmentProblems('..', true)).toEqual([]);
  expect(pathSegmentProblems('a/b%c', false)).toEqual(["may not contain '/'", "may not contain '%'"]);
});

test('length is counted in bytes', () => {
  for (const text of ['', 'abc', 'é', '€', '😀', 'a😀é']) expect(byteLength(text)).toBe(Buffer.byteLength(text));
});
