/** Structural schemas (upstream: apiextensions schema/validation.go): each field is specified in one place; anyOf and the like only add conditions on values. */
import { causeMessage, type FieldError, forbidden, invalid, required } from '../field-error.ts';
import { maxPatternCost, patternOf } from '../pattern.ts';
import { patternCost } from '../pattern-cost.ts';
import { deepEqual } from '../schema/plain-object.ts';
import { additionalOf, type JsonSchema, propertyOf } from '../json-schema.ts';

type Level = 'root' | 'item' | 'field';

/** The errors of a schema that is not structural, sorted by text. */
export function validateStructural(schema: JsonSchema, field: string): FieldError[] {
  if (patternsCost(schema) > maxPatternsCost) return [forbidden(field, 'the patterns of the schema are too large together: they take too long to compile')];
  const errors = [...invariants(schema, 'root', field), ...completeness(schema, field)];
  return errors
    .map((error) => ({ error, text: `${error.field}: ${causeMessage(error)}` }))
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ error }) => error);
}

/** Some half a second. Definitions in use have patterns of a few thousand characters in all. */
const maxPatternsCost = 100_000;

/** Of all different patterns in a schema. */
function patternsCost(schema: JsonSchema): number {
  const sources = new Set<string>();
  const visit = (part: JsonSchema | undefined): void => {
    if (part === undefined) return;
    if (part.pattern !== undefined) sources.add(part.pattern);
    for (const inner of [...properties(part).map(([, property]) => property), ...(part.anyOf ?? []), ...(part.allOf ?? []), ...(part.oneOf ?? [])])
      visit(inner);
    for (const inner of [part.items, additionalOf(part), part.not]) visit(inner);
  };
  visit(schema);
  let total = 0;
  for (const source of sources) {
    total += Math.min(patternCost(source, maxPatternCost).cost, maxPatternCost);
    if (total > maxPatternsCost) break;
  }
  return total;
}

const properties = (schema: JsonSchema): [string, JsonSchema][] => Object.entries(schema.properties ?? {});

function invariants(schema: JsonSchema, level: Level, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const additional = additionalOf(schema);
  if (schema.type === 'array' && schema.items === undefined) errors.push(required(`${field}.items`, 'must be specified'));
  if (schema.items !== undefined) errors.push(...invariants(schema.items, 'item', `${field}.items`));
  for (const [name, property] of properties(schema)) errors.push(...invariants(property, 'field', `${field}.properties[${name}]`));
  if (schema.additionalProperties !== undefined && level === 'root') errors.push(forbidden(`${field}.additionalProperties`, 'must not be used at the root'));
  if (additional !== undefined) errors.push(...invariants(additional, 'field', `${field}.additionalProperties`));
  return [
    ...errors,
    ...extensionRules(schema, field),
    ...conditions(schema, field, intOrStringSkips(schema)),
    ...typeRules(schema, level, field),
    ...metaRules(schema, level, field),
  ];
}

