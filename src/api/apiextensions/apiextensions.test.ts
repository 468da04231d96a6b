import { beforeAll, describe, expect, test } from 'vitest';
import { loadCel } from '../cel/environment.ts';
import { causeMessage, type FieldError } from '../field-error.ts';
import { fillDefaults } from './defaulting.ts';
import type { JsonSchema } from '../json-schema.ts';
import { loadPatterns } from '../pattern.ts';
import { hasFormat } from '../validation/openapi-formats.ts';
import { findAll, parseJsonPath } from './json-path.ts';
import { validateListTypes } from './list-types.ts';
import { prune } from './prune.ts';
import { checkRules } from './rules.ts';
import { validateSchema } from './schema-rules.ts';
import { validateValue } from './validate-value.ts';

const say = (errors: readonly FieldError[]): string[] => errors.map((error) => `${error.field}: ${causeMessage(error)}`);
const object = (properties: Record<string, JsonSchema>, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...more });

beforeAll(loadPatterns);

describe('pruning', () => {
  const schema = object({
    spec: object({ known: { type: 'string' }, free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { inner: object({}) } } }),
    list: { type: 'array', items: object({ a: { type: 'string' } }) },
    map: { type: 'object', additionalProperties: object({ a: { type: 'string' } }) },
  });

  test('unknown fields are removed and reported in order', () => {
    const value = { metadata: { x: 1 }, zzz: 1, spec: { known: 'a', other: 1 }, list: [{ a: 'x', b: 1 }], map: { k: { a: 'x', c: 1 } } };
    expect(prune(value, schema)).toEqual(['list[0].b', 'map.k.c', 'spec.other', 'zzz']);
    expect(value).toEqual({ metadata: { x: 1 }, spec: { known: 'a' }, list: [{ a: 'x' }], map: { k: { a: 'x' } } });
  });

  test('below preserved unknown fields, specified ones are still pruned', () => {
    const value = { spec: { free: { anything: { at: 'all' }, inner: { gone: 1 } } } };
    expect(prune(value, schema)).toEqual(['spec.free.inner.gone']);
    expect(value).toEqual({ spec: { free: { anything: { at: 'all' }, inner: {} } } });
  });

  test('names of prototypes are fields like any other', () => {
    const value = JSON.parse('{"spec":{"__proto__":{"x":1},"constructor":1}}') as Record<string, unknown>;
    expect(prune(value, schema)).toEqual(['spec.__proto__', 'spec.constructor']);
  });
});

describe('defaults', () => {
  const schema = object({
    a: { type: 'integer', default: 1 },
    n: { type: 'string', nullable: true, default: 'x' },
    l: { type: 'array', items: object({ b: { type: 'boolean', default: true } }) },
  });

  test.each([
    [{}, { a: 1, n: 'x' }],
    [
      { a: null, n: null },
      { a: 1, n: null },
    ],
    [
      { a: 2, l: [{}, { b: false }] },
      { a: 2, n: 'x', l: [{ b: true }, { b: false }] },
    ],
  ])('%j becomes %j, and stays so', (given, expected) => {
    fillDefaults(given, schema);
    expect(given).toEqual(expected);
    fillDefaults(given, schema);
    expect(given).toEqual(expected);
  });

  test('defaults are copied', () => {
    const shared = object({ m: { type: 'object', default: { k: 1 } } });
    const [one, two] = [{}, {}] as { m?: { k: number } }[];
    fillDefaults(one, shared);
    fillDefaults(two, shared);
    expect(one?.m).not.toBe(two?.m);
  });
});

