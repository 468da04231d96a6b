import { isJsonObject } from '../json.ts';
import { additionalOf, type JsonSchema, propertyOf } from '../json-schema.ts';

/** Removes, in place, null fields that are neither nullable nor have a default (v1.36.4: PruneNonNullableNullsWithoutDefaults). Templates produce them. */
export function dropNulls(value: unknown, schema: JsonSchema | undefined): void {
  if (Array.isArray(value)) for (const item of value) dropNulls(item, schema?.items);
  else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      const below = schema === undefined ? undefined : (propertyOf(schema, key) ?? additionalOf(schema));
      if (value[key] === null && below !== undefined && below.nullable !== true && (below.default ?? null) === null) delete value[key];
      else dropNulls(value[key], below);
    }
  }
}
