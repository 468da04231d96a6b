import { isJsonObject, setOwn } from '../json.ts';
import { cloneObject } from '../schema/plain-object.ts';
import { additionalOf, type JsonSchema, propertyOf } from '../json-schema.ts';

/** Sets defaults in place. A null where the schema is not nullable counts as absent. */
export function fillDefaults(value: unknown, schema: JsonSchema | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) fillItems(value, schema.items);
  else if (isJsonObject(value)) fillFields(value, schema);
}

const isMissing = (value: unknown, { nullable }: JsonSchema): boolean => value === undefined || (value === null && nullable !== true);

function fillFields(object: Record<string, unknown>, schema: JsonSchema): void {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property.default === undefined || property.default === null) continue;
    const given = Object.hasOwn(object, name) ? object[name] : undefined;
    if (isMissing(given, property)) setOwn(object, name, cloneObject(property.default));
  }
  const additional = additionalOf(schema);
  for (const key of Object.keys(object)) {
    const property = propertyOf(schema, key);
    if (property === undefined && additional?.default !== undefined && isMissing(object[key], additional)) setOwn(object, key, cloneObject(additional.default));
    fillDefaults(object[key], property ?? additional);
  }
}

function fillItems(list: unknown[], items: JsonSchema | undefined): void {
  for (let i = 0; i < list.length; i++) {
    if (items?.default !== undefined && isMissing(list[i], items)) list[i] = cloneObject(items.default);
    fillDefaults(list[i], items);
  }
}
