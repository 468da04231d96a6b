import { bitString, DerError, type Element, element, expectTag, objectIdentifier, readAll, readOnly, tags, within } from './der.ts';
import { ascii, type DistinguishedName, readName } from './distinguished-name.ts';
import { pemBlocks } from './pem.ts';

/** A parsed certificate request (PKCS #10). */
export interface CertificateRequest {
  readonly subject: DistinguishedName;
  readonly names: AlternativeNames;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array;
  /** The signed bytes. */
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
  /** An object identifier. */
  readonly signatureAlgorithm: string;
}

export interface AlternativeNames {
  readonly dns: readonly string[];
  readonly email: readonly string[];
  /** 4 or 16 bytes each. */
  readonly ip: readonly Uint8Array[];
  readonly uri: readonly string[];
}

export type ParsedRequest = { readonly ok: true; readonly request: CertificateRequest } | { readonly ok: false; readonly error: string };

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';

/** `base64`: of PEM, as in `spec.request`. Errors are in Go's words, as far as we know them. */
export function parseCertificateRequest(base64: string | null | undefined): ParsedRequest {
  const [block] = pemBlocks(latin1(base64 ?? ''));
  if (block?.type !== 'CERTIFICATE REQUEST') return { ok: false, error: 'PEM block type must be CERTIFICATE REQUEST' };
  try {
    return { ok: true, request: readRequest(block.bytes) };
  } catch (error) {
    if (error instanceof DerError) return { ok: false, error: error.message };
    throw error;
  }
}

/** Decodes base64 to text: PEM is ASCII. */
export const latin1 = (base64: string): string => {
  try {
    return atob(base64);
  } catch {
    return '';
  }
};

function readRequest(der: Uint8Array): CertificateRequest {
  const [info, algorithm, signature] = within(readOnly(der), tags.sequence);
  const [version, subject, publicKey, attributes] = within(info, tags.sequence);
  expectTag(version, tags.integer);
  return {
    subject: readName(subject),
    names: requestedNames(attributes),
    publicKey: expectTag(publicKey, tags.sequence).whole,
    signed: expectTag(info, tags.sequence).whole,
    signature: bitString(signature),
    signatureAlgorithm: objectIdentifier(within(algorithm, tags.sequence)[0]),
  };
}

const noNames: AlternativeNames = { dns: [], email: [], ip: [], uri: [] };

function requestedNames(attributes: Element | undefined): AlternativeNames {
  if (attributes?.tag !== tags.context0) return noNames;
  for (const attribute of readAll(attributes.content)) {
    const [type, values] = within(attribute, tags.sequence);
    if (objectIdentifier(type) !== EXTENSION_REQUEST) continue;
    const [extensions] = within(values, tags.set);
    for (const extension of within(extensions, tags.sequence)) {
      const parts = within(extension, tags.sequence);
      if (objectIdentifier(parts[0]) === SUBJECT_ALTERNATIVE_NAME) return readNames(expectTag(parts.at(-1), tags.octetString).content);
    }
  }
  return noNames;
}

/** The tags of the supported names; others are ignored. */
const nameTags = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 } as const;

function readNames(der: Uint8Array): AlternativeNames {
  const names = within(readOnly(der), tags.sequence);
  const texts = (tag: number): string[] => names.filter((name) => name.tag === tag).map(({ content }) => ascii(content));
  const ip = names.filter(({ tag }) => tag === nameTags.ip).map(({ content }) => content);
  const odd = ip.find(({ length }) => length !== 4 && length !== 16);
  if (odd !== undefined) throw new DerError(`x509: cannot parse IP address of length ${odd.length}`);
  return { dns: texts(nameTags.dns), email: texts(nameTags.email), uri: texts(nameTags.uri), ip };
}

/** The value of the subjectAltName extension; undefined: there are no names. */
export function writeNames({ dns, email, ip, uri }: AlternativeNames): Uint8Array | undefined {
  const texts = (tag: number, values: readonly string[]) => values.map((value) => element(tag, new TextEncoder().encode(value)));
  const names = [
    ...texts(nameTags.dns, dns),
    ...texts(nameTags.email, email),
    ...ip.map((address) => element(nameTags.ip, address)),
    ...texts(nameTags.uri, uri),
  ];
  return names.length === 0 ? undefined : element(tags.sequence, ...names);
}

export const subjectAlternativeName = SUBJECT_ALTERNATIVE_NAME;
