import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cloneObject, deepEqual, deepFreeze } from './plain-object.ts';

describe('cloneObject', () => {
  it('equals the original and shares nothing with it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const copy = cloneObject(deepFreeze(value));
        expect(JSON.stringify(copy)).toBe(text);
        if (typeof copy === 'object' && copy !== null) expect(copy).not.toBe(value);
      }),
    );
  });

  it('copies a key named __proto__ as data', () => {
    const copy = cloneObject(JSON.parse('{"__proto__":{"x":1}}') as object);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"x":1}}');
  });
});

it('deepFreeze freezes all the way down', () => {
  const value = deepFreeze({ a: [{ b: { c: 1 } }] });
  expect(() => {
    (value.a[0] as { b: { c: number } }).b.c = 2;
  }).toThrow(TypeError);
});

describe('deepEqual', () => {
  it.each([
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: [] }, {}, true],
    [{ a: null }, {}, true],
    [{ a: null }, { a: [] }, true],
    [{ emptyDir: {} }, {}, false],
    [{ a: 0 }, {}, false],
    [{ a: '' }, {}, false],
    [[1, 2], [2, 1], false],
    [[1], [1, 2], false],
    [{ a: [1] }, { a: { 0: 1 } }, false],
    [{ a: { b: [{ c: 'x' }] } }, { a: { b: [{ c: 'x' }] } }, true],
    [{ a: 1 }, { a: '1' }, false],
    [JSON.parse('{"__proto__":1}'), {}, false],
    [{ toString: undefined }, {}, true],
  ])('%o and %o: %s', (a, b, equal) => {
    expect(deepEqual(a, b)).toBe(equal);
    expect(deepEqual(b, a)).toBe(equal);
  });
});