function extensionRules(schema: JsonSchema, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (schema['x-kubernetes-int-or-string'] !== true) return errors;
  for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
    if (schema[name] === true) errors.push(invalid(`${field}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true'));
  }
  return errors;
}

const emptyTypes: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function typeRules(schema: JsonSchema, level: Level, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const { type = '' } = schema;
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (embedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? required(`${field}.type`, detail) : invalid(`${field}.type`, type, detail));
  } else if (type === '' && schema['x-kubernetes-int-or-string'] !== true && !preserves) errors.push(required(`${field}.type`, emptyTypes[level]));
  if (embedded && schema.additionalProperties !== undefined) {
    errors.push(forbidden(`${field}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'));
  }
  if (level === 'root' && type !== '' && type !== 'object') errors.push(invalid(`${field}.type`, type, 'must be object at the root'));
  if (embedded && !preserves && properties(schema).length === 0) {
    const detail = 'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(`${field}.properties`, detail));
  }
  return errors;
}

/** The types of kind, apiVersion and metadata are fixed. */
function metaRules(schema: JsonSchema, level: Level, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const isResource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true;
  for (const name of ['kind', 'apiVersion']) {
    const property = propertyOf(schema, name);
    if (isResource && property !== undefined && property.type !== 'string') {
      errors.push(invalid(`${field}.properties[${name}].type`, property.type ?? '', 'must be string'));
    }
  }
  const metadata = propertyOf(schema, 'metadata');
  if (metadata === undefined) return errors;
  const at = `${field}.properties[metadata]`;
  if (isResource && metadata.type !== 'object') errors.push(invalid(`${at}.type`, metadata.type ?? '', 'must be object'));
  const { type: _type, default: _default, properties: fields = {}, description: _description, ...more } = metadata;
  const onlyNames = Object.keys(fields).every((name) => name === 'name' || name === 'generateName');
  if (level === 'root' && (Object.keys(more).length > 0 || !onlyNames || metadata.description !== undefined)) {
    errors.push(forbidden(at, 'must not specify anything other than name and generateName, but metadata is implicitly specified'));
  }
  return errors;
}

const intOrString: readonly JsonSchema[] = [{ type: 'integer' }, { type: 'string' }];

interface Skips {
  readonly anyOf: boolean;
  readonly firstAllOf: boolean;
}

const skipNothing: Skips = { anyOf: false, firstAllOf: false };

const isIntOrString = (schemas: readonly JsonSchema[] | undefined): boolean => schemas !== undefined && deepEqual(schemas, intOrString);

/** x-kubernetes-int-or-string: the only place where anyOf may name types. */
const intOrStringSkips = ({ anyOf, allOf }: JsonSchema): Skips => ({ anyOf: isIntOrString(anyOf), firstAllOf: isIntOrString(allOf?.[0]?.anyOf) });

function conditions(schema: JsonSchema, field: string, skips: Skips): FieldError[] {
  const errors: FieldError[] = [];
  if (!skips.anyOf) for (const [i, one] of (schema.anyOf ?? []).entries()) errors.push(...nested(one, `${field}.anyOf[${i}]`, skipNothing));
  for (const [i, one] of (schema.allOf ?? []).entries())
    errors.push(...nested(one, `${field}.allOf[${i}]`, { anyOf: skips.firstAllOf && i === 0, firstAllOf: false }));
  for (const [i, one] of (schema.oneOf ?? []).entries()) errors.push(...nested(one, `${field}.oneOf[${i}]`, skipNothing));
  if (schema.not !== undefined) errors.push(...nested(schema.not, `${field}.not`, skipNothing));
  const { pattern = '' } = schema;
  const compiled = pattern === '' ? undefined : patternOf(pattern);
  if (compiled instanceof Error) errors.push(invalid(`${field}.pattern`, pattern, `must be a valid regular expression, but isn't: ${compiled.message}`));
  return errors;
}

const forbiddenInside: readonly (readonly [keyof JsonSchema, string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

function nested(schema: JsonSchema, field: string, skips: Skips): FieldError[] {
  const errors = conditions(schema, field, skips);
  if (schema.items !== undefined) errors.push(...nested(schema.items, `${field}.items`, skipNothing));
  for (const [name, property] of properties(schema)) errors.push(...nested(property, `${field}.properties[${name}]`, skipNothing));
  for (const [name, detail] of forbiddenInside) if (schema[name] !== undefined) errors.push(forbidden(`${field}.${name}`, detail));
  if (propertyOf(schema, 'metadata') !== undefined) errors.push(forbidden(`${field}.properties[metadata]`, 'must not be specified in a nested context'));
  return errors;
}

/** Fields in anyOf and the like must also be specified outside them. */
function completeness(schema: JsonSchema, field: string): FieldError[] {
  return alternativesSpecified(schema, schema, { field, at: field });
}

interface Places {
  /** The path where it must be specified. */
  readonly field: string;
  /** The path where it is used. */
  readonly at: string;
}

function alternativesSpecified(inner: JsonSchema, outer: JsonSchema, { field, at }: Places): FieldError[] {
  const errors = inner.not === undefined ? [] : specified(inner.not, outer, { field, at: `${at}.not` });
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [i, one] of (inner[name] ?? []).entries()) errors.push(...specified(one, outer, { field, at: `${at}.${name}[${i}]` }));
  }
  return errors;
}

function specified(inner: JsonSchema, outer: JsonSchema | undefined, { field, at }: Places): FieldError[] {
  if (outer === undefined) return [required(field, `because it is defined in ${at}`)];
  const errors = alternativesSpecified(inner, outer, { field, at });
  if (inner.items !== undefined) errors.push(...specified(inner.items, outer.items, { field: `${field}.items`, at: `${at}.items` }));
  for (const [name, property] of properties(inner)) {
    errors.push(...specified(property, propertyOf(outer, name), { field: `${field}.properties[${name}]`, at: `${at}.properties[${name}]` }));
  }
  return errors;
}
