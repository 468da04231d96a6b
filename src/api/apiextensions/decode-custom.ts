import { isJsonObject, JsonNumber, setOwn } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { type Decoded, decode, DecodeError } from '../schema/decode.ts';
import { fillDefaults } from './defaulting.ts';
import type { JsonSchema } from '../json-schema.ts';
import { coerceEmbedded } from './embedded.ts';
import { dropNulls } from './nulls.ts';
import { prune } from './prune.ts';

/** A custom object as it is stored: typed metadata, the rest pruned by its schema, with defaults. */
export function decodeCustom(value: object, { schema, apiVersion, kind }: { schema: JsonSchema; apiVersion: string; kind: string }): Decoded<KubeObject> {
  const { metadata, kind: _kind, apiVersion: _version, ...content } = value as Record<string, unknown>;
  const meta = decode<KubeObject>('PartialObjectMetadata', { apiVersion, kind, metadata });
  const own = plain(content);
  if (!isJsonObject(own)) throw new DecodeError('an object is expected');
  const unknown = prune(own, schema).map((path) => `unknown field ${JSON.stringify(path)}`);
  dropNulls(own, schema);
  unknown.push(...coerceEmbedded(own, schema));
  fillDefaults(own, schema);
  const object = { kind, apiVersion, metadata: meta.object.metadata, ...own };
  return { object, strictErrors: [...meta.strictErrors, ...unknown] };
}

/** A copy with plain numbers and sorted keys, as Go prints maps. */
function plain(value: unknown): unknown {
  if (value instanceof JsonNumber) return value.toNumber();
  if (Array.isArray(value)) return value.map(plain);
  if (!isJsonObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) setOwn(copy, key, plain(value[key]));
  return copy;
}
