import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sampleRequest } from '../kinds/samples.ts';
import { parseCertificateRequest } from './certificate-request.ts';
import { certificateProblem } from './certificates.ts';
import { element, objectIdentifier, readOnly, tags } from './der.ts';
import { readName, writeName } from './distinguished-name.ts';
import { pemBlocks } from './pem.ts';

const block = (type: string, body: string): string => `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`;

describe('PEM', () => {
  test.each([
    ['a block', block('X', 'YWJj'), ['X:abc']],
    ['words around it', `hello\n${block('X', 'YWJj')}bye`, ['X:abc']],
    ['lines and spaces', block('X', 'YW\r\nJj '), ['X:abc']],
    ['several', block('X', 'YWJj') + block('Y', ''), ['X:abc', 'Y:']],
    ['no end', '-----BEGIN X-----\nYWJj\n', []],
    ['another end', '-----BEGIN X-----\nYWJj\n-----END Y-----\n', []],
    ['no base64', block('X', 'a*'), []],
    ['a beginning within', `-----BEGIN X-----\n${block('Y', 'YWJj')}`, ['Y:abc']],
    ['in the middle of a line', ` ${block('X', 'YWJj')}`, []],
    ['headers', block('X', 'Proc-Type: 4\n\nYWJj'), ['X:abc']],
  ])('%s', (_, text, expected) => {
    expect(pemBlocks(text).map(({ type, bytes }) => `${type}:${new TextDecoder().decode(bytes)}`)).toEqual(expected);
  });

  test('megabytes of BEGIN lines take linear time', () => {
    // To search the END line from each of them would exceed the test's timeout.
    const text = `${'-----BEGIN X-----\n'.repeat(400_000)}-----END X-----\n`;
    expect(pemBlocks(text)).toHaveLength(1);
  });
});

describe('names', () => {
  const attribute = (id: number, tag: number, text: string) =>
    element(tags.set, element(tags.sequence, element(tags.objectIdentifier, Uint8Array.of(0x55, 4, id)), element(tag, new TextEncoder().encode(text))));

  test('of several common names the last counts; all organizations do', () => {
    const der = element(
      tags.sequence,
      attribute(3, tags.utf8String, 'first'),
      attribute(10, tags.printableString, 'b'),
      attribute(3, tags.utf8String, 'last'),
      attribute(10, tags.utf8String, 'a'),
      attribute(99, tags.utf8String, 'unheard of'),
    );
    const name = readName(readOnly(der));
    expect(name).toMatchObject({ commonName: 'last', organizations: ['b', 'a'] });
    expect(readName(readOnly(writeName(name)))).toMatchObject({ commonName: 'last', organizations: ['a', 'b'] });
  });

  test('are read as they were written', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (commonName) => {
        const attributes = new Map([['2.5.4.3', [commonName]]]);
        expect(readName(readOnly(writeName({ commonName, organizations: [], attributes }))).commonName).toBe(commonName);
      }),
    );
  });

  test('identifiers with large numbers', () => {
    expect(objectIdentifier({ tag: 6, content: Uint8Array.of(0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d), whole: new Uint8Array() })).toBe('1.2.840.113549');
  });
});

describe('requests', () => {
  test('are read', () => {
    expect(parseCertificateRequest(sampleRequest)).toMatchObject({ ok: true, request: { subject: { commonName: 'jane', organizations: ['team'] } } });
  });

  test.each([
    ['nothing', ''],
    ['no base64', '*'],
    ['no PEM', btoa('hello')],
    ['another block', btoa(block('CERTIFICATE', 'YWJj'))],
  ])('%s is none', (_, text) => {
    expect(parseCertificateRequest(text)).toEqual({ ok: false, error: 'PEM block type must be CERTIFICATE REQUEST' });
  });

  test.each([
    ['', 'asn1: syntax error: data truncated'],
    ['MAA=', 'asn1: syntax error: sequence truncated'],
    ['MAAA', 'asn1: syntax error: trailing data'],
    ['MIAA', 'asn1: syntax error: indefinite length found (not DER)'],
  ])('what is no request says why: %s', (body, error) => {
    expect(parseCertificateRequest(btoa(block('CERTIFICATE REQUEST', body)))).toEqual({ ok: false, error });
  });

  test('however they are broken, they are refused or read, and nothing else happens', () => {
    const text = atob(sampleRequest);
    const der = Uint8Array.from(pemBlocks(text)[0]?.bytes ?? []);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(der.length - 1), fc.nat(255)), { maxLength: 4 }), fc.nat(der.length), (changes, length) => {
        const broken = Uint8Array.from(der);
        for (const [at, byte] of changes) broken[at] = byte;
        const body = btoa(String.fromCharCode(...broken.subarray(0, length)));
        const { ok } = parseCertificateRequest(btoa(block('CERTIFICATE REQUEST', body)));
        expect(typeof ok).toBe('boolean');
        certificateProblem(btoa(block('CERTIFICATE', body)));
      }),
    );
  });
});

test.each([
  ['', undefined],
  [btoa('x'), 'must contain at least one CERTIFICATE PEM block'],
  [btoa(block('KEY', 'YWJj')), 'only CERTIFICATE PEM blocks are allowed, found "KEY"'],
  [btoa(block('CERTIFICATE', 'A: b\n\nYWJj')), 'no PEM block headers are permitted'],
  [btoa(block('CERTIFICATE', '')), 'found CERTIFICATE PEM block containing 0 certificates'],
  [btoa(block('CERTIFICATE', 'YWJj')), 'x509: malformed certificate'],
])('what is wrong with a certificate: %s', (text, problem) => {
  expect(certificateProblem(text)).toBe(problem);
});
