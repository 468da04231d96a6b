import { DerError, type Element, element, expectTag, objectIdentifier, tags, within } from './der.ts';

/** The subject: the attributes of Go's pkix.Name, each with all its values; of several common names the last one counts. */
export interface DistinguishedName {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Every known attribute, by object identifier. */
  readonly attributes: ReadonlyMap<string, readonly string[]>;
}

const COMMON_NAME = '2.5.4.3';
const SERIAL_NUMBER = '2.5.4.5';
const ORGANIZATION = '2.5.4.10';
/** Country, organization, unit, locality, province, street, postal code, common name, serial number: the order in which Go writes them. */
const known: readonly string[] = ['2.5.4.6', ORGANIZATION, '2.5.4.11', '2.5.4.7', '2.5.4.8', '2.5.4.9', '2.5.4.17', COMMON_NAME, SERIAL_NUMBER];
const single: readonly string[] = [COMMON_NAME, SERIAL_NUMBER];

/** @throws DerError */
export function readName(name: Element | undefined): DistinguishedName {
  const attributes = new Map<string, readonly string[]>();
  for (const relative of within(name, tags.sequence)) {
    for (const attribute of within(relative, tags.set)) {
      const [type, value] = within(attribute, tags.sequence);
      const id = objectIdentifier(type);
      const text = textOf(value);
      if (text === undefined || !known.includes(id)) continue;
      attributes.set(id, single.includes(id) ? [text] : [...(attributes.get(id) ?? []), text]);
    }
  }
  return { commonName: attributes.get(COMMON_NAME)?.[0] ?? '', organizations: attributes.get(ORGANIZATION) ?? [], attributes };
}

/**
 * The name in DER, written again from what was read: every reader of the certificate reads the same name, however it was
 * encoded in the request.
 */
export function writeName({ attributes }: DistinguishedName): Uint8Array {
  const relatives = known.flatMap((id) => {
    const values = (attributes.get(id) ?? []).filter((value) => value !== '');
    if (values.length === 0) return [];
    const written = values.map((value) => element(tags.sequence, writeObjectIdentifier(id), writeText(value)));
    return [element(tags.set, ...written.sort(compareBytes))];
  });
  return element(tags.sequence, ...relatives);
}

const decoders: Readonly<Record<number, (bytes: Uint8Array) => string>> = {
  [tags.utf8String]: utf8,
  [tags.printableString]: ascii,
  [tags.numericString]: ascii,
  [tags.ia5String]: ascii,
  [tags.t61String]: (bytes) => new TextDecoder('latin1').decode(bytes),
  [tags.bmpString]: (bytes) => new TextDecoder('utf-16be').decode(bytes),
};

/** Undefined: not a text. */
function textOf(value: Element | undefined): string | undefined {
  const { tag, content } = expectTag(value, value?.tag ?? 0);
  return decoders[tag]?.(content);
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new DerError('asn1: structure error: invalid UTF-8 string');
  }
}

export function ascii(bytes: Uint8Array): string {
  if (bytes.some((byte) => byte >= 0x80)) throw new DerError('asn1: syntax error: IA5String contains invalid character');
  return new TextDecoder('latin1').decode(bytes);
}

const printable = /^[A-Za-z0-9 '()+,\-./:=?]*$/;

const writeText = (text: string): Uint8Array => element(printable.test(text) ? tags.printableString : tags.utf8String, new TextEncoder().encode(text));

function writeObjectIdentifier(id: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = id.split('.').map(Number);
  return element(tags.objectIdentifier, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)));
}

function base128(number: number): number[] {
  const bytes = [number % 128];
  for (let rest = Math.trunc(number / 128); rest > 0; rest = Math.trunc(rest / 128)) bytes.unshift((rest % 128) | 0x80);
  return bytes;
}

/** The elements of a set are in order. */
function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