describe('values, in the words of kube-openapi', () => {
  const rules: [JsonSchema, unknown, string[]][] = [
    [{ type: 'integer', maximum: 10 }, 11, ['f: Invalid value: 11: f in body should be less than or equal to 10']],
    [{ type: 'integer', minimum: 1, exclusiveMinimum: true }, 1, ['f: Invalid value: 1: f in body should be greater than 1']],
    [{ type: 'integer', multipleOf: 3 }, 4, ['f: Invalid value: 4: f in body should be a multiple of 3']],
    [{ type: 'integer' }, 'x', ['f: Invalid value: "string": f in body must be of type integer: "string"']],
    [{ type: 'integer' }, 1.5, ['f: Invalid value: "number": f in body must be of type integer: "number"']],
    [{ type: 'integer', format: 'int32' }, 2 ** 31, ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in f']],
    [{ type: 'number' }, 1, []],
    [{ type: 'string' }, null, ['f: Invalid value: "null": f in body must be of type string: "null"']],
    [{ type: 'string', nullable: true }, null, []],
    [{ type: 'string', maxLength: 2 }, 'abc', ['f: Too long: may not be more than 2 bytes']],
    [{ type: 'string', minLength: 2 }, 'a', ['f: Invalid value: "a": f in body should be at least 2 chars long']],
    [{ type: 'string', pattern: '^a+$' }, 'ab', ['f: Invalid value: "ab": f in body should match \'^a+$\'']],
    [{ type: 'string', pattern: '(?i)^A[[:digit:]]\\z' }, 'a1', []],
    [{ type: 'string', format: 'uuid' }, 'x', ['f: Invalid value: "x": f in body must be of type uuid: "x"']],
    [{ type: 'string', format: 'unknown' }, 'x', []],
    [{ type: 'string', enum: ['b', 'a'] }, 'c', ['f: Unsupported value: "c": supported values: "b", "a"']],
    [{ 'x-kubernetes-int-or-string': true }, true, ['f: Invalid value: "boolean": f in body must be of type integer,string: "boolean"']],
    [{ 'x-kubernetes-int-or-string': true }, '80', []],
    [
      { type: 'array', items: { type: 'string' }, maxItems: 1 },
      ['a', 1],
      ['f[1]: Invalid value: "integer": f[1] in body must be of type string: "integer"', 'f: Too many: 2: must have at most 1 item'],
    ],
    [{ type: 'array', minItems: 1 }, [], ['f: Invalid value: 0: f in body should have at least 1 items']],
    [object({}, { required: ['a'] }), {}, ['f.a: Required value']],
    [
      { type: 'object', additionalProperties: { type: 'integer' }, maxProperties: 1 },
      { a: 1, b: 'x' },
      ['f: Too many: 2: must have at most 1 item', 'f.b: Invalid value: "string": f.b in body must be of type integer: "string"'],
    ],
    [
      { type: 'integer', oneOf: [{ minimum: 5 }, { minimum: 7 }] },
      8,
      ['<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    [
      { type: 'integer', anyOf: [{ minimum: 5 }] },
      1,
      ['<nil>: Invalid value: "": "f" must validate at least one schema (anyOf)', 'f: Invalid value: 1: f in body should be greater than or equal to 5'],
    ],
    [{ type: 'integer', not: { minimum: 5 } }, 8, ['<nil>: Invalid value: "": "f" must not validate the schema (not)']],
  ];

  test.each(rules)('%j takes %j?', (schema, value, expected) => {
    expect(say(validateValue({ f: value }, object({ f: schema })))).toEqual(expected);
  });

  test('ratcheting: unchanged invalid values stay valid, changed ones do not', () => {
    const schema = object({
      a: { type: 'integer', maximum: 1 },
      l: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: object({ k: { type: 'string' }, v: { type: 'integer', maximum: 1 } }),
      },
    });
    const old = { a: 5, l: [{ k: 'x', v: 9 }] };
    expect(
      validateValue(
        {
          a: 5,
          l: [
            { k: 'y', v: 1 },
            { k: 'x', v: 9 },
          ],
        },
        schema,
        { old },
      ),
    ).toEqual([]);
    expect(say(validateValue({ a: 6, l: [{ k: 'z', v: 9 }] }, schema, { old }))).toHaveLength(2);
  });
});

test('sets have no duplicate values, maps no duplicate keys', () => {
  const schema = object({
    s: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    m: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a', 'b'], items: object({}) },
  });
  const value = { s: ['x', 'y', 'x', 'x'], m: [{ a: 1, b: 2, c: 3 }, { a: 1 }, { b: 2, a: 1 }] };
  expect(say(validateListTypes(value, schema, ''))).toEqual(['s[2]: Duplicate value: "x"', 'm[2]: Duplicate value: {"a":1,"b":2}']);
});

describe('schemas that are refused', () => {
  test.each<[JsonSchema, string]>([
    [{}, 'schema.type: Required value: must not be empty at the root'],
    [object({ a: {} }), 'schema.properties[a].type: Required value: must not be empty for specified object fields'],
    [object({ a: { type: 'array' } }), 'schema.properties[a].items: Required value: must be specified'],
    [object({ a: { type: 'integer', default: 'x' } }), 'schema.properties[a].default: Invalid value: "string":  in body must be of type integer: "string"'],
    [object({ a: { type: 'integer', anyOf: [{ type: 'string' }] } }), 'schema.properties[a].anyOf[0].type: Forbidden: must be empty to be structural'],
    [
      object({ metadata: object({ labels: { type: 'object' } }) }),
      'schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
    [
      object({ a: { type: 'array', items: { type: 'string' }, uniqueItems: true } }),
      'schema.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    ],
    [
      object({ a: { type: 'array', items: object({}), 'x-kubernetes-list-type': 'set' } }),
      'schema.properties[a].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set',
    ],
    [
      object({ a: { type: 'strange' } }),
      'schema.properties[a].type: Unsupported value: "strange": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
    [
      object({ a: { type: 'object', additionalProperties: { type: 'string' }, properties: { b: { type: 'string' } } } }),
      'schema.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive',
    ],
    [
      object({}, { anyOf: [{ properties: { b: { minimum: 1 } } }] }),
      'schema.properties[b]: Required value: because it is defined in schema.anyOf[0].properties[b]',
    ],
  ])('%j', (schema, expected) => {
    expect(say(validateSchema(schema, 'schema'))).toContain(expected);
  });

  test('what controller-gen writes for an int or string is structural', () => {
    expect(validateSchema(object({ p: { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true } }), 's')).toEqual([]);
  });
});

describe('rules in CEL', () => {
  beforeAll(async () => {
    await loadCel();
  });
  const check = (rule: JsonSchema['x-kubernetes-validations'], value: unknown, old?: unknown): string[] =>
    say(
      checkRules({ spec: value }, object({ spec: object({ a: { type: 'integer' }, 'x-y': { type: 'string' } }, { 'x-kubernetes-validations': rule ?? [] }) }), {
        field: '',
        old: old === undefined ? undefined : { spec: old },
      }),
    );

  test('an object that breaks a rule gets its message, or the rule', () => {
    expect(check([{ rule: 'self.a > 1', message: 'too few' }], { a: 1 })).toEqual(['spec: Invalid value: too few']);
    expect(check([{ rule: 'self.a > 1' }], { a: 1 })).toEqual(['spec: Invalid value: failed rule: self.a > 1']);
    expect(check([{ rule: 'self.a > 1' }], { a: 2 })).toEqual([]);
    expect(check([{ rule: 'self.a > 1', messageExpression: '"a is " + string(self.a)', fieldPath: '.a' }], { a: 1 })).toEqual([
      'spec.a: Invalid value: a is 1',
    ]);
    expect(check([{ rule: 'self.a > 1', message: 'no', reason: 'FieldValueForbidden' }], { a: 1 })).toEqual(['spec: Forbidden: no']);
    expect(check([{ rule: 'self.x__dash__y == "b"' }], { 'x-y': 'b' })).toEqual([]);
  });

  test('a missing field is an error, unless the rule checks for it', () => {
    expect(check([{ rule: 'self.a > 1' }], {})).toEqual(['spec: Invalid value: "object": no such key: a evaluating rule: self.a > 1']);
    expect(check([{ rule: '!has(self.a) || self.a > 1' }], {})).toEqual([]);
  });

  test('transition rules apply only to updates, others only to changed values', () => {
    const grows = [{ rule: 'self.a >= oldSelf.a', message: 'shrinks' }];
    expect(check(grows, { a: 1 })).toEqual([]);
    expect(check(grows, { a: 1 }, { a: 2 })).toEqual(['spec: Invalid value: shrinks']);
    expect(check([{ rule: 'self.a > 1' }], { a: 1 }, { a: 1 })).toEqual([]);
    expect(check([{ rule: 'oldSelf.hasValue() || self.a == 1', optionalOldSelf: true, message: 'starts at 1' }], { a: 2 })).toEqual([
      'spec: Invalid value: starts at 1',
    ]);
  });

  test.each([
    'quantity("2Gi").isGreaterThan(quantity("1Gi"))',
    'isQuantity("1.5") && !isQuantity("x")',
    '"abc 123".find("[0-9]+") == "123"',
    '[1, 2, 3].isSorted() && [1, 2].sum() == 3 && [3, 1].min() == 1',
    'url("https://a.example:8443/x").getPort() == "8443" && !isURL("nope")',
    'isIP("::1") && isCIDR("10.0.0.0/8") && !isIP("1.2.3")',
  ])('%s', (rule) => {
    expect(check([{ rule }], { a: 1 })).toEqual([]);
  });

  test('a rule about a field that cannot be there is refused with its definition, in the words of cel-go (v1.36.4)', () => {
    const ruled = (rule: string): JsonSchema =>
      object(
        { spec: object({ a: { type: 'integer' }, 'x-y': { type: 'string' }, free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }) },
        { 'x-kubernetes-validations': [{ rule }] },
      );
    const problems = (rule: string) => validateSchema(ruled(rule), 'schema').map(({ detail }) => detail);
    expect(problems('self.spec.b > 1')).toEqual(["compilation failed: ERROR: <input>:1:10: undefined field 'b'\n | self.spec.b > 1\n | .........^"]);
    expect(problems('!has(self.spec.b)')).toHaveLength(1);
    expect(problems('self.metadata.labels.size() > 0')).toHaveLength(1);
    for (const rule of ['self.spec.a > 1', "self.spec.x__dash__y == ''", 'has(self.spec.free.any)', "self.metadata.name == 'x'", "self.kind != ''"])
      expect(problems(rule)).toEqual([]);
  });

  test('a rule whose types can never fit is refused with its definition, in the words of cel-go (v1.36.4); what is not certain is not', () => {
    const fields = object({
      n: { type: 'integer' },
      f: { type: 'number' },
      s: { type: 'string' },
      at: { type: 'string', format: 'date-time' },
      either: { 'x-kubernetes-int-or-string': true },
      names: { type: 'array', items: { type: 'string' } },
      parts: { type: 'array', items: object({ n: { type: 'integer' } }) },
      byName: { type: 'object', additionalProperties: { type: 'integer' } },
      nothing: { type: 'object' },
      if: { type: 'boolean' },
    });
    const problems = (rule: string, more: object = {}) =>
      validateSchema(object({ spec: { ...fields, 'x-kubernetes-validations': [{ rule, ...more }] } }), 'schema').map(({ detail }) => detail);
    const overload = (rule: string, column: number, what: string) => [
      `compilation failed: ERROR: <input>:1:${column}: found no matching overload for ${what}\n | ${rule}\n | ${'.'.repeat(column - 1)}^`,
    ];
    expect(problems('self.n > "a"')).toEqual(overload('self.n > "a"', 8, "'_>_' applied to '(int, string)'"));
    expect(problems('self.names.all(i, i > 1)')).toEqual(overload('self.names.all(i, i > 1)', 21, "'_>_' applied to '(string, int)'"));
    expect(problems('self.byName.all(k, self.byName[k] == "a")')).toHaveLength(1);
    expect(problems('self.n')).toEqual(['cel expression must evaluate to a bool']);
    expect(problems('self.n > 1', { messageExpression: 'self.n' })).toEqual(['messageExpression must evaluate to a string']);
    expect(problems('foo > 1')).toEqual(["compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo > 1\n | ^"]);
    expect(problems('self.nothing.x == 1')).toHaveLength(1);
    expect(problems('')).toEqual(['rule is not specified']);
    const fine = [
      'self.n > 1.5 && self.f >= 1',
      'self.at > timestamp("2026-01-01T00:00:00Z")',
      'type(self.either) == int ? self.either < 5 : self.either == "x"',
      'self.parts.all(p, p.n > 1) && self.parts.exists_one(p, p.n == 2)',
      'self == oldSelf || self.parts == oldSelf.parts',
      'self.?n.orValue(1) > 0 && has(self.s) && self.s in ["a"]',
      'self.__if__ && self.names.size() < 3 && size(self.s) > 1 && self.s.matches("^a")',
      'self.byName.size() > 0 && self.byName.exists(k, self.byName[k] > 1)',
      'quantity(self.s).isGreaterThan(quantity("1Gi"))',
    ];
    for (const rule of fine) expect(problems(rule), rule).toEqual([]);
  });

  test('optionalOldSelf', () => {
    const rule = { rule: '!oldSelf.hasValue() || oldSelf.value().n < self.n', message: 'grows', optionalOldSelf: true };
    const schema = object({ n: { type: 'integer' } }, { 'x-kubernetes-validations': [rule] });
    expect(validateSchema(schema, 'schema')).toEqual([]);
    const said = (n: number, old: object | undefined) => say(checkRules({ n }, schema, { field: 'spec', old }));
    expect([said(1, undefined), said(2, { n: 1 }), said(1, { n: 2 })]).toEqual([[], [], ['spec: Invalid value: grows']]);
  });

  test.each([
    ['date-time', '2026-03-01T12:00:00Z', 'self.getFullYear() == 2026'],
    ['date', '2026-03-01', "self < timestamp('2026-03-02T00:00:00Z')"],
    ['duration', '90m', "self > duration('1h')"],
    ['byte', 'YWJj', 'size(self) == 3'],
  ])('a text of format %s is more than a text', (format, value, rule) => {
    const schema: JsonSchema = { type: 'string', format, 'x-kubernetes-validations': [{ rule }] };
    expect(say(checkRules(value, schema, { field: 'at', old: undefined }))).toEqual([]);
  });

  test('an exceeded cost budget ends all checks (v1.36.4: a million for a rule, ten million for an object)', () => {
    const numbers = { type: 'array', items: { type: 'integer' } } satisfies JsonSchema;
    const pairs = { rule: 'self.all(x, self.all(y, x + y >= 0))' };
    const one = object({ a: { ...numbers, 'x-kubernetes-validations': [pairs] }, b: { ...numbers, 'x-kubernetes-validations': [{ rule: 'false' }] } });
    const many = Array.from({ length: 1_000 }, (_, i) => i);
    const exceeded = `'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${pairs.rule}`;
    expect(say(checkRules({ a: many, b: [1] }, one, { field: 'spec', old: undefined }))).toEqual([`spec.a: Invalid value: "array": ${exceeded}`]);

    const some = Array.from({ length: 10 }, (_, i) => i);
    const lists = { type: 'array', items: { ...numbers, 'x-kubernetes-validations': [pairs] } } satisfies JsonSchema;
    const told = say(
      checkRules(
        Array.from({ length: 50 }, () => some),
        lists,
        { field: 'spec', old: undefined, budget: 10_000 },
      ),
    );
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(
      /^spec\[\d+\]: Invalid value: "array": validation failed due to running out of cost budget, no further validation rules will be run$/,
    );
  });
});

test('paths of columns', () => {
  const value = {
    a: {
      'b.c/d': 1,
      l: [
        { t: 'x', v: 1 },
        { t: 'y', v: 2 },
      ],
    },
  };
  const find = (path: string): readonly unknown[] => findAll(value, parseJsonPath(path) ?? []);
  expect(find('.a.b\\.c/d')).toEqual([1]);
  expect(find(".a['b.c/d']")).toEqual([1]);
  expect(find('.a.l[?(@.t=="y")].v')).toEqual([2]);
  expect(find('.a.l[*].v')).toEqual([1, 2]);
  expect(find('.a.l[-1].t')).toEqual(['y']);
  expect(find('.a.nope.x')).toEqual([]);
  expect(parseJsonPath('.a[')).toBe(undefined);
});

test.each([
  ['ipv4', '10.0.0.1', '10.0.0.01'],
  ['ipv6', '::1', '10.0.0.1'],
  ['cidr', '10.0.0.0/8', '10.0.0.0/33'],
  ['date', '2024-02-29', '2023-02-29'],
  ['date-time', '2024-02-29T10:00:00Z', '2024-02-29'],
  ['duration', '1h30m', '1x'],
  ['byte', 'YWI=', 'Y'],
  ['isbn', '978-0321751041', '978-0321751042'],
  ['mac', '01:23:45:67:89:ab', '01:23'],
])('%s: %s, but not %s', (format, good, bad) => {
  expect([hasFormat(good, format), hasFormat(bad, format)]).toEqual([true, false]);
});
