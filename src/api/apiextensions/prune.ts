import { isJsonObject } from '../json.ts';
import { additionalOf, type JsonSchema, propertyOf } from '../json-schema.ts';

const metaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Prunes, in place, the fields that a schema does not specify.
 * @returns the removed paths, sorted: 'spec.foo', 'spec.items[0].bar'
 */
export function prune(object: Record<string, unknown>, schema: JsonSchema): string[] {
  const unknown: string[] = [];
  pruneValue(object, { ...schema, 'x-kubernetes-embedded-resource': true }, { path: '', unknown });
  return unknown.sort();
}

interface Pruning {
  readonly path: string;
  readonly unknown: string[];
}

const child = ({ path, unknown }: Pruning, key: string): Pruning => ({ path: path === '' ? key : `${path}.${key}`, unknown });
const element = ({ path, unknown }: Pruning, index: number): Pruning => ({ path: `${path}[${index}]`, unknown });

/** No schema: all fields are unknown. */
function pruneValue(value: unknown, schema: JsonSchema | undefined, at: Pruning): void {
  const keepsUnknown = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  if (Array.isArray(value)) {
    const items = schema?.items;
    for (const [index, item] of value.entries()) if (!keepsUnknown || items !== undefined) pruneElement(item, { items, keepsUnknown }, element(at, index));
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) pruneField(value, key, { schema, keepsUnknown, at });
  }
}

/** Below x-kubernetes-preserve-unknown-fields only specified properties are visited. */
function pruneElement(item: unknown, { items, keepsUnknown }: { items: JsonSchema | undefined; keepsUnknown: boolean }, at: Pruning): void {
  pruneValue(item, keepsUnknown && items !== undefined ? { ...items, 'x-kubernetes-preserve-unknown-fields': true } : items, at);
}

function pruneField(
  object: Record<string, unknown>,
  key: string,
  { schema, keepsUnknown, at }: { schema: JsonSchema | undefined; keepsUnknown: boolean; at: Pruning },
): void {
  if (schema?.['x-kubernetes-embedded-resource'] === true && metaFields.has(key)) return;
  const property = schema === undefined ? undefined : propertyOf(schema, key);
  if (property !== undefined) return pruneValue(object[key], property, child(at, key));
  const { additionalProperties } = schema ?? {};
  if (additionalProperties === true) return pruneValue(object[key], undefined, child(at, key));
  if (schema !== undefined && additionalOf(schema) !== undefined) return pruneValue(object[key], additionalOf(schema), child(at, key));
  if (keepsUnknown) return;
  at.unknown.push(child(at, key).path);
  delete object[key];
}
