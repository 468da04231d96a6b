import { bitString, DerError, type Element, expectTag, readOnly, tags, within } from './der.ts';
import { latin1 } from './certificate-request.ts';
import { pemBlocks } from './pem.ts';

/** The problem of PEM certificates in base64, in the words of Kubernetes and Go; undefined: none. */
export function certificateProblem(base64: string): string | undefined {
  if (base64 === '') return undefined;
  const blocks = pemBlocks(latin1(base64));
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    if (bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
    if (readCertificate(bytes) === undefined) return 'x509: malformed certificate';
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}

/** The notAfter of the first certificate, in milliseconds since 1970; undefined: there is none. */
export function endOfCertificate(base64: string): number | undefined {
  const [block] = pemBlocks(latin1(base64));
  return block === undefined ? undefined : readCertificate(block.bytes)?.notAfter;
}

function readCertificate(der: Uint8Array): { readonly notAfter: number } | undefined {
  try {
    const [body, algorithm, signature] = within(readOnly(der), tags.sequence);
    expectTag(algorithm, tags.sequence);
    bitString(signature);
    const parts = within(body, tags.sequence);
    // Version 1 certificates have no version field.
    const fields = parts[0]?.tag === tags.context0 ? parts.slice(1) : parts;
    expectTag(fields[0], tags.integer);
    return { notAfter: timeOf(within(fields[3], tags.sequence)[1]) };
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

const UTC_TIME = 0x17;

/** '260301120000Z' or '20500301120000Z'. */
function timeOf(time: Element | undefined): number {
  const text = new TextDecoder('latin1').decode(time?.content);
  const [, year = '', rest = ''] = (time?.tag === UTC_TIME ? /^(\d\d)(\d{10})Z$/ : /^(\d{4})(\d{10})Z$/).exec(text) ?? [];
  const [month, day, hour, minute, second] = (rest.match(/\d\d/g) ?? []).map(Number);
  const full = year.length === 2 ? Number(year) + (Number(year) < 50 ? 2000 : 1900) : Number(year);
  const at = Date.UTC(full, (month ?? 0) - 1, day ?? 0, hour, minute, second);
  if (rest === '' || Number.isNaN(at)) throw new DerError('x509: malformed time');
  return at;
}
