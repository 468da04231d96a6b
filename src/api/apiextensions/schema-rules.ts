/** Validation of a definition's schema, apart from the structural rules. */
import { type FieldError, forbidden, invalid, notOneOf, notSupported, required } from '../field-error.ts';
import { deepEqual } from '../schema/plain-object.ts';
import { cloneObject } from '../schema/plain-object.ts';
import { additionalOf, type JsonSchema, propertyOf, type ValidationRule } from '../json-schema.ts';
import { compileRules } from './rules.ts';
import { prune } from './prune.ts';
import { parseJsonPath } from './json-path.ts';
import { validateStructural } from './structural-rules.ts';
import { validateValue } from './validate-value.ts';
import { repeats } from '../validation/repeats.ts';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const metaFields: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion']);

/** The schema of one version. */
export function validateSchema(schema: JsonSchema, field: string): FieldError[] {
  const structural = validateStructural(schema, field);
  const defaults = structural.length > 0 ? [] : validateDefaults(schema, field);
  const root = schema.nullable === true ? [forbidden(`${field}.nullable`, 'nullable cannot be true at the root')] : [];
  return [...root, ...structural, ...defaults, ...schemaRules(schema, field, { isRoot: true })];
}

/** A default must fit its schema. */
function validateDefaults(schema: JsonSchema, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (schema.default !== undefined && schema.default !== null) {
    const at = `${field}.default`;
    const pruned = { value: cloneObject(schema.default) };
    prune(pruned, { properties: { value: schema } });
    if (!deepEqual(pruned.value, schema.default)) errors.push(invalid(at, schema.default, 'must not have unknown fields'));
    errors.push(...validateValue(schema.default, schema, { base: at }));
  }
  if (schema.items !== undefined) errors.push(...validateDefaults(schema.items, `${field}.items`));
  for (const [name, property] of Object.entries(schema.properties ?? {})) errors.push(...validateDefaults(property, `${field}.properties[${name}]`));
  return errors;
}

interface SchemaPosition {
  readonly isRoot?: boolean;
  /** Why defaults are forbidden here. */
  readonly noDefaults?: string;
  readonly insideMeta?: boolean;
}

