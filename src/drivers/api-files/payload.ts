/** Files from the keys of ConfigMaps and Secrets. */
import type { ConfigMap, KeyToPath, Secret } from '../../api/generated/types.ts';
import { type DriverAnswer, failed, succeeded } from '../contract.ts';

export interface FileProjection {
  readonly bytes: Uint8Array;
  readonly mode: number;
  /** The owner; undefined: root. */
  readonly uid?: number;
}

/** By path below the volume's root. */
export type Payload = ReadonlyMap<string, FileProjection>;

export interface KeySelection {
  /** Empty: all keys. */
  readonly items: readonly KeyToPath[];
  readonly defaultMode: number;
  readonly optional: boolean;
}

/** `object` undefined: the ConfigMap does not exist. */
export function configMapPayload(name: string, object: ConfigMap | undefined, wanted: KeySelection): DriverAnswer<Payload> {
  if (object === undefined && !wanted.optional) return failed('NotFound', `configmap ${JSON.stringify(name)} not found`);
  const { data = {}, binaryData = {} } = object ?? {};
  const contents = new Map([
    ...Object.entries(data).map(([key, text]) => [key, utf8.encode(text)] as const),
    ...Object.entries(binaryData).map(([key, base64]) => [key, decode(base64)] as const),
  ]);
  return pick(contents, wanted, 'configmap references non-existent config key');
}

export function secretPayload(name: string, object: Secret | undefined, wanted: KeySelection): DriverAnswer<Payload> {
  if (object === undefined && !wanted.optional) return failed('NotFound', `secret ${JSON.stringify(name)} not found`);
  const contents = new Map(Object.entries(object?.data ?? {}).map(([key, base64]) => [key, decode(base64)] as const));
  return pick(contents, wanted, 'references non-existent secret key');
}

const utf8 = new TextEncoder();
const decode = (base64: string): Uint8Array => Buffer.from(base64, 'base64');

function pick(contents: ReadonlyMap<string, Uint8Array>, { items, defaultMode, optional }: KeySelection, missing: string): DriverAnswer<Payload> {
  if (items.length === 0) return succeeded(new Map([...contents].map(([key, bytes]) => [key, { bytes, mode: defaultMode }])));
  const payload = new Map<string, FileProjection>();
  for (const { key, path, mode = defaultMode } of items) {
    const bytes = contents.get(key);
    if (bytes !== undefined) payload.set(path, { bytes, mode });
    else if (!optional) return failed('NotFound', `${missing}: ${key}`);
  }
  return succeeded(payload);
}
