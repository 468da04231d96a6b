/** CEL rules of a schema (x-kubernetes-validations), on an object and, for transition rules, its old state. */
import { loadedCel, type Run } from '../cel/environment.ts';
import type { FieldChain } from '../cel/field-chains.ts';
import { CostLimitExceeded } from '../cel/metered.ts';
import { expressionError } from '../admission/expression-error.ts';
import { duplicate, type FieldError, forbidden, invalid, omittedValue, required } from '../field-error.ts';
import { isJsonObject } from '../json.ts';
import { deepEqual } from '../schema/plain-object.ts';
import { additionalOf, type JsonSchema, propertyOf, type ValidationRule } from '../json-schema.ts';
import { escaped, wrongTypes } from './rule-types.ts';
import { schemasWithin } from './schemas-within.ts';
import { correspondingItems } from './validate-value.ts';

interface RuleTarget {
  readonly field: string;
  readonly old: unknown;
}

/** The cost that is left for all rules of one object (v1.36.4: RuntimeCELCostBudget). Below zero: no more rules run. */
interface Budget {
  left: number;
}

const OBJECT_BUDGET = 10_000_000;

const withRules = new WeakMap<JsonSchema, boolean>();

/** Most schemas have no rules. */
export function hasRules(schema: JsonSchema): boolean {
  let known = withRules.get(schema);
  if (known === undefined) {
    known = [...schemasWithin(schema)].some((one) => (one['x-kubernetes-validations'] ?? []).length > 0);
    withRules.set(schema, known);
  }
  return known;
}

/** `old`: undefined if the object is new. */
export function checkRules(value: unknown, schema: JsonSchema, { field, old, budget = OBJECT_BUDGET }: RuleTarget & { budget?: number }): FieldError[] {
  return checkWithin(value, schema, { field, old, budget: { left: budget } });
}

type BudgetedTarget = RuleTarget & { readonly budget: Budget };

function checkWithin(value: unknown, schema: JsonSchema, visit: BudgetedTarget): FieldError[] {
  if (visit.budget.left < 0 || value === undefined || value === null || !hasRules(schema)) return [];
  const own = (schema['x-kubernetes-validations'] ?? []).flatMap((rule) => checkRule(value, { rule, schema }, visit));
  return [...own, ...checkInside(value, schema, visit)];
}

function checkInside(value: unknown, schema: JsonSchema, { field, old, budget }: BudgetedTarget): FieldError[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return [];
    const oldOf = correspondingItems(schema, old);
    return value.flatMap((item, i) => checkWithin(item, items, { field: `${field}[${i}]`, old: oldOf(item), budget }));
  }
  if (!isJsonObject(value)) return [];
  const additional = additionalOf(schema);
  const oldFields = isJsonObject(old) && schema['x-kubernetes-map-type'] !== 'atomic' ? old : {};
  return Object.keys(value).flatMap((key) => {
    const property = propertyOf(schema, key);
    const before = Object.hasOwn(oldFields, key) ? oldFields[key] : undefined;
    if (property !== undefined) return checkWithin(value[key], property, { field: field === '' ? key : `${field}.${key}`, old: before, budget });
    return additional === undefined ? [] : checkWithin(value[key], additional, { field: `${field}[${key}]`, old: before, budget });
  });
}

const usesOld = (text: string): boolean => /\boldSelf\b/.test(text);

function checkRule(value: unknown, { rule, schema }: { rule: ValidationRule; schema: JsonSchema }, visit: BudgetedTarget): FieldError[] {
  const { field, old, budget } = visit;
  if (budget.left < 0) return [];
  const transition = usesOld(rule.rule);
  // Transition rules do not apply to new values, other rules not to unchanged ones.
  if (transition && old === undefined && rule.optionalOldSelf !== true) return [];
  if (!transition && old !== undefined && deepEqual(value, old)) return [];
  const shown = field === '' ? '<nil>' : field;
  const cel = loadedCel();
  if (cel === undefined) return [{ type: 'InternalError', field: shown, detail: 'rules cannot be checked yet' }];
  const before = old === undefined ? undefined : celValue(old, schema);
  const variables = { self: celValue(value, schema), oldSelf: rule.optionalOldSelf === true ? cel.optional(before) : before };
  const run = (text: string): Run => charged(cel.compile(text, rule.optionalOldSelf).run(variables), budget);
  const { value: holds, error } = run(rule.rule);
  if (budget.left < 0 || error !== undefined) return [invalid(shown, schema.type ?? '', failure(rule, { error, budget }))];
  if (holds === true) return [];
  return [
    refusal(rule, {
      field: `${field}${rule.fieldPath ?? ''}`.replace(/^\./, '') || '<nil>',
      value: typeof value === 'object' ? omittedValue : value,
      detail: detailOf(rule, run),
    }),
  ];
}

function charged(run: Run, budget: Budget): Run {
  budget.left -= run.cost;
  return run;
}

/** Why a rule gave no result. An exceeded cost budget ends all checks. */
function failure(rule: ValidationRule, { error, budget }: { error: Error | undefined; budget: Budget }): string {
  const text = (rule.message ?? rule.rule).trim();
  if (budget.left < 0) return 'validation failed due to running out of cost budget, no further validation rules will be run';
  if (!(error instanceof CostLimitExceeded)) return `${firstLine(error)} evaluating rule: ${text}`;
  budget.left = -1;
  return `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${text}`;
}

