import { textFromBase64 } from '../base64.ts';

/**
 * Whether the key of a TLS secret looks like a key and its certificate like one: the first thing that is wrong, in the words of
 * Go's tls package. Whether both belong together is not looked at.
 */
export function keyPairWarnings(data: Readonly<Record<string, string>>): string[] {
  const certificates = pemTypes(data['tls.crt'] ?? '');
  const keys = pemTypes(data['tls.key'] ?? '');
  const problem = missingBlock(certificates, { input: 'certificate', wanted: isCertificate }) ?? missingBlock(keys, { input: 'key', wanted: isPrivateKey });
  return problem === undefined ? [] : [problem];
}

const isCertificate = (type: string): boolean => type === 'CERTIFICATE';
const isPrivateKey = (type: string): boolean => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY');

const pemTypes = (base64: string): string[] =>
  [...textFromBase64(base64).matchAll(/-----BEGIN ([^-\n]+)-----[^-]*-----END \1-----/g)].map(([, type]) => type ?? '');

function missingBlock(types: readonly string[], { input, wanted }: { input: 'certificate' | 'key'; wanted: (type: string) => boolean }): string | undefined {
  if (types.some(wanted)) return undefined;
  if (types.length === 0) return `tls: failed to find any PEM data in ${input} input`;
  const [only] = types;
  if (input === 'certificate' && types.length === 1 && only !== undefined && only.endsWith('PRIVATE KEY')) {
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  }
  if (input === 'key' && types.length === 1 && only === 'CERTIFICATE') {
    return 'tls: found a certificate rather than a key in the PEM for the private key';
  }
  const skipped = `after skipping PEM blocks of the following types: [${types.join(' ')}]`;
  return input === 'certificate'
    ? `tls: failed to find "CERTIFICATE" PEM block in certificate input ${skipped}`
    : `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input ${skipped}`;
}
