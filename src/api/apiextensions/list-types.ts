import { duplicate, type FieldError, invalid } from '../field-error.ts';
import { isJsonObject } from '../json.ts';
import { additionalOf, type JsonSchema, propertyOf } from '../json-schema.ts';

/** Lists of type set have no duplicate values, lists of type map no duplicate keys. */
export function validateListTypes(value: unknown, schema: JsonSchema | undefined, field: string): FieldError[] {
  if (schema === undefined) return [];
  if (Array.isArray(value))
    return [...duplicatesIn(value, schema, field), ...value.flatMap((item, i) => validateListTypes(item, schema.items, `${field}[${i}]`))];
  if (!isJsonObject(value)) return [];
  const additional = additionalOf(schema);
  return Object.keys(value).flatMap((key) => {
    const property = propertyOf(schema, key);
    if (property !== undefined) return validateListTypes(value[key], property, field === '' ? key : `${field}.${key}`);
    return additional === undefined ? [] : validateListTypes(value[key], additional, `${field}[${key}]`);
  });
}

function duplicatesIn(list: readonly unknown[], schema: JsonSchema, field: string): FieldError[] {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return repeated(list).map((i) => duplicate(`${field}[${i}]`, list[i]));
    case 'map': {
      const misfit = list.findIndex((item) => item !== null && !isJsonObject(item));
      if (misfit >= 0) return [invalid(`${field}[${misfit}]`, list[misfit], 'must be an object for an array of list-type map')];
      const names = schema['x-kubernetes-list-map-keys'] ?? [];
      const keys = list.map((item) =>
        Object.fromEntries(names.flatMap((name) => (isJsonObject(item) && Object.hasOwn(item, name) ? [[name, item[name]]] : []))),
      );
      return repeated(keys).map((i) => duplicate(`${field}[${i}]`, keys[i]));
    }
    default:
      return [];
  }
}

/** The index of each second occurrence; later ones are not reported. */
function repeated(values: readonly unknown[]): number[] {
  const seen = new Map<string, number>();
  return values.flatMap((value, i) => {
    const text = canonical(value);
    const times = seen.get(text) ?? 0;
    seen.set(text, times + 1);
    return times === 1 ? [i] : [];
  });
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    isJsonObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
