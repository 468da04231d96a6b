import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../schema/plain-object.ts';
import { applyJsonPatch, JsonPatchError, type JsonPatchOperation } from './json-patch.ts';

const patch = (document: unknown, ...operations: JsonPatchOperation[]): unknown => applyJsonPatch(deepFreeze(document), deepFreeze(operations));

describe('JSON patch', () => {
  it.each<[string, unknown, JsonPatchOperation[], unknown]>([
    ['add to an object', { a: 1 }, [{ op: 'add', path: '/b', value: { c: 2 } }], { a: 1, b: { c: 2 } }],
    ['add over what is there', { a: 1 }, [{ op: 'add', path: '/a', value: 2 }], { a: 2 }],
    ['add without a value', {}, [{ op: 'add', path: '/a' }], { a: null }],
    ['add into a list', { a: [1, 3] }, [{ op: 'add', path: '/a/1', value: 2 }], { a: [1, 2, 3] }],
    ['add at the end of a list', { a: [1] }, [{ op: 'add', path: '/a/-', value: 2 }], { a: [1, 2] }],
    ['add behind the end of a list', { a: [1] }, [{ op: 'add', path: '/a/1', value: 2 }], { a: [1, 2] }],
    ['add counting from the end', { a: [1, 2] }, [{ op: 'add', path: '/a/-1', value: 3 }], { a: [1, 2, 3] }],
    ['remove a key', { a: 1, b: 2 }, [{ op: 'remove', path: '/a' }], { b: 2 }],
    ['remove from a list', { a: [1, 2, 3] }, [{ op: 'remove', path: '/a/1' }], { a: [1, 3] }],
    ['remove counting from the end', { a: [1, 2, 3] }, [{ op: 'remove', path: '/a/-1' }], { a: [1, 2] }],
    ['replace', { a: { b: 1 } }, [{ op: 'replace', path: '/a/b', value: [] }], { a: { b: [] } }],
    ['replace a key that is not there', { a: {} }, [{ op: 'replace', path: '/a/b', value: 1 }], { a: { b: 1 } }],
    ['replace everything', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
    ['move', { a: { x: 1 }, b: {} }, [{ op: 'move', from: '/a/x', path: '/b/y' }], { a: {}, b: { y: 1 } }],
    [
      'copy',
      { a: { x: [1] } },
      [
        { op: 'copy', from: '/a', path: '/b' },
        { op: 'add', path: '/b/x/-', value: 2 },
      ],
      { a: { x: [1] }, b: { x: [1, 2] } },
    ],
    ['test what is equal', { a: { b: 1, c: [2] } }, [{ op: 'test', path: '/a', value: { c: [2], b: 1 } }], { a: { b: 1, c: [2] } }],
    ['test what is absent against null', { a: 1 }, [{ op: 'test', path: '/b', value: null }], { a: 1 }],
    ['escapes in pointers', { 'a/b': { '~c': 1 } }, [{ op: 'replace', path: '/a~1b/~0c', value: 2 }], { 'a/b': { '~c': 2 } }],
    ['an empty key', { '': 1 }, [{ op: 'replace', path: '/', value: 2 }], { '': 2 }],
    ['nothing at all', { a: 1 }, [], { a: 1 }],
  ])('%s', (_, document, operations, result) => {
    expect(patch(document, ...operations)).toEqual(result);
  });

  it.each<[string, unknown, JsonPatchOperation]>([
    ['a test that fails', { a: 1 }, { op: 'test', path: '/a', value: 2 }],
    ['a test of another type', { a: 1 }, { op: 'test', path: '/a', value: '1' }],
    ['a way that is not there', { a: {} }, { op: 'add', path: '/x/y', value: 1 }],
    ['a way through a scalar', { a: 1 }, { op: 'add', path: '/a/y', value: 1 }],
    ['removing what is not there', {}, { op: 'remove', path: '/a' }],
    ['an index beyond the end', { a: [1] }, { op: 'add', path: '/a/3', value: 1 }],
    ['replacing beyond the end', { a: [1] }, { op: 'replace', path: '/a/1', value: 1 }],
    ['an index before the start', { a: [1] }, { op: 'remove', path: '/a/-2' }],
    ['an index that is none', { a: [1] }, { op: 'add', path: '/a/x', value: 1 }],
    ['an unknown operation', {}, { op: 'frobnicate', path: '/a' }],
    ['no operation', {}, { path: '/a' }],
    ['no path', {}, { op: 'remove' }],
    ['a path that is no string', {}, { op: 'remove', path: 5 }],
    ['moving from nowhere', {}, { op: 'move', path: '/a' }],
    ['adding to the root', {}, { op: 'add', path: '', value: {} }],
    ['replacing everything by a scalar', {}, { op: 'replace', path: '', value: 1 }],
  ])('%s is refused', (_, document, operation) => {
    expect(() => patch(document, operation)).toThrow(JsonPatchError);
  });

  it('limits what copies may add', () => {
    const operations = Array.from({ length: 40 }, (_, i): JsonPatchOperation => ({ op: 'copy', from: '/a', path: `/a/k${i}` }));
    expect(() => patch({ a: { text: 'x'.repeat(1000) } }, ...operations)).toThrow('exceeding the limit 3145728');
  });

  it('reaches no prototype', () => {
    expect(() => patch({}, { op: 'add', path: '/constructor/prototype/polluted', value: 1 })).toThrow(JsonPatchError);
    expect(() => patch({}, { op: 'add', path: '/__proto__/polluted', value: 1 })).toThrow(JsonPatchError);
    const result = patch({}, { op: 'add', path: '/__proto__', value: { polluted: 1 } }, { op: 'add', path: '/__proto__/more', value: 2 });
    expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":1,"more":2}}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('any operations apply or are refused, nothing else', () => {
    const pointer = fc
      .array(fc.constantFrom('a', 'b', '0', '-', '-1', '__proto__', ''), { maxLength: 3 })
      .map((parts) => parts.map((part) => `/${part}`).join(''));
    const operation = fc.record({
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
      path: pointer,
      from: pointer,
      value: fc.jsonValue(),
    });
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(operation, { maxLength: 5 }), (document, operations) => {
        try {
          applyJsonPatch(deepFreeze(document), deepFreeze(operations));
        } catch (error) {
          expect(error).toBeInstanceOf(JsonPatchError);
        }
      }),
    );
  });
});
