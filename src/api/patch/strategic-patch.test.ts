import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../schema/plain-object.ts';
import { randomObject, seededRandom } from '../schema/random-object.ts';
import { StrategicPatchError } from './strategic-error.ts';
import { applyStrategicPatch } from './strategic-patch.ts';

type Json = Record<string, unknown>;
interface Case {
  readonly rule: string;
  readonly type?: string;
  readonly object: Json;
  readonly patch: Json;
  readonly result: Json;
}

const named = (...names: string[]) => names.map((name) => ({ name }));
const containers = (...names: string[]): Json => ({ spec: { containers: named(...names) } });
const finalizers = (...items: string[]): Json => ({ metadata: { finalizers: items } });

/** Every result is what apimachinery's strategicpatch package makes of the same input. */
const cases: Case[] = [
  {
    rule: 'a scalar replaces, null removes',
    object: { spec: { nodeName: 'a', priority: 1 } },
    patch: { spec: { nodeName: 'b', priority: null } },
    result: { spec: { nodeName: 'b' } },
  },
  {
    rule: 'null where there is nothing does nothing',
    object: { spec: {} },
    patch: { spec: { nodeName: null, securityContext: { runAsUser: null } } },
    result: { spec: { securityContext: {} } },
  },
  {
    rule: 'maps merge',
    object: { metadata: { labels: { a: '1', b: '2' } } },
    patch: { metadata: { labels: { b: null, c: '3' } } },
    result: { metadata: { labels: { a: '1', c: '3' } } },
  },
  {
    rule: 'keyed lists merge by key',
    object: { spec: { containers: [{ name: 'a', image: 'x' }, { name: 'b' }] } },
    patch: { spec: { containers: [{ name: 'a', command: ['c'] }] } },
    result: { spec: { containers: [{ name: 'a', image: 'x', command: ['c'] }, { name: 'b' }] } },
  },
  {
    rule: 'new elements come first',
    object: containers('a', 'b'),
    patch: containers('c'),
    result: containers('c', 'a', 'b'),
  },
  { rule: 'the patch decides the order of what it names', object: containers('a', 'b', 'c'), patch: containers('c', 'a'), result: containers('b', 'c', 'a') },
  {
    rule: 'an element is deleted by its key',
    object: containers('a', 'b', 'c'),
    patch: { spec: { containers: [{ name: 'b', $patch: 'delete' }] } },
    result: containers('a', 'c'),
  },
  {
    rule: 'deleting what is not there does nothing',
    object: containers('a'),
    patch: { spec: { containers: [{ name: 'z', $patch: 'delete' }] } },
    result: containers('a'),
  },
  {
    rule: 'a list replaces when one element says so',
    object: containers('a', 'b'),
    patch: { spec: { containers: [{ $patch: 'replace' }, { name: 'z' }] } },
    result: containers('z'),
  },
  {
    rule: 'a list that is empty but for the directive is emptied',
    object: containers('a'),
    patch: { spec: { containers: [{ $patch: 'replace' }] } },
    result: containers(),
  },
  {
    rule: 'lists without a key replace',
    object: { spec: { containers: [{ name: 'a', command: ['x', 'y'] }], tolerations: [{ key: 'a' }] } },
    patch: { spec: { containers: [{ name: 'a', command: ['z'] }], tolerations: [{ key: 'b' }] } },
    result: { spec: { containers: [{ name: 'a', command: ['z'] }], tolerations: [{ key: 'b' }] } },
  },
  { rule: 'an empty list changes no merged list', object: containers('a'), patch: containers(), result: containers('a') },
  {
    rule: 'keys may be numbers',
    object: { spec: { ports: [{ port: 80, name: 'a' }, { port: 81 }] } },
    patch: { spec: { ports: [{ port: 80, name: 'b' }] } },
    type: 'Service',
    result: { spec: { ports: [{ port: 80, name: 'b' }, { port: 81 }] } },
  },
  { rule: 'lists of scalars merge as sets', object: finalizers('a', 'b'), patch: finalizers('b', 'c'), result: finalizers('a', 'b', 'c') },
  {
    rule: 'scalars are removed by a list beside',
    object: finalizers('a', 'b', 'c'),
    patch: { metadata: { '$deleteFromPrimitiveList/finalizers': ['b', 'z'] } },
    result: finalizers('a', 'c'),
  },
  {
    rule: 'scalars are ordered by a list beside',
    object: finalizers('a', 'b', 'c'),
    patch: { metadata: { '$setElementOrder/finalizers': ['c', 'a'] } },
    result: finalizers('b', 'c', 'a'),
  },
  {
    rule: 'elements are ordered by a list beside',
    object: containers('a', 'b', 'c'),
    patch: { spec: { '$setElementOrder/containers': named('c', 'b', 'a') } },
    result: containers('c', 'b', 'a'),
  },
  {
    rule: 'elements that the order does not name keep their place among the others',
    object: containers('a', 'sidecar', 'b'),
    patch: { spec: { '$setElementOrder/containers': named('b', 'a') } },
    result: containers('sidecar', 'b', 'a'),
  },
  {
    rule: 'an element that takes the place of a deleted one',
    object: containers('web', 'sidecar'),
    patch: { spec: { containers: [{ name: 'new' }, { name: 'web', $patch: 'delete' }], '$setElementOrder/containers': named('new') } },
    result: containers('sidecar', 'new'),
  },
  {
    rule: 'order, change and deletion together',
    object: containers('a', 'b', 'c', 'd'),
    patch: {
      spec: {
        containers: [{ name: 'd', image: 'x' }, { name: 'e' }, { name: 'b', $patch: 'delete' }],
        '$setElementOrder/containers': named('d', 'e', 'c', 'a'),
      },
    },
    result: { spec: { containers: [{ name: 'd', image: 'x' }, { name: 'e' }, { name: 'c' }, { name: 'a' }] } },
  },
  {
    rule: 'an order for a list that is nowhere does nothing',
    object: { metadata: {} },
    patch: { metadata: { '$setElementOrder/finalizers': ['a'] } },
    result: { metadata: {} },
  },
  {
    rule: 'an object replaces when it says so',
    object: { spec: { affinity: { nodeAffinity: {}, podAffinity: {} } } },
    patch: { spec: { affinity: { $patch: 'replace', podAntiAffinity: {} } } },
    result: { spec: { affinity: { podAntiAffinity: {} } } },
  },
  {
    rule: 'an object empties when it says so',
    object: { spec: { affinity: { nodeAffinity: {} } } },
    patch: { spec: { affinity: { $patch: 'delete' } } },
    result: { spec: { affinity: {} } },
  },
  { rule: 'a directive for what is not there leaves nothing', object: { spec: {} }, patch: { spec: { affinity: { $patch: 'delete' } } }, result: { spec: {} } },
  {
    rule: 'the whole object replaces when it says so',
    object: { metadata: { name: 'a' }, spec: {} },
    patch: { $patch: 'replace', metadata: { name: 'b' } },
    result: { metadata: { name: 'b' } },
  },
  {
    rule: 'only retained keys stay',
    type: 'Deployment',
    object: { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } },
    patch: { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
    result: { spec: { strategy: { type: 'Recreate' } } },
  },
  {
    rule: 'retained keys in the elements of a list',
    object: { spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
    patch: { spec: { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/' } }] } },
    result: { spec: { volumes: [{ name: 'v', hostPath: { path: '/' } }] } },
  },
  {
    rule: 'another type replaces',
    object: { spec: { ports: [{ port: 80, targetPort: 80 }] } },
    patch: { spec: { ports: [{ port: 80, targetPort: 'http' }] } },
    type: 'Service',
    result: { spec: { ports: [{ port: 80, targetPort: 'http' }] } },
  },
  {
    rule: 'nested keyed lists',
    object: { spec: { containers: [{ name: 'a', ports: [{ containerPort: 80, name: 'x' }] }] } },
    patch: { spec: { containers: [{ name: 'a', ports: [{ containerPort: 80, name: 'y' }, { containerPort: 81 }] }] } },
    result: { spec: { containers: [{ name: 'a', ports: [{ containerPort: 80, name: 'y' }, { containerPort: 81 }] }] } },
  },
  {
    rule: 'owner references merge by uid',
    object: { metadata: { ownerReferences: [{ uid: '1', name: 'a' }] } },
    patch: { metadata: { ownerReferences: [{ uid: '2', name: 'a' }] } },
    result: {
      metadata: {
        ownerReferences: [
          { uid: '2', name: 'a' },
          { uid: '1', name: 'a' },
        ],
      },
    },
  },
  {
    rule: 'keys like __proto__ are data',
    object: { metadata: { labels: {} } },
    patch: { metadata: { labels: JSON.parse('{"__proto__":"x","constructor":"y"}') as Json } },
    result: { metadata: { labels: JSON.parse('{"__proto__":"x","constructor":"y"}') as Json } },
  },
];

describe('strategic merge patch', () => {
  it.each(cases)('$rule', ({ type = 'Pod', object, patch, result }) => {
    expect(JSON.parse(JSON.stringify(applyStrategicPatch(type, deepFreeze(object), deepFreeze(patch))))).toEqual(result);
  });
});

describe('patches that cannot be applied', () => {
  const spec = (patch: Json): Json => ({ spec: patch });
  it.each<[string, Json, StrategicPatchError['type'], string]>([
    ['an element without its key', containersWith({ image: 'x' }), 'failed', 'map: map[image:x] does not contain declared merge key: name'],
    ['a deletion without its key', containersWith({ $patch: 'delete' }), 'failed', 'map: map[$patch:delete] does not contain declared merge key: name'],
    ['an unknown directive', containersWith({ name: 'a', $patch: 'nope' }), 'failed', 'unknown patch type: nope in map: map[$patch:nope name:a]'],
    ['a directive to merge', containersWith({ name: 'a', $patch: 'merge' }), 'failed', 'merging lists cannot yet be specified in the patch'],
    ['an unknown directive for an object', { $patch: 5 }, 'failed', 'unknown patch type: %!s(int64=5) in map: map[$patch:5]'],
    [
      'elements of several types',
      spec({ containers: [{ name: 'a' }, 'b'] }),
      'failed',
      'list element types are not identical: [[map[name:a]] [map[name:a] b]]',
    ],
    ['a list of lists', { metadata: { finalizers: [['a']] } }, 'unsupported', 'lists of lists are not supported'],
    ['retained keys that are no list', spec({ $retainKeys: 'x' }), 'malformed', 'invalid patch format of retainKeys'],
    ['a key that is set but not retained', spec({ $retainKeys: ['a'], nodeName: 'x' }), 'malformed', 'invalid patch format of retainKeys'],
    ['an order without a list', { metadata: { $setElementOrder: ['a'] } }, 'malformed', 'invalid patch format of setElementOrder list'],
    ['an order that is no list', spec({ '$setElementOrder/containers': 'a' }), 'failed', 'expected a []interface {}, but received a string'],
    ['deletions without a list', { metadata: { $deleteFromPrimitiveListX: ['a'] } }, 'malformed', 'invalid patch format of primitive list'],
    [
      'an order that the patch does not follow',
      spec({ containers: named('a', 'b'), '$setElementOrder/containers': named('b', 'a') }),
      'failed',
      "The order in patch list:\n[map[name:a] map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:b] map[name:a]]\n",
    ],
  ])('%s', (_, patch, type, message) => {
    const apply = (): unknown => applyStrategicPatch('Pod', { metadata: { finalizers: [] }, spec: { containers: [{ name: 'a' }] } }, patch);
    expect(apply).toThrow(StrategicPatchError);
    expect(apply).toThrow(expect.objectContaining({ type, message }) as Error);
  });

  function containersWith(item: Json): Json {
    return { spec: { containers: [item] } };
  }
});

describe('laws', () => {
  const kinds = ['Pod', 'StatefulSet', 'Service', 'Node', 'PersistentVolume'];

  it('an empty patch changes nothing', () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.nat(), (type, seed) => {
        const object = deepFreeze(randomObject(type, seededRandom(seed)));
        expect(applyStrategicPatch(type, object, {})).toEqual(object);
      }),
    );
  });

  it('any patch applies or is refused, and nothing that was given changes', () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.nat(), fc.nat(), (type, one, two) => {
        const object = deepFreeze(randomObject(type, seededRandom(one)));
        const patch = deepFreeze(randomObject(type, seededRandom(two)));
        try {
          applyStrategicPatch(type, object, patch);
        } catch (error) {
          expect(error).toBeInstanceOf(StrategicPatchError);
        }
      }),
    );
  });
});
