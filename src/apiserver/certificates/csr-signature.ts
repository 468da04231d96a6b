import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { CertificateRequest } from '../../api/x509/certificate-request.ts';

interface Algorithm {
  /** As Go names the type of the key. */
  readonly key: 'ECDSA' | 'RSA' | 'Ed25519';
  /** null: the algorithm has its own. */
  readonly hash: string | null;
}

const algorithms: Readonly<Record<string, Algorithm>> = {
  '1.2.840.113549.1.1.11': { key: 'RSA', hash: 'sha256' },
  '1.2.840.113549.1.1.12': { key: 'RSA', hash: 'sha384' },
  '1.2.840.113549.1.1.13': { key: 'RSA', hash: 'sha512' },
  '1.2.840.10045.4.3.2': { key: 'ECDSA', hash: 'sha256' },
  '1.2.840.10045.4.3.3': { key: 'ECDSA', hash: 'sha384' },
  '1.2.840.10045.4.3.4': { key: 'ECDSA', hash: 'sha512' },
  '1.3.101.112': { key: 'Ed25519', hash: null },
};

/** Broken ones, by the names under which Go refuses them. */
const insecure: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.4': 'MD5-RSA',
  '1.2.840.113549.1.1.5': 'SHA1-RSA',
  '1.2.840.10045.4.1': 'ECDSA-SHA1',
};

const failures = { ECDSA: 'x509: ECDSA verification failure', RSA: 'crypto/rsa: verification error', Ed25519: 'x509: Ed25519 verification failure' } as const;

const typesOfKeys: Readonly<Record<string, Algorithm['key']>> = { ec: 'ECDSA', rsa: 'RSA', ed25519: 'Ed25519' };

/** Why a CSR does not prove possession of its private key, with Go's message; undefined: it does. */
export function signatureProblem({ publicKey, signed, signature, signatureAlgorithm }: CertificateRequest): string | undefined {
  const weak = insecure[signatureAlgorithm];
  if (weak !== undefined) return `x509: cannot verify signature: insecure algorithm ${weak}`;
  const algorithm = algorithms[signatureAlgorithm];
  if (algorithm === undefined) return 'x509: cannot verify signature: algorithm unimplemented';
  const key = readKey(publicKey);
  const type = typesOfKeys[key?.asymmetricKeyType ?? ''];
  if (key === undefined || type === undefined) return 'x509: unknown public key algorithm';
  if (type !== algorithm.key) return `x509: signature algorithm specifies an ${algorithm.key} public key, but have public key of type ${type}`;
  return isSigned(key, algorithm.hash, { signed, signature }) ? undefined : failures[algorithm.key];
}

function readKey(der: Uint8Array): KeyObject | undefined {
  try {
    return createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

function isSigned(key: KeyObject, hash: string | null, { signed, signature }: Pick<CertificateRequest, 'signed' | 'signature'>): boolean {
  try {
    return verify(hash, signed, key, signature);
  } catch {
    return false;
  }
}
