import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonNumber, maxDepth, quoteGo, readJson, setOwn } from './json.ts';
import { JsonReader } from './json-reader.ts';

const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...new TextEncoder().encode(part)] : part)));

describe('what is valid', () => {
  it('reads as JSON.parse does, on both paths', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const expected: unknown = JSON.parse(text);
        expect(readJson(text).value).toEqual(expected);
        expect(new JsonReader(text).read().value).toEqual(expected);
      }),
    );
  });

  it('accepts whatever JSON.parse accepts, and nothing else', () => {
    const mangled = fc.tuple(fc.json(), fc.nat(), fc.constantFrom('', '}', '"', ',', '0', '\\', ' ', '-', 'e', '[')).map(([text, at, insert]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + insert + text.slice(place + (insert === '' ? 1 : 0));
    });
    const valid = (parse: () => unknown): boolean => {
      try {
        parse();
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(fc.property(mangled, (text) => valid(() => readJson(text, { exactNumbers: true })) === valid(() => JSON.parse(text))));
  });

  it('replaces what is no UTF-8 and surrogates without their other half', () => {
    expect(readJson(bytes('{"a":"x', [0xff], 'y"}')).value).toEqual({ a: 'x\ufffdy' });
    expect(readJson('["\\ud800","\\udc00x","\\ud83d\\ude00"]').value).toEqual(['\ufffd', '\ufffdx', '😀']);
  });
});

describe('errors in the words of Kubernetes', () => {
  it.each([
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{"a', 'unexpected end of JSON input'],
    ['[1,', 'unexpected end of JSON input'],
    ['tru', 'unexpected end of JSON input'],
    ['-', 'unexpected end of JSON input'],
    ['x', "invalid character 'x' looking for beginning of value"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
    ['{"a"1}', "invalid character '1' after object key"],
    ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
    ['[1 2]', "invalid character '2' after array element"],
    ['[01]', "invalid character '1' after array element"],
    ['{} {}', "invalid character '{' after top-level value"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
    ['trux', "invalid character 'x' in literal true (expecting 'e')"],
    ['nil', "invalid character 'i' in literal null (expecting 'u')"],
    ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
    ['\u0000', "invalid character '\\x00' looking for beginning of value"],
  ])('%j', (text, message) => {
    expect(() => readJson(text)).toThrow(message);
  });

  it('refuses nesting beyond the limit, however long the text', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(() => readJson(nested(maxDepth))).not.toThrow();
    expect(() => readJson(nested(maxDepth + 1))).toThrow("invalid character '[' exceeded max depth");
    expect(() => readJson('{"a":'.repeat(1_000_000))).toThrow("invalid character '{' exceeded max depth");
  });
});

describe('duplicate keys', () => {
  it('are reported with their path, once per repetition', () => {
    expect(readJson('{"a":1,"b":[{"c":1,"c":2},{"d":{},"d":{}}],"a":3}')).toEqual({
      value: { a: 3, b: [{ c: 2 }, { d: {} }] },
      duplicates: [['b', 0, 'c'], ['b', 1, 'd'], ['a']],
    });
  });

  it('are found when escapes hide them', () => {
    expect(readJson('{"a":1,"\\u0061":2}').duplicates).toEqual([['a']]);
  });

  it('merge two objects, as decoding twice into one struct does', () => {
    expect(readJson('{"m":{"name":"a"},"m":{"namespace":"b"}}').value).toEqual({ m: { name: 'a', namespace: 'b' } });
  });
});

describe('numbers', () => {
  it('keep their text where it matters and it is asked for', () => {
    const [one, exponent, long, plain] = readJson('[1.0,1e3,123456789012345678901,15]', { exactNumbers: true }).value as unknown[];
    expect([one, exponent, long]).toEqual([new JsonNumber('1.0'), new JsonNumber('1e3'), new JsonNumber('123456789012345678901')]);
    expect(plain).toBe(15);
    expect(readJson('[1.0,1e3]').value).toEqual([1, 1000]);
  });

  it('that no double holds are refused', () => {
    expect(() => readJson('1e999')).toThrow('json: cannot unmarshal number 1e999 into Go value of type float64');
  });
});

describe('keys that would change a prototype', () => {
  it.each(['{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}', '{"x":1.0,"__proto__":{"polluted":true},"__proto__":{}}'])(
    'are data: %s',
    (text) => {
      const value = readJson(text).value as object;
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(Object.keys(value)).toContain('__proto__');
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    },
  );

  it('setOwn makes them plain properties', () => {
    const target: Record<string, unknown> = {};
    setOwn(target, '__proto__', 1);
    expect(JSON.stringify(target)).toBe('{"__proto__":1}');
  });
});

it('quotes as Go does', () => {
  expect(quoteGo('a"b\\c\n\u0000é\u200b😀')).toBe('"a\\"b\\\\c\\n\\x00é\\u200b😀"');
});
