import { additionalOf, type JsonSchema } from '../json-schema.ts';

/** A schema and all nested ones. */
export function* schemasWithin(schema: JsonSchema | undefined): Generator<JsonSchema> {
  if (schema === undefined) return;
  yield schema;
  const { properties = {}, allOf = [], anyOf = [], oneOf = [], not, items } = schema;
  for (const one of [...Object.values(properties), ...allOf, ...anyOf, ...oneOf, not, items, additionalOf(schema)]) yield* schemasWithin(one);
}
