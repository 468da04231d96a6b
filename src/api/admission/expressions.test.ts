import { beforeAll, describe, expect, test } from 'vitest';
import { type Expressions, celValue, type ExpressionScope, loadExpressions } from './expressions.ts';
import { jsonValue } from './json-value.ts';
import { messagesAsMaps } from './messages.ts';

let expressions: Expressions;
beforeAll(async () => {
  expressions = await loadExpressions();
});

const all: ExpressionScope = { params: true, authorizer: true };

function result(text: string, object: unknown = {}, known: ExpressionScope = all): unknown {
  const compilation = expressions.compile(text, known);
  if (!compilation.ok) return compilation.error.message;
  const values = { object: celValue(object), oldObject: null, request: {}, namespaceObject: null, params: null, authorizer: null };
  const { value, error } = compilation.compiled.run(values);
  return error === undefined ? value : error.message;
}

describe('an expression', () => {
  test.each([
    ['object.n == 1 && object.x == 1.5', { n: 1, x: 1.5 }, true],
    ['object.list.all(i, i < 3) && size(object.list) == 2', { list: [1, 2] }, true],
    ["has(object.a.b) ? object.a.b : 'none'", { a: {} }, 'none'],
    ["object.?a.?b.orValue('none')", {}, 'none'],
    ['object.nothing', {}, 'no such key: nothing'],
    ['object.list[2]', { list: [1, 2] }, 'index out of bounds: 2'],
    ['oldObject == null && namespaceObject == null && params == null', {}, true],
    ["quantity(object.size).isGreaterThan(quantity('1Gi'))", { size: '2Gi' }, true],
  ])('%s', (text, object, expected) => expect(result(text, object)).toBe(expected));

  test('that does not compile has an error with its position, as far as possible in the words of Kubernetes', () => {
    expect(result('object.a == 1 &&\n  unknown')).toBe("ERROR: <input>:2:3: undeclared reference to 'unknown' (in container '')\n |   unknown\n | ..^");
    expect(result('request.nothing')).toBe("ERROR: <input>:1:8: undefined field 'nothing'\n | request.nothing\n | .......^");
    expect(result("1 + 'a'")).toBe("ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + 'a'\n | ..^");
    expect(result('object.')).toMatch(/^ERROR: <input>:1:\d+: Syntax error: /);
    expect(result('params', {}, { params: false, authorizer: false })).toContain("undeclared reference to 'params'");
  });
});

test('typed values become maps, but not those in strings and comments', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['Object{spec: Object.spec{replicas: 3}}', '{"spec": {"replicas": 3}}'],
    ['[JSONPatch{op: "add", path: "/a", value: {"k": 1}}]', '[{"op": "add", "path": "/a", "value": {"k": 1}}]'],
    ['object.Object{a: 1}', 'object.Object{a: 1}'],
    ['"Object{a: 1}" + r\'Object{\' + """Object{a: "x"}"""', '"Object{a: 1}" + r\'Object{\' + """Object{a: "x"}"""'],
    ['Object{a: f(b, c), d: [x, y], e: Object.e{}}', '{"a": f(b, c), "d": [x, y], "e": {}}'],
    ['Object{x__dash__y: 1, __namespace__: 2, // Object{z: 3}\n q: 4}', '{"x-y": 1, "namespace": 2, // Object{z: 3}\n "q": 4}'],
  ];
  for (const [text, expected] of cases) expect(messagesAsMaps(text)).toBe(expected);
});

test('JSON values survive the conversion to CEL and back', () => {
  const value = { a: [1, 2.5, 'x', null, true, { b: {} }], c: -3 };
  expect(jsonValue(celValue(value))).toEqual(value);
});
