import { describe, expect, it } from 'vitest';
import { JsonNumber } from './json.ts';
import { readYaml, YamlError } from './yaml.ts';

const read = (text: string) => readYaml(new TextEncoder().encode(text));

describe('YAML 1.1 as Kubernetes reads it', () => {
  it.each<[string, unknown]>([
    ['a: yes\nb: off\nc: "yes"', { a: true, b: false, c: 'yes' }],
    ['a: 010\nb: 0x1F\nc: 0b11\nd: 0o17\ne: 1_000', { a: 8, b: 31, c: 3, d: 15, e: 1000 }],
    ['a: 1.50\nb: .5\nc: 1e3\nd: -0', { a: 1.5, b: 0.5, c: 1000, d: 0 }],
    ['a: 12:30:45\nb: 2020-01-01\nc: 1.2.3\nd: 08\ne: -x', { a: '12:30:45', b: '2020-01-01', c: '1.2.3', d: 8, e: '-x' }],
    ['a: ~\nb:\nc: null\nd: ""', { a: null, b: null, c: null, d: '' }],
    ['1: a\ntrue: b\ny: c\n1.5: d', { 1: 'a', true: 'c', 1.5: 'd' }],
    ['a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2', { a: { b: 1 }, c: { b: 1 }, d: { e: 2, b: 1 } }],
    ['<<: [{a: 1, b: 1}, {a: 2, c: 2}]\nb: 3', { b: 3, a: 1, c: 2 }],
    ['a: |\n  two\n  lines\nb: >-\n  one\n  line', { a: 'two\nlines\n', b: 'one line' }],
    ['a: b\n---\nc: d', { a: 'b' }],
    ['a: !!str 5\nb: !!int "5"\nc: !custom 5', { a: '5', b: 5, c: '5' }],
    ['a: 1e400\n9223372036854775807: b', { a: '1e400', '9223372036854775807': 'b' }],
    ['{"a": [1, "x"]}', { a: [1, 'x'] }],
    ['', null],
    ['# nothing', null],
  ])('%j', (text, value) => {
    const found = read(text).value;
    expect(found).toEqual(value);
  });

  it('keeps integers that a double cannot hold', () => {
    expect(read('a: 9007199254740993').value).toEqual({ a: new JsonNumber('9007199254740993') });
  });

  it('reports keys given twice, and lets the last one count', () => {
    expect(read('a: 1\nb:\n  c: 1\n  c: 2\na: 3')).toEqual({
      value: { a: 3, b: { c: 2 } },
      strictErrors: ['yaml: unmarshal errors:\n  line 4: key "c" already set in map\n  line 5: key "a" already set in map'],
    });
  });

  it('takes keys like __proto__ as data', () => {
    const { value } = read('__proto__: {x: 1}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"x":1}}');
  });
});

describe('YAML that is refused', () => {
  it.each(['a: [', '\ta: b', 'a: *unknown', '<<: 5', '? {a: b}\n: c', 'a: .inf', '- .nan'])('%j', (text) => {
    expect(() => read(text)).toThrow(YamlError);
  });

  it('a small text that would become a huge object', () => {
    const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]'];
    for (let i = 1; i < 8; i++)
      lines.push(
        `a${i}: &a${i} [${Array(10)
          .fill(`*a${i - 1}`)
          .join(',')}]`,
      );
    expect(() => read(lines.join('\n'))).toThrow('yaml: document contains excessive aliasing');
  });

  it.each([1200, 100_000])('nesting beyond the limit, also beyond that of the parser: %i', (depth) => {
    expect(() => read('['.repeat(depth) + ']'.repeat(depth))).toThrow(new YamlError('yaml: exceeded max depth'));
  });
});