function schemaRules(schema: JsonSchema, field: string, position: SchemaPosition): FieldError[] {
  const errors = [...unsupported(schema, field, position)];
  if (schema.uniqueItems === true) {
    errors.push(forbidden(`${field}.uniqueItems`, 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'));
  }
  errors.push(...inner(schema, field, position));
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(invalid(`${field}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'));
  }
  return [
    ...errors,
    ...mapType(schema, field),
    ...listType(schema, field),
    ...ruleTexts(schema, field),
    ...compileRules(schema, field, position.isRoot === true),
  ];
}

function unsupported(schema: JsonSchema, field: string, { noDefaults, insideMeta }: SchemaPosition): FieldError[] {
  const errors: FieldError[] = [];
  if (schema.type !== undefined && !types.includes(schema.type)) errors.push(notSupported(`${field}.type`, schema.type, types));
  if (schema.default !== undefined && noDefaults !== undefined) errors.push(forbidden(`${field}.default`, `must not be set ${noDefaults}`));
  for (const name of ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const) {
    if (schema[name] !== undefined) errors.push(forbidden(`${field}.${name}`, `${name} is not supported`));
  }
  if (schema.type === 'null') errors.push(forbidden(`${field}.type`, 'type cannot be set to null, use nullable as an alternative'));
  if (insideMeta === true && schema['x-kubernetes-embedded-resource'] === true) {
    errors.push(forbidden(`${field}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'));
  }
  return errors;
}

/** The nested schemas. */
function inner(schema: JsonSchema, field: string, position: SchemaPosition): FieldError[] {
  const errors: FieldError[] = [];
  const { isRoot = false, ...below } = position;
  const additional = additionalOf(schema);
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== true && Object.keys(schema.properties ?? {}).length > 0) {
    errors.push(forbidden(`${field}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'));
  }
  if (additional !== undefined) {
    const noDefaults = below.insideMeta === true ? { noDefaults: 'inside additionalProperties applying to object metadata' } : {};
    errors.push(...schemaRules(additional, `${field}.additionalProperties`, { ...below, ...noDefaults }));
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isMeta = (isRoot || schema['x-kubernetes-embedded-resource'] === true) && metaFields.has(name);
    const meta = { ...(isMeta ? { insideMeta: true } : {}), ...(isMeta && isRoot ? { noDefaults: `in top-level ${name}` } : {}) };
    errors.push(...schemaRules(property, `${field}.properties[${name}]`, { ...below, ...meta }));
  }
  if (schema.not !== undefined) errors.push(...schemaRules(schema.not, `${field}.not`, below));
  for (const name of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [i, one] of (schema[name] ?? []).entries()) errors.push(...schemaRules(one, `${field}.${name}[${i}]`, below));
  }
  return schema.items === undefined ? errors : [...errors, ...schemaRules(schema.items, `${field}.items`, below)];
}

function mustBe(schema: JsonSchema, field: string, { type, why }: { type: string; why: string }): FieldError[] {
  if (schema.type === type) return [];
  const detail = `must be ${type} if ${why} is specified`;
  return [schema.type === undefined ? required(`${field}.type`, detail) : invalid(`${field}.type`, schema.type, detail)];
}

function mapType(schema: JsonSchema, field: string): FieldError[] {
  const given = schema['x-kubernetes-map-type'];
  if (given === undefined) return [];
  const errors = mustBe(schema, field, { type: 'object', why: 'x-kubernetes-map-type' });
  const kinds = ['atomic', 'granular'];
  return kinds.includes(given) ? errors : [...errors, notOneOf(`${field}.x-kubernetes-map-type`, given, kinds)];
}

function listType(schema: JsonSchema, field: string): FieldError[] {
  const given = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const errors: FieldError[] = [];
  const at = `${field}.x-kubernetes-list-type`;
  if (given !== undefined && schema.type !== 'array') errors.push(...mustBe(schema, field, { type: 'array', why: 'x-kubernetes-list-type' }));
  else if (given === 'set') errors.push(...atomicItems(schema.items, field));
  const kinds = ['atomic', 'set', 'map'];
  if (given !== undefined && !kinds.includes(given)) errors.push(notOneOf(at, given, kinds));
  if (keys.length > 0 && given !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    errors.push(given === undefined ? required(at, detail) : invalid(at, given, detail));
  }
  if (given === 'map') errors.push(...mapKeys(schema, keys, field));
  if ((given === 'map' || given === 'set') && schema.items?.nullable === true) {
    errors.push(forbidden(`${field}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${given}`));
  }
  return errors;
}

function atomicItems(items: JsonSchema | undefined, field: string): FieldError[] {
  const listOf = items?.['x-kubernetes-list-type'];
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  if (items?.type === 'array' && listOf !== undefined && listOf !== 'atomic') return [invalid(`${field}.items.x-kubernetes-list-type`, listOf, detail)];
  if (items?.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') return [invalid(`${field}.items.x-kubernetes-map-type`, listOf ?? null, detail)];
  return [];
}

function mapKeys({ items }: JsonSchema, keys: readonly string[], field: string): FieldError[] {
  const errors: FieldError[] = [];
  const at = `${field}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) errors.push(required(at, 'must not be empty if x-kubernetes-list-type is map'));
  if (items === undefined) return [...errors, required(`${field}.items`, 'must have a schema if x-kubernetes-list-type is map')];
  if (items.type !== 'object') errors.push(invalid(`${field}.items.type`, items.type ?? '', "must be object if parent array's x-kubernetes-list-type is map"));
  const isRepeated = repeats(keys);
  const requiredKeys = new Set(items.required);
  for (const [i, key] of keys.entries()) {
    const property = propertyOf(items, key);
    const where = `${field}.items.properties[${key}]`;
    if (items.type === 'object' && property === undefined) errors.push(invalid(at, keys, 'entries must all be names of item properties'));
    if (items.type === 'object' && (property?.type === 'array' || property?.type === 'object'))
      errors.push(invalid(`${where}.type`, items.type, "must be a scalar type if parent array's x-kubernetes-list-type is map"));
    if (isRepeated[i]) errors.push(invalid(at, keys, 'must not contain duplicate entries'));
    if (property === undefined) continue;
    const why = 'this property is in x-kubernetes-list-map-keys, so it';
    if (property.default === undefined && !requiredKeys.has(key)) {
      errors.push(required(`${where}.default`, `${why} must have a default or be a required property`));
    }
    if (property.nullable === true) errors.push(forbidden(`${where}.nullable`, `${why} cannot be nullable`));
  }
  return errors;
}

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

const ruleTexts = (schema: JsonSchema, field: string): FieldError[] =>
  (schema['x-kubernetes-validations'] ?? []).flatMap((rule, i) => ruleText(rule, schema, `${field}.x-kubernetes-validations[${i}]`));

function ruleText(rule: ValidationRule, schema: JsonSchema, field: string): FieldError[] {
  const { message = '', messageExpression = '', fieldPath = '', reason } = rule;
  const errors: FieldError[] = [];
  const broken = /[\n\r]/;
  if (rule.rule.trim() === '') errors.push(required(`${field}.rule`, 'rule is not specified'));
  else if (message !== '' && message.trim() === '') errors.push(invalid(`${field}.message`, message, 'must be non-empty if specified'));
  else if (broken.test(message.trim())) errors.push(invalid(`${field}.message`, message, 'must not contain line breaks'));
  else if (broken.test(rule.rule.trim()) && message.trim() === '')
    errors.push(required(`${field}.message`, 'message must be specified if rule contains line breaks'));
  if (messageExpression !== '' && messageExpression.trim() === '')
    errors.push(required(`${field}.messageExpression`, 'messageExpression must be non-empty if specified'));
  if (reason !== undefined && !reasons.includes(reason)) errors.push(notSupported(`${field}.reason`, reason, reasons));
  if (fieldPath === '') return errors;
  if (fieldPath.trim() === '') errors.push(invalid(`${field}.fieldPath`, fieldPath, 'must be non-empty if specified'));
  if (broken.test(fieldPath)) errors.push(invalid(`${field}.fieldPath`, fieldPath, 'must not contain line breaks'));
  if (schemaAt(schema, fieldPath) === undefined) errors.push(invalid(`${field}.fieldPath`, fieldPath, 'must be a valid path'));
  return errors;
}

/** The schema at a path of fields. */
export function schemaAt(schema: JsonSchema, path: string): JsonSchema | undefined {
  let found: JsonSchema | undefined = schema;
  for (const step of parseJsonPath(path) ?? [{ type: 'all' } as const]) {
    if (step.type !== 'field' || found === undefined) return undefined;
    found = propertyOf(found, step.name) ?? additionalOf(found);
  }
  return found;
}