const firstLine = (error: unknown): string => (error instanceof Error ? (error.message.split('\n')[0] ?? '').replace(/^No such/, 'no such') : String(error));

function refusal({ reason }: ValidationRule, { field, value, detail }: { field: string; value: unknown; detail: string }): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(field, detail);
    case 'FieldValueRequired':
      return required(field, detail);
    case 'FieldValueDuplicate':
      return duplicate(field, value);
    default:
      return invalid(field, value, detail);
  }
}

/** The messageExpression; if it does not give a single line, the message. */
function detailOf({ rule, message = '', messageExpression = '' }: ValidationRule, run: (text: string) => Run): string {
  const plain = message === '' ? `failed rule: ${rule.trim()}` : message.trim();
  if (messageExpression === '') return plain;
  const { value: made } = run(messageExpression);
  return typeof made === 'string' && made.trim() !== '' && !/[\n\r]/.test(made) && made.length <= MAX_MESSAGE ? made.trim() : plain;
}

const MAX_MESSAGE = 5_120;

/** A JSON value as a CEL value, by its schema: integers, timestamps, durations, escaped names. */
function celValue(value: unknown, schema: JsonSchema | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => celValue(item, schema?.items));
  if (isJsonObject(value)) return celFields(value, schema ?? {});
  if (typeof value === 'number') return schema?.type !== 'number' && Number.isInteger(value) ? BigInt(value) : value;
  return typeof value === 'string' ? celText(value, schema?.format) : value;
}

function celText(value: string, format: string | undefined): unknown {
  switch (format) {
    case 'date':
    case 'date-time':
      return Number.isNaN(Date.parse(value)) ? value : new Date(value);
    case 'byte':
      return Uint8Array.from(Buffer.from(value, 'base64'));
    case 'duration':
      return loadedCel()?.compile('duration(self)').run({ self: value }).value ?? value;
    default:
      return value;
  }
}

function celFields(object: Record<string, unknown>, schema: JsonSchema): Record<string, unknown> {
  const fields: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [key, member] of Object.entries(object)) {
    const property = propertyOf(schema, key);
    fields[property === undefined ? key : escaped(key)] = celValue(member, property ?? additionalOf(schema));
  }
  return fields;
}

/** Errors of the rules in a definition. */
export function compileRules(schema: JsonSchema, field: string, isRoot: boolean): FieldError[] {
  const cel = loadedCel();
  if (cel === undefined) return [];
  return (schema['x-kubernetes-validations'] ?? []).flatMap((rule, i) => {
    const at = `${field}.x-kubernetes-validations[${i}]`;
    const known = isRoot ? withMeta(schema) : schema;
    const attempt = (text: string, name: string, result: 'bool' | 'string'): FieldError[] => {
      // An absent messageExpression.
      if (text.trim() === '') return [];
      try {
        const { fields } = cel.compile(text, rule.optionalOldSelf);
        const unknown = fields.find((chain) => isUndefined(chain, known));
        const wrong =
          unknown === undefined
            ? wrongTypes(cel, text, { schema: known, optionalOld: rule.optionalOldSelf === true, result })
            : `compilation failed: ${undefinedText(text, unknown)}`;
        return wrong === undefined ? [] : [invalid(`${at}.${name}`, rule, wrong)];
      } catch (error) {
        return [invalid(`${at}.${name}`, rule, `compilation failed: ${expressionError(error, text).message}`)];
      }
    };
    return [...attempt(rule.rule, 'rule', 'bool'), ...attempt(rule.messageExpression ?? '', 'messageExpression', 'string')];
  });
}

const text: JsonSchema = { type: 'string' };

/** The only metadata that rules can use. */
const withMeta = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  properties: { ...schema.properties, apiVersion: text, kind: text, metadata: { type: 'object', properties: { name: text, generateName: text } } },
});

/** Whether a rule uses a field that the schema does not have. Unknown for schemas that preserve unknown fields. */
function isUndefined({ variable, names }: FieldChain, schema: JsonSchema): boolean {
  if (variable !== 'self' && variable !== 'oldSelf') return false;
  let at = schema;
  for (const [i, name] of names.entries()) {
    const { properties = {}, additionalProperties, type } = at;
    const isOpen = additionalProperties !== undefined || at['x-kubernetes-preserve-unknown-fields'] === true || at['x-kubernetes-embedded-resource'] === true;
    if (type !== 'object' || isOpen) return false;
    const found = Object.entries(properties).find(([property]) => escaped(property) === name)?.[1];
    if (found === undefined) return i === names.length - 1;
    at = found;
  }
  return false;
}

/** In cel-go's format, with the position. */
function undefinedText(rule: string, { names, dot }: FieldChain): string {
  const before = rule.slice(0, dot).split('\n');
  const [line, column] = [before.length, before.at(-1)?.length ?? 0];
  return `ERROR: <input>:${line}:${column + 1}: undefined field '${names.at(-1) ?? ''}'\n | ${rule.split('\n')[line - 1] ?? ''}\n | ${'.'.repeat(column)}^`;
}
