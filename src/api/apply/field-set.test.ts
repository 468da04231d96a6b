import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { difference, differenceWithin, type FieldSet, has, intersection, isEmpty, node, pathsOf, sameSet, setOf, union } from './field-set.ts';
import { readFields, writeFields } from './fields-v1.ts';
import { compareElements, elementText, fieldElement, indexElement, keyElement, pathText, readElement, valueElement } from './path-element.ts';

const element = fc.oneof(
  fc.constantFrom('spec', 'a', 'b', 'metadata', '__proto__').map(fieldElement),
  fc.constantFrom('x', 'y').map((name) => keyElement([['name', name]])),
  fc.record({ port: fc.nat(9), protocol: fc.constantFrom('TCP', 'UDP') }).map(({ port, protocol }) =>
    keyElement([
      ['protocol', protocol],
      ['containerPort', port],
    ]),
  ),
  fc.constantFrom('v1', 2, true).map(valueElement),
  fc.nat(3).map(indexElement),
);
const paths = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 12 });
const sets = paths.map((list) => setOf(...list));
const textsOf = (set: FieldSet): string[] => [...pathsOf(set)].map((path) => path.join('/')).sort();

describe('field sets', () => {
  test('on the wire and back, in the order of Kubernetes', () => {
    const fields = {
      'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
      'f:spec': {
        'f:finalizers': { '.': {}, 'v:"a"': {}, 'v:"b"': {} },
        'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
        'f:x': { 'i:0': {} },
      },
    };
    const shuffled = {
      'f:spec': {
        'f:x': { 'i:0': {} },
        'f:ports': { 'k:{"protocol":"TCP", "containerPort":80}': { 'f:containerPort': {}, '.': {} } },
        'f:finalizers': { 'v:"b"': {}, 'v:"a"': {}, '.': {} },
      },
      'f:metadata': { 'f:labels': { 'f:app': {}, '.': {} } },
    };
    expect(JSON.stringify(writeFields(readFields(shuffled)))).toBe(JSON.stringify(fields));
    expect([...pathsOf(readFields(fields))].map(pathText)).toEqual([
      '.metadata.labels',
      '.metadata.labels.app',
      '.spec.finalizers',
      '.spec.finalizers[="a"]',
      '.spec.finalizers[="b"]',
      '.spec.ports[containerPort=80,protocol="TCP"]',
      '.spec.ports[containerPort=80,protocol="TCP"].containerPort',
      '.spec.x[0]',
    ]);
  });

  test('elements of unknown types are left out, invalid ones are refused', () => {
    expect(writeFields(readFields({ 'f:a': { 'z:new': {} }, 'q:b': {} }))).toEqual({ 'f:a': {} });
    for (const bad of [{ nocolon: {} }, { 'k:{': {} }, { 'k:1': {} }, { 'i:x': {} }, { 'f:a': 1 }, []]) expect(() => readFields(bad)).toThrow(SyntaxError);
  });

  test('any set survives the wire', () => {
    fc.assert(
      fc.property(sets, (set) => {
        expect(sameSet(readFields(JSON.parse(JSON.stringify(writeFields(set)))), set)).toBe(true);
      }),
    );
  });

  test('union, intersection and difference are those of sets of paths', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const [x, y] = [new Set(textsOf(a)), new Set(textsOf(b))];
        expect(textsOf(union(a, b))).toEqual([...new Set([...x, ...y])].sort());
        expect(textsOf(intersection(a, b))).toEqual([...x].filter((path) => y.has(path)).sort());
        expect(textsOf(difference(a, b))).toEqual([...x].filter((path) => !y.has(path)).sort());
        const below = (path: string): boolean => [...y].some((other) => path === other || path.startsWith(`${other}/`));
        expect(textsOf(differenceWithin(a, b))).toEqual([...x].filter((path) => !below(path)).sort());
        expect(isEmpty(difference(a, a))).toBe(true);
        for (const path of pathsOf(a)) expect(has(a, path)).toBe(true);
      }),
    );
  });

  test('elements are totally ordered', () => {
    fc.assert(
      fc.property(element, element, element, (a, b, c) => {
        expect(Math.sign(compareElements(a, b))).toBe(-Math.sign(compareElements(b, a)) + 0);
        if (compareElements(a, b) < 0 && compareElements(b, c) < 0) expect(compareElements(a, c)).toBeLessThan(0);
        expect(readElement(a)).toBe(a);
        expect(elementText(a)).not.toBe('');
      }),
    );
    expect(node(false, [['f:a', node(false, [])]])).toEqual(setOf());
  });
});
