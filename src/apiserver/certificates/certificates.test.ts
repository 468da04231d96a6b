import { X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { type CertificateRequest, parseCertificateRequest } from '../../api/x509/certificate-request.ts';
import { certificateProblem, endOfCertificate } from '../../api/x509/certificates.ts';
import { type IssuedCertificate, issueCertificate } from './issue-certificates.ts';
import { createCsr, type CsrOptions } from './create-csr.ts';
import { signatureProblem } from './csr-signature.ts';
import { signCsr, validityOf } from './sign-csr.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const day = 24 * 3_600_000;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function read(wanted: CsrOptions): Promise<CertificateRequest> {
  const { request } = await createCsr(wanted);
  const parsed = parseCertificateRequest(base64(request));
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.request;
}

describe('a request', () => {
  test('is read with its name, its other names and its key', async () => {
    const { subject, names } = await read({ name: 'system:node:n1', groups: ['system:nodes', 'other'], hosts: ['n1.example', '10.0.0.7', '::1'] });
    expect(subject).toMatchObject({ commonName: 'system:node:n1', organizations: ['system:nodes', 'other'] });
    expect(names).toMatchObject({ dns: ['n1.example'], email: [], uri: [] });
    expect(names.ip.map((address) => address.length)).toEqual([4, 16]);
  });

  test.each(['ECDSA', 'RSA', 'Ed25519'] as const)('proves that its maker has the key: %s', async (algorithm) => {
    const request = await read({ name: 'jane', groups: [], algorithm });
    expect(signatureProblem(request)).toBeUndefined();
    const signed = Uint8Array.from(request.signed).fill(7, -1);
    expect(signatureProblem({ ...request, signed })).toMatch(/^(x509: (ECDSA|Ed25519) verification failure|crypto\/rsa: verification error)$/);
    expect(signatureProblem({ ...request, signature: new Uint8Array(0) })).toMatch(/verification/);
  });

  test('for another key, or signed in a way that proves nothing, does not', async () => {
    const [mine, theirs] = [await read({ name: 'jane', groups: [] }), await read({ name: 'joe', groups: [] })];
    expect(signatureProblem({ ...mine, publicKey: theirs.publicKey })).toBe('x509: ECDSA verification failure');
    expect(signatureProblem({ ...mine, publicKey: Uint8Array.of(0x30, 0) })).toBe('x509: unknown public key algorithm');
    expect(signatureProblem({ ...mine, signatureAlgorithm: '1.2.840.113549.1.1.5' })).toBe('x509: cannot verify signature: insecure algorithm SHA1-RSA');
    expect(signatureProblem({ ...mine, signatureAlgorithm: '1.2.3' })).toBe('x509: cannot verify signature: algorithm unimplemented');
    expect(signatureProblem({ ...mine, signatureAlgorithm: '1.2.840.113549.1.1.11' })).toMatch(/^x509: signature algorithm specifies an RSA public key/);
  });
});

describe('a certificate', () => {
  let authority: IssuedCertificate;
  beforeAll(async () => {
    authority = await issueCertificate({ type: 'authority', commonName: 'ca', notBefore: now - day, notAfter: now + 100 * day });
  });

  test('says what was asked for, is signed by the authority, and signs nothing', async () => {
    const request = await read({ name: 'system:node:n1', groups: ['system:nodes'], hosts: ['n1.example', '10.0.0.7'] });
    const text = await signCsr(request, { usages: ['server auth', 'digital signature'], expirationSeconds: 3600, now }, authority);
    const certificate = new X509Certificate(text);
    const issuer = new X509Certificate(authority.certificate);
    expect(certificate.verify(issuer.publicKey)).toBe(true);
    expect(certificate.checkIssued(issuer)).toBe(true);
    expect(certificate.ca).toBe(false);
    expect(certificate.subject).toBe('O=system:nodes\nCN=system:node:n1');
    expect(certificate.subjectAltName).toBe('DNS:n1.example, IP Address:10.0.0.7');
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(Date.parse(certificate.validTo)).toBe(now + 3_600_000);
    expect(certificateProblem(base64(text))).toBeUndefined();
    expect(endOfCertificate(base64(text))).toBe(now + 3_600_000);
  });

  test.each([
    ['#0403', 'a text that looks like DER'],
    ['a+b,c=d;e"f', 'characters that mean something in names'],
    ['Jäger 🦌', 'what is not ASCII'],
  ])('bears the very name that was asked for: %s, %s', async (name) => {
    const request = await read({ name: 'x', groups: [] });
    const attributes = new Map([
      ['2.5.4.3', [name]],
      ['2.5.4.10', ['one', 'two']],
    ]);
    const text = await signCsr({ ...request, subject: { ...request.subject, attributes } }, { usages: ['client auth'], now }, authority);
    const { CN, O } = new X509Certificate(text).toLegacyObject().subject as unknown as { CN: string; O: string[] };
    expect({ CN, O }).toEqual({ CN: name, O: ['one', 'two'] });
  });

  // pkg/controller/certificates/signer and authority, v1.36.4
  test.each([
    ['no wish', undefined, 365 * day - 300_000],
    ['too long', 2 ** 31 - 1, 365 * day - 300_000],
    ['too short', 1, 600_000],
    ['less than eight hours', 3600, 3_600_000],
    ['eight hours', 8 * 3600, 8 * 3_600_000 - 300_000],
  ])('ends when it should: %s', (_, expirationSeconds, after) => {
    expect(validityOf({ expirationSeconds, now }, now + 1_000 * day)).toEqual({ notBefore: now - 300_000, notAfter: now + after });
  });

  test('ends no later than its authority, which signs nothing after its end', () => {
    expect(validityOf({ now }, now + day).notAfter).toBe(now + day);
    expect(() => validityOf({ now }, now)).toThrow('expired');
  });
});
