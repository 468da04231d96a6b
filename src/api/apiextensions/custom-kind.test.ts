import { beforeAll, describe, expect, test } from 'vitest';
import { loadCel } from '../cel/environment.ts';
import { causeMessage, type FieldError } from '../field-error.ts';
import type { KubeObject } from '../object.ts';
import { decodeCustom } from './decode-custom.ts';
import { customKinds } from './custom-kind.ts';
import type { JsonSchema } from '../json-schema.ts';
import type { CustomResourceDefinition } from './definition.ts';

beforeAll(async () => void (await loadCel()));

const kindOf = (schema: JsonSchema) => {
  const names = { plural: 'boats', singular: 'boat', kind: 'Boat', listKind: 'BoatList' };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} } }];
  const definition = { metadata: {}, spec: { group: 'example.com', scope: 'Namespaced', names, versions }, status: { acceptedNames: names } };
  const [kind] = customKinds(definition as unknown as CustomResourceDefinition).served;
  if (kind === undefined) throw new Error('no kind');
  return kind;
};

const object = (properties: Record<string, JsonSchema>, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...more });
const boat = (spec: unknown) => ({ apiVersion: 'example.com/v1', kind: 'Boat', metadata: { name: 'b' }, spec }) as unknown as KubeObject;
const say = (errors: readonly FieldError[] = []): string[] => errors.map((error) => `${error.field}: ${causeMessage(error)}`);
const read = (spec: unknown, schema: JsonSchema) => {
  const { object: decoded, strictErrors } = decodeCustom(boat(spec), { schema: object({ spec: schema }), apiVersion: 'example.com/v1', kind: 'Boat' });
  return { spec: (decoded as unknown as { spec: unknown }).spec, strictErrors };
};

describe('nulls (v1.36.4)', () => {
  const text: JsonSchema = { type: 'string' };
  const schema = object({
    plain: text,
    list: { type: 'array', items: object({ inner: text }) },
    nullable: { ...text, nullable: true },
    filled: { ...text, default: 'x' },
    map: { type: 'object', additionalProperties: text },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  });
  test('are pruned, replaced by the default, or kept where the schema is nullable', () => {
    const spec = { plain: null, list: [{ inner: null }, null], nullable: null, filled: null, map: { a: null, b: 'c' }, open: { any: null } };
    expect(read(spec, schema).spec).toEqual({ list: [{}, null], nullable: null, filled: 'x', map: { b: 'c' }, open: { any: null } });
  });
});

describe('objects inside of objects (v1.36.4)', () => {
  const embedded: JsonSchema = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true };
  const schema = object({ one: embedded, all: { type: 'array', items: embedded } });
  test('have pruned metadata', () => {
    const spec = { one: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', junk: 1, creationTimestamp: null }, other: { kept: true } } };
    expect(read(spec, schema)).toEqual({
      spec: { one: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, other: { kept: true } } },
      strictErrors: ['unknown field "spec.one.metadata.junk"'],
    });
  });
  test('with invalid metadata do not decode', () => {
    expect(() => read({ all: [{ metadata: { labels: { a: 1 } } }] }, schema)).toThrow(/^spec\.all\[0\]\.metadata: Invalid value: \{"labels":\{"a":1\}\}: /);
    expect(() => read({ one: { kind: 1 } }, schema)).toThrow('spec.one.kind: Invalid value: 1: must be a string');
  });
  test('are checked like others', () => {
    const kind = kindOf(object({ spec: schema }));
    expect(
      say(kind.validate?.(boat({ one: { kind: 'No Kind', metadata: {} }, all: [{ apiVersion: 'a/b/c', kind: 'Pod', metadata: { name: 'a/b' } }] }))),
    ).toEqual([
      'spec.one.apiVersion: Required value',
      expect.stringMatching(/^spec\.one\.kind: Invalid value: "No Kind": may have mixed case, but should otherwise match: a DNS-1035 label/),
      'spec.all[0].apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      `spec.all[0].metadata.name: Invalid value: "a/b": may not contain '/'`,
    ]);
    expect(kind.validate?.(boat({ one: { apiVersion: 'v1', kind: 'Pod' } }))).toEqual([]);
  });
});

describe('rules beside other errors (v1.36.4)', () => {
  const schema = object({
    spec: object(
      { n: { type: 'integer', minimum: 1 }, s: { type: 'string' }, set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' } },
      { 'x-kubernetes-validations': [{ rule: 'self.n != 0', message: 'not zero' }] },
    ),
  });
  test('run only if all values fit the schema', () => {
    const kind = kindOf(schema);
    expect(say(kind.validate?.(boat({ n: 0 })))).toEqual([
      'spec.n: Invalid value: 0: spec.n in body should be greater than or equal to 1',
      'spec: Invalid value: not zero',
    ]);
    expect(say(kind.validate?.(boat({ n: 0, s: 1 })))).toContain(
      '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    );
  });
  test('duplicates that were in a set before may stay', () => {
    const kind = kindOf(schema);
    const [twice, once] = [boat({ n: 1, set: ['a', 'a'] }), boat({ n: 1, set: ['a'] })];
    expect(say(kind.validateUpdate?.(twice, once))).toEqual(['spec.set[1]: Duplicate value: "a"']);
    expect(kind.validateUpdate?.(boat({ n: 2, set: ['a', 'a'] }), twice)).toEqual([]);
  });
});
