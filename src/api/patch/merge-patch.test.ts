import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../schema/plain-object.ts';
import { applyMergePatch } from './merge-patch.ts';

describe('merge patch', () => {
  it.each<[string, unknown, unknown, unknown]>([
    ['a value replaces', { a: 'b' }, { a: 'c' }, { a: 'c' }],
    ['a new key is added', { a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    ['null removes', { a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    ['null for what is not there does nothing', { a: 1 }, { b: null }, { a: 1 }],
    ['objects merge', { a: { b: 'c', d: 1 } }, { a: { b: 'd', c: null } }, { a: { b: 'd', d: 1 } }],
    ['lists replace', { a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    ['a list replaces an object', { a: { b: 1 } }, { a: ['c'] }, { a: ['c'] }],
    ['an object replaces a list', { a: ['c'] }, { a: { b: 1 } }, { a: { b: 1 } }],
    ['an object replaces null', { a: null }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    ['nulls of a new object are dropped', {}, { a: { b: { c: null } } }, { a: { b: {} } }],
    ['nulls in a new list stay, those of objects in it do not', {}, { a: [null, { b: null }] }, { a: [null, {}] }],
    ['what is no object replaces everything', { a: 1 }, ['c'], ['c']],
  ])('%s', (_, document, patch, result) => {
    expect(applyMergePatch(deepFreeze(document), deepFreeze(patch))).toEqual(result);
  });

  it('takes keys like __proto__ as data', () => {
    const result = applyMergePatch({}, JSON.parse('{"__proto__":{"x":1},"constructor":{"prototype":{"y":1}}}'));
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(JSON.stringify(result)).toBe('{"__proto__":{"x":1},"constructor":{"prototype":{"y":1}}}');
  });

  it('applied twice is applied once', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (document, patch) => {
        const once = applyMergePatch(deepFreeze(document), deepFreeze(patch));
        expect(applyMergePatch(once, patch)).toEqual(once);
      }),
    );
  });
});
