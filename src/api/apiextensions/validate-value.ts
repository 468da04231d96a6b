/**
 * Validates values against schemas, in kube-openapi's words: `spec.replicas in body should be less than or equal to 10`.
 * Ratcheting: an update reports no errors of unchanged values.
 */
import { type FieldError, forbidden, invalid, notOneOf, required, tooLong, tooMany } from '../field-error.ts';
import { isJsonObject } from '../json.ts';
import { deepEqual } from '../schema/plain-object.ts';
import { additionalOf, type JsonSchema, propertyOf } from '../json-schema.ts';
import { Pattern, patternOf } from '../pattern.ts';
import { hasFormat, isKnownFormat } from '../validation/openapi-formats.ts';

/** The errors of a value and the number of its valid parts: of several failed alternatives the nearest one is reported. */
interface Findings {
  readonly errors: FieldError[];
  matches: number;
}

interface Visit {
  /** 'spec.replicas'; '' at the root. */
  readonly path: string;
  /** The corresponding value before the update. */
  readonly old: unknown;
  /** The path of the value in the object: 'status' for a status alone. */
  readonly base: string;
}

export interface ValueOptions {
  readonly old?: unknown;
  readonly base?: string;
}

export function validateValue(value: unknown, schema: JsonSchema, { old, base = '' }: ValueOptions = {}): FieldError[] {
  return check(value, schema, { path: '', old, base }).errors;
}

const field = ({ base, path }: Visit): string => [base, path.replace(/^\./, '')].filter((part) => part !== '').join('.');

/** Kubernetes says `<nil>` for the object as a whole. */
const wholeOf = ({ base }: Visit): string => (base === '' ? '<nil>' : base);

function check(value: unknown, schema: JsonSchema, visit: Visit): Findings {
  const found: Findings = { errors: [], matches: 0 };
  if (visit.old !== undefined && deepEqual(value, visit.old)) return found;
  checkType(value, schema, { visit, found });
  if (value === null) {
    checkEnum(value, schema, { visit, found });
    return found;
  }
  checkAlternatives(value, schema, { visit, found });
  if (typeof value === 'string') checkString(value, schema, { visit, found });
  if (typeof value === 'number') checkNumber(value, schema, { visit, found });
  if (Array.isArray(value)) checkList(value, schema, { visit, found });
  checkEnum(value, schema, { visit, found });
  if (isJsonObject(value)) checkObject(value, schema, { visit, found });
  found.matches++;
  return found;
}

interface Checking {
  readonly visit: Visit;
  readonly found: Findings;
}

function merge(into: Findings, { errors, matches }: Findings): void {
  into.errors.push(...errors);
  into.matches += matches;
}

const typeInvalid = (visit: Visit, { expected, actual }: { expected: string; actual: string }): FieldError => ({
  type: 'TypeInvalid',
  field: field(visit),
  value: actual,
  detail: `${visit.path} in body must be of type ${expected}: ${JSON.stringify(actual)}`,
});

const typesOf = (schema: JsonSchema): string[] =>
  schema['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : schema.type === undefined ? [] : [schema.type];

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function checkType(value: unknown, schema: JsonSchema, { visit, found }: Checking): void {
  const types = typesOf(schema);
  const actual = jsonType(value);
  const fits =
    types.length === 0 || types.includes(actual) || (actual === 'integer' && types.includes('number')) || (value === null && schema.nullable === true);
  if (fits) found.matches++;
  else found.errors.push(typeInvalid(visit, { expected: types.join(','), actual }));
}

function checkEnum(value: unknown, schema: JsonSchema, { visit, found }: Checking): void {
  if (schema.enum === undefined || schema.enum.length === 0 || schema.enum.some((one) => deepEqual(one, value) && jsonType(one) === jsonType(value))) return;
  const values = schema.enum.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
  found.errors.push(notOneOf(field(visit), value, values));
}

function checkString(text: string, schema: JsonSchema, { visit, found }: Checking): void {
  const { maxLength, minLength, pattern = '', format = '' } = schema;
  const where = `${visit.path} in body`;
  const length = maxLength === undefined && minLength === undefined ? 0 : Array.from(text).length;
  if (maxLength !== undefined && length > maxLength) found.errors.push(tooLong(field(visit), maxLength));
  else if (minLength !== undefined && length < minLength) found.errors.push(invalid(field(visit), text, `${where} should be at least ${minLength} chars long`));
  else if (pattern !== '' && !matches(text, pattern)) found.errors.push(invalid(field(visit), text, `${where} should match '${pattern}'`));
  if (format !== '' && isKnownFormat(format, schema.type) && !hasFormat(text, format)) {
    found.errors.push(typeInvalid(visit, { expected: format, actual: text }));
  }
}

/** Nothing matches a broken pattern. New definitions with one are refused, but an old one may be stored. */
function matches(text: string, source: string): boolean {
  const pattern = patternOf(source);
  return pattern instanceof Pattern && pattern.test(text);
}

const ranges: Readonly<Record<string, readonly [number, number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2 ** 63), 2 ** 63],
};

