import 'reflect-metadata';
import { ExtendedKeyUsageExtension, Extension, KeyUsageFlags, KeyUsagesExtension, Name, X509CertificateGenerator } from '@peculiar/x509';
import { type CertificateRequest, subjectAlternativeName, writeNames } from '../../api/x509/certificate-request.ts';
import { writeName } from '../../api/x509/distinguished-name.ts';
import { issuerExtensions, type IssuedCertificate, readAuthority, serialNumber, signingAlgorithm } from './issue-certificates.ts';

/** What the certificate is to be good for, and for how long. */
export interface SigningTerms {
  /** As `spec.usages` names them. */
  readonly usages: readonly string[];
  /** Absent: as long as certificates are at most. */
  readonly expirationSeconds?: number | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const keyUsages: Readonly<Record<string, KeyUsageFlags>> = {
  signing: KeyUsageFlags.digitalSignature,
  'digital signature': KeyUsageFlags.digitalSignature,
  'content commitment': KeyUsageFlags.nonRepudiation,
  'key encipherment': KeyUsageFlags.keyEncipherment,
  'key agreement': KeyUsageFlags.keyAgreement,
  'data encipherment': KeyUsageFlags.dataEncipherment,
  'cert sign': KeyUsageFlags.keyCertSign,
  'crl sign': KeyUsageFlags.cRLSign,
  'encipher only': KeyUsageFlags.encipherOnly,
  'decipher only': KeyUsageFlags.decipherOnly,
};

/** In the order in which certificates name them. */
const extendedKeyUsages: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
};

const minute = 60_000;
const hour = 60 * minute;
/** The defaults of kube-controller-manager. */
const longest = 365 * 24 * hour;
const shortest = 10 * minute;
/** Clocks differ. */
const backdate = 5 * minute;
/** A certificate that is to last for less than this ends no earlier because it began earlier. */
const short = 8 * hour;

/** From when to when. @throws Error if the authority itself is no longer good */
export function validityOf(
  { expirationSeconds, now }: Pick<SigningTerms, 'expirationSeconds' | 'now'>,
  authorityEnds: number,
): { notBefore: number; notAfter: number } {
  if (now >= authorityEnds) throw new Error('the signer has expired');
  const wanted = expirationSeconds === undefined ? longest : expirationSeconds * 1000;
  const duration = Math.max(Math.min(wanted, longest), shortest);
  const notAfter = now + duration - (duration < short ? 0 : backdate);
  return { notBefore: now - backdate, notAfter: Math.min(notAfter, authorityEnds) };
}

/**
 * Issues the certificate of a CSR, PEM. Subject, alternative names and key are the CSR's; its other extensions are ignored.
 * The caller has checked that it may be signed, and the proof of possession.
 */
export async function signCsr(request: CertificateRequest, terms: SigningTerms, authority: IssuedCertificate): Promise<string> {
  const { certificate: issuer, key } = await readAuthority(authority);
  const { notBefore, notAfter } = validityOf(terms, issuer.notAfter.getTime());
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: new Name(arrayBuffer(writeName(request.subject))),
    issuer: issuer.subjectName,
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    signingAlgorithm,
    publicKey: arrayBuffer(request.publicKey),
    signingKey: key,
    extensions: [...usageExtensions(terms.usages), ...(await issuerExtensions(issuer)), ...namesExtension(request)],
  });
  return `${certificate.toString('pem')}\n`;
}

function usageExtensions(usages: readonly string[]): Extension[] {
  const flags = usages.reduce((sum, usage) => sum | (keyUsages[usage] ?? 0), 0);
  const extended = new Set(Object.entries(extendedKeyUsages).flatMap(([usage, id]) => (usages.includes(usage) ? [id] : [])));
  return [...(flags === 0 ? [] : [new KeyUsagesExtension(flags, true)]), ...(extended.size === 0 ? [] : [new ExtendedKeyUsageExtension([...extended])])];
}

/** Of a certificate that has no other name they are critical. */
function namesExtension({ names, subject }: CertificateRequest): Extension[] {
  const value = writeNames(names);
  return value === undefined ? [] : [new Extension(subjectAlternativeName, subject.attributes.size === 0, arrayBuffer(value))];
}

const arrayBuffer = (bytes: Uint8Array): ArrayBuffer => Uint8Array.from(bytes).buffer;
