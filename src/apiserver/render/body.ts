import type { ObjectRevision } from '../api.ts';

/** Bytes of an answer: whole, or made in pieces while the client takes them. */
export type Body =
  | { readonly type: 'whole'; readonly bytes: Uint8Array }
  | { readonly type: 'pieces'; readonly length: number; readonly pieces: Iterable<Uint8Array> };

const newline = 0x0a;

export const textBody = (text: string): Body => ({ type: 'whole', bytes: Buffer.from(text) });

/** Kubernetes ends every JSON answer with a newline. */
export const jsonBody = (value: unknown, pretty: boolean): Body => textBody(`${pretty ? JSON.stringify(value, undefined, 2) : JSON.stringify(value)}\n`);

/** One object; copied once where it is spliced. */
export function storedBody(stored: ObjectRevision): Body {
  const { splice } = stored;
  const version = splice === undefined ? '' : `"resourceVersion":"${stored.revision}",`;
  const { bytes: json, at } = splice ?? { bytes: stored.json(), at: 0 };
  const bytes = Buffer.allocUnsafe(json.length + version.length + 1);
  bytes.set(json.subarray(0, at), 0);
  bytes.write(version, at, 'latin1');
  bytes.set(json.subarray(at), at + version.length);
  bytes[bytes.length - 1] = newline;
  return { type: 'whole', bytes };
}

/** The library is loaded by the first client that wants YAML. */
export async function yamlBody(value: unknown): Promise<Body> {
  const { stringify } = await import('yaml');
  return textBody(stringify(value, { version: '1.1', lineWidth: 0, sortMapEntries: true, aliasDuplicateObjects: false }));
}
