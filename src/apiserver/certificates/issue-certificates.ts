import 'reflect-metadata';
import { createPrivateKey, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  type JsonName,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { pem } from './pem.ts';

/** PEM. */
export interface IssuedCertificate {
  readonly certificate: string;
  readonly key: string;
}

interface Validity {
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
}

export type IssueRequest = Validity &
  (
    | { readonly type: 'authority'; readonly commonName: string }
    | { readonly type: 'server'; readonly commonName: string; readonly hosts: readonly string[]; readonly authority: IssuedCertificate }
    | { readonly type: 'client'; readonly name: string; readonly groups: readonly string[]; readonly authority: IssuedCertificate }
  );

cryptoProvider.set(webcrypto);

export const signingAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** Sets of flags: the library's type knows single ones only. */
const signingUsages = (KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign | KeyUsageFlags.digitalSignature) as KeyUsageFlags;
const servingUsages = (KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment) as KeyUsageFlags;

/** A new key and a certificate for it, signed by the authority, or by itself if it is one. */
export async function issueCertificate(request: IssueRequest): Promise<IssuedCertificate> {
  const keys = await webcrypto.subtle.generateKey(signingAlgorithm, true, ['sign', 'verify']);
  const subject = subjectOf(request);
  const authority = request.type === 'authority' ? undefined : await readAuthority(request.authority);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject,
    issuer: authority?.certificate.subjectName ?? subject,
    notBefore: new Date(request.notBefore),
    notAfter: new Date(request.notAfter),
    signingAlgorithm,
    publicKey: keys.publicKey,
    signingKey: authority?.key ?? keys.privateKey,
    extensions: await extensionsOf(request, keys.publicKey, authority?.certificate),
  });
  const exported = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return { certificate: `${certificate.toString('pem')}\n`, key: pem('PRIVATE KEY', exported) };
}

function subjectOf(request: IssueRequest): JsonName {
  if (request.type !== 'client') return [{ CN: [request.commonName] }];
  return [...request.groups.map((group) => ({ O: [group] })), { CN: [request.name] }];
}

async function extensionsOf(request: IssueRequest, publicKey: webcrypto.CryptoKey, authority: X509Certificate | undefined): Promise<Extension[]> {
  const keyIdentifier = await SubjectKeyIdentifierExtension.create(publicKey);
  if (request.type === 'authority') {
    return [new BasicConstraintsExtension(true, undefined, true), new KeyUsagesExtension(signingUsages, true), keyIdentifier];
  }
  const use = request.type === 'server' ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth;
  return [
    new KeyUsagesExtension(servingUsages, true),
    new ExtendedKeyUsageExtension([use]),
    keyIdentifier,
    ...(authority === undefined ? [] : await issuerExtensions(authority)),
    ...(request.type === 'server' ? [new SubjectAlternativeNameExtension(request.hosts.map(alternativeName))] : []),
  ];
}

/** Basic constraints (no CA) and the key identifier of the issuer. */
export const issuerExtensions = async (authority: X509Certificate): Promise<Extension[]> => [
  new BasicConstraintsExtension(false, undefined, true),
  await AuthorityKeyIdentifierExtension.create(authority),
];

const alternativeName = (host: string): { type: 'ip' | 'dns'; value: string } => ({ type: isIP(host) === 0 ? 'dns' : 'ip', value: host });

export async function readAuthority(authority: IssuedCertificate): Promise<{ certificate: X509Certificate; key: webcrypto.CryptoKey }> {
  const der = createPrivateKey(authority.key).export({ type: 'pkcs8', format: 'der' });
  const key = await webcrypto.subtle.importKey('pkcs8', der, signingAlgorithm, false, ['sign']);
  return { certificate: new X509Certificate(authority.certificate), key };
}

/** Positive, and never the same twice. */
export function serialNumber(): string {
  const bytes = Buffer.from(webcrypto.getRandomValues(new Uint8Array(16)));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}