function checkNumber(value: number, schema: JsonSchema, { visit, found }: Checking): void {
  const { maximum, minimum, multipleOf, exclusiveMaximum = false, exclusiveMinimum = false, format = '', type } = schema;
  const { path } = visit;
  const complain = (text: string) => found.errors.push(invalid(field(visit), value, `${path} in body should be ${text}`));
  const range = type === 'integer' ? (ranges[format] ?? ranges['int64']) : undefined;
  if (range !== undefined && Number.isInteger(value) && (value < range[0] || value > range[1])) {
    const named = isKnownFormat(format, 'integer') ? `with format ${format}` : '(default format)';
    found.errors.push(invalid(wholeOf(visit), '', `Checked value must be of type integer ${named} in ${path}`));
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) complain(`a multiple of ${multipleOf}`);
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum))
    complain(`greater than ${exclusiveMinimum ? '' : 'or equal to '}${minimum}`);
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum))
    complain(`less than ${exclusiveMaximum ? '' : 'or equal to '}${maximum}`);
  found.matches++;
}

function isMultiple(value: number, factor: number): boolean {
  const times = value / factor;
  return Number.isInteger(times);
}

function checkList(list: readonly unknown[], schema: JsonSchema, { visit, found }: Checking): void {
  const { items, maxItems, minItems } = schema;
  if (items !== undefined) {
    const oldOf = correspondingItems(schema, visit.old);
    for (const [i, item] of list.entries()) merge(found, check(item, items, { ...visit, path: `${visit.path}[${i}]`, old: oldOf(item) }));
  }
  if (minItems !== undefined && list.length < minItems)
    found.errors.push(invalid(field(visit), list.length, `${visit.path} in body should have at least ${minItems} items`));
  if (maxItems !== undefined && list.length > maxItems) found.errors.push(tooMany(field(visit), list.length, maxItems));
}

/** Only items of lists of type map correspond to earlier ones. */
export function correspondingItems(schema: JsonSchema, old: unknown): (item: unknown) => unknown {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (schema['x-kubernetes-list-type'] !== 'map' || keys.length === 0 || !Array.isArray(old)) return () => undefined;
  const keyOf = (item: unknown): string => JSON.stringify(isJsonObject(item) ? keys.map((key) => item[key] ?? null) : null);
  const byKey = new Map(old.map((item) => [keyOf(item), item as unknown]));
  return (item) => byKey.get(keyOf(item));
}

const oldField = ({ old }: Visit, key: string): unknown => (isJsonObject(old) && Object.hasOwn(old, key) ? old[key] : undefined);

function checkObject(object: Record<string, unknown>, schema: JsonSchema, { visit, found }: Checking): void {
  const keys = Object.keys(object);
  const { minProperties, maxProperties, additionalProperties } = schema;
  if (minProperties !== undefined && keys.length < minProperties)
    found.errors.push(invalid(field(visit), keys.length, `${visit.path} in body should have at least ${minProperties} properties`));
  if (maxProperties !== undefined && keys.length > maxProperties) found.errors.push(tooMany(field(visit), keys.length, maxProperties));
  const additional = additionalOf(schema);
  for (const key of keys.sort()) {
    const property = propertyOf(schema, key);
    const at = { ...visit, path: visit.path === '' && property !== undefined ? key : `${visit.path}.${key}`, old: oldField(visit, key) };
    if (property !== undefined) merge(found, check(object[key], property, at));
    else if (additional !== undefined) merge(found, check(object[key], additional, at));
    else if (additionalProperties === false) found.errors.push(forbidden(field(at), `${at.path} in body is a forbidden property`));
  }
  for (const name of schema.required ?? []) if (!Object.hasOwn(object, name)) found.errors.push(required(field({ ...visit, path: `${visit.path}.${name}` })));
}

function checkAlternatives(value: unknown, schema: JsonSchema, { visit, found }: Checking): void {
  const complain = (text: string) => found.errors.push(invalid(wholeOf(visit), '', `"${visit.path}" must ${text}`));
  const results = (schemas: readonly JsonSchema[] = []) => schemas.map((one) => check(value, one, visit));
  if (schema.anyOf !== undefined && schema.anyOf.length > 0) {
    const tried = results(schema.anyOf);
    const good = tried.find(({ errors }) => errors.length === 0);
    if (good === undefined) complain('validate at least one schema (anyOf)');
    merge(found, good ?? nearest(tried));
  }
  if (schema.oneOf !== undefined && schema.oneOf.length > 0) {
    const tried = results(schema.oneOf);
    const good = tried.filter(({ errors }) => errors.length === 0);
    if (good.length !== 1)
      complain(`validate one and only one schema (oneOf). ${good.length === 0 ? 'Found none valid' : `Found ${good.length} valid alternatives`}`);
    if (good.length <= 1) merge(found, good[0] ?? nearest(tried));
  }
  if (schema.allOf !== undefined && schema.allOf.length > 0) {
    const tried = results(schema.allOf);
    for (const one of tried) merge(found, one);
    const good = tried.filter(({ errors }) => errors.length === 0).length;
    if (good < tried.length) complain(`validate all the schemas (allOf)${good === 0 ? '. None validated' : ''}`);
  }
  if (schema.not !== undefined && check(value, schema.not, { ...visit, old: undefined }).errors.length === 0) complain('not validate the schema (not)');
  found.matches++;
}

const nearest = (tried: readonly Findings[]): Findings => tried.reduce((best, one) => (one.matches > best.matches ? one : best));
