import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { cryptoProvider, Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } from '@peculiar/x509';
import type { ClientName } from './certificate-files.ts';
import { pem } from './pem.ts';

cryptoProvider.set(webcrypto);

export interface CsrOptions extends ClientName {
  /** Names and addresses that a server is reached by. */
  readonly hosts?: readonly string[];
  readonly algorithm?: 'ECDSA' | 'RSA' | 'Ed25519';
}

/** PEM. */
export interface KeyAndCsr {
  readonly request: string;
  readonly key: string;
}

const algorithms = {
  ECDSA: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  RSA: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1) },
  Ed25519: { name: 'Ed25519' },
} as const;

/** A new key, and a request for a certificate for it. */
export async function createCsr({ name, groups, hosts = [], algorithm = 'ECDSA' }: CsrOptions): Promise<KeyAndCsr> {
  const keys = (await webcrypto.subtle.generateKey(algorithms[algorithm], true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const alternatives = hosts.map((host) => ({ type: isIP(host) === 0 ? ('dns' as const) : ('ip' as const), value: host }));
  const made = await Pkcs10CertificateRequestGenerator.create({
    name: [...groups.map((group) => ({ O: [group] })), { CN: [name] }],
    keys,
    signingAlgorithm: algorithms[algorithm],
    extensions: alternatives.length === 0 ? [] : [new SubjectAlternativeNameExtension(alternatives)],
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return { request: `${made.toString('pem')}\n`, key: pem('PRIVATE KEY', key) };
}
