/** The rules are those of Kubernetes 1.36 (apimachinery/pkg/util/managedfields) and of structured-merge-diff v6. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ManagedFieldsEntry } from '../generated/types.ts';
import { ApiError } from '../status.ts';
import type { JsonSchema } from '../json-schema.ts';
import { apply, type ApplyContext } from './apply.ts';
import { shapeOfCustomResource } from './structural-shape.ts';
import { emptySet } from './field-set.ts';
import type { JsonMap, Shape } from './shape.ts';
import { trackWrite } from './track-write.ts';
import { shapeOfType } from './type-shape.ts';

function sceneOf(shape: Shape, kind: { group: string; version: string; kind: string }, blank: JsonMap = { metadata: {} }): ApplyContext {
  const version = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  return {
    kind,
    version,
    subresource: '',
    now: '2026-01-01T00:00:00Z',
    blank: () => blank,
    typing: { shape: (asked) => (asked === version ? shape : undefined), convert: (object) => object, ignored: emptySet },
  };
}

const pods = sceneOf(shapeOfType('Pod'), { group: '', version: 'v1', kind: 'Pod' }, { metadata: {}, spec: { containers: null }, status: {} });
const maps = sceneOf(shapeOfType('ConfigMap'), { group: '', version: 'v1', kind: 'ConfigMap' });

const pod = (spec: JsonMap, metadata: JsonMap = {}): JsonMap => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...metadata }, spec });
const map = (data: JsonMap | undefined, metadata: JsonMap = {}): JsonMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'm', ...metadata },
  ...(data === undefined ? {} : { data }),
});

/** An object and a sequence of applies to it. */
class Applied {
  readonly #scene: ApplyContext;
  live: JsonMap | undefined;
  constructor(scene: ApplyContext, live?: JsonMap) {
    this.#scene = scene;
    this.live = live;
  }
  by(manager: string, applied: JsonMap, force = false): this {
    const { object, managedFields } = apply(this.#scene, { live: this.live, applied, manager, force });
    this.live = stored(object, managedFields);
    return this;
  }
  updatedBy(manager: string, next: JsonMap): this {
    const { managedFields: liveEntries, ...metadata } = (this.live?.['metadata'] ?? {}) as JsonMap & { managedFields?: ManagedFieldsEntry[] };
    const live = { ...this.live, metadata };
    const entries = trackWrite(this.#scene, { live, next, manager, liveEntries, givenEntries: undefined, exists: this.live !== undefined, explicit: true });
    this.live = stored(next, entries);
    return this;
  }
  get entries(): ManagedFieldsEntry[] {
    return ((this.live?.['metadata'] as JsonMap | undefined)?.['managedFields'] ?? []) as ManagedFieldsEntry[];
  }
  owner(manager: string): unknown {
    return this.entries.find((entry) => entry.manager === manager)?.fieldsV1;
  }
  at(...path: string[]): unknown {
    return path.reduce<unknown>((value, key) => (value as JsonMap | undefined)?.[key], this.live);
  }
}

function stored(object: JsonMap, managedFields: ManagedFieldsEntry[] | undefined): JsonMap {
  const plain = withoutNulls(object) as JsonMap;
  return { ...plain, metadata: { ...(plain['metadata'] as JsonMap), ...(managedFields === undefined ? {} : { managedFields }) } };
}

/** As decoding would leave it. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null && !(Array.isArray(member) && member.length === 0))
      .map(([key, member]) => [key, withoutNulls(member)]),
  );
}

function refusal(step: () => unknown): ApiError {
  try {
    step();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('an apply', () => {
  test('owns its fields, but not those that identify the object', () => {
    const on = new Applied(maps).by('me', map({ a: '1' }, { namespace: 'x', labels: { app: 'web' } }));
    expect(on.entries).toEqual([
      {
        manager: 'me',
        operation: 'Apply',
        apiVersion: 'v1',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:a': {} }, 'f:metadata': { 'f:labels': { 'f:app': {} } } },
      },
    ]);
  });

  test('changes its fields, keeps those of others, and removes the ones it no longer has', () => {
    const on = new Applied(maps).by('me', map({ a: '1', b: '2' })).by('you', map({ c: '3' }));
    on.by('me', map({ a: '9' }));
    expect(on.at('data')).toEqual({ a: '9', c: '3' });
    on.by('me', map(undefined));
    expect(on.at('data')).toEqual({ c: '3' });
    expect(on.owner('me')).toBeUndefined();
    on.by('you', map(undefined));
    expect(on.at('data')).toBeUndefined();
  });

  test('a field with the same value in two applies has two owners, and stays until the last gives it up', () => {
    const on = new Applied(maps).by('me', map({ a: '1' })).by('you', map({ a: '1' }));
    on.by('me', map({}));
    expect(on.at('data')).toEqual({ a: '1' });
    on.by('you', map({}));
    expect(on.at('data', 'a')).toBeUndefined();
  });

  test.each([
    ['one', { a: '2' }, 'Apply failed with 1 conflict: conflict with "me": .data.a'],
    ['several', { a: '2', b: '3' }, 'Apply failed with 2 conflicts: conflicts with "me":\n- .data.a\n- .data.b'],
  ])('with another value than the owner is in conflict: %s', (_, data, message) => {
    const on = new Applied(maps).by('me', map({ a: '1', b: '1' }));
    const { code, reason, message: text, details } = refusal(() => on.by('you', map(data)));
    expect([code, reason, text]).toEqual([409, 'Conflict', message]);
    expect(details?.causes?.[0]).toEqual({ reason: 'FieldManagerConflict', message: 'conflict with "me"', field: '.data.a' });
  });

  test('conflicts with updaters name their version, by owner', () => {
    const on = new Applied(maps).by('zed', map({ b: '1' })).updatedBy('kubectl-edit', map({ a: '1', b: '1' }));
    expect(refusal(() => on.by('you', map({ a: '2', b: '2' }))).message).toBe(
      'Apply failed with 2 conflicts: conflicts with "kubectl-edit" using v1:\n- .data.a\nconflicts with "zed":\n- .data.b',
    );
  });

  test('by force takes the field away', () => {
    const on = new Applied(maps).by('me', map({ a: '1', b: '1' })).by('you', map({ a: '2' }), true);
    expect(on.at('data')).toEqual({ a: '2', b: '1' });
    expect(on.owner('me')).toEqual({ 'f:data': { 'f:b': {} } });
    expect(on.owner('you')).toEqual({ 'f:data': { 'f:a': {} } });
  });

  test('of an untracked object meets the owner before-first-apply', () => {
    const on = new Applied(maps, map({ a: '1', b: '1' }, { uid: 'u' })).by('me', map({ a: '1' }));
    expect(on.owner('before-first-apply')).toEqual({ 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} } });
    expect(refusal(() => on.by('me', map({ a: '2' }))).message).toBe('Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a');
  });

  test('that changes nothing keeps its time, and a new owner of unchanged fields has none', () => {
    const on = new Applied(maps).by('me', map({ a: '1' }));
    const [before] = on.entries;
    const later = { ...maps, now: '2026-02-02T00:00:00Z' };
    const again = new Applied(later, on.live).by('me', map({ a: '1' }));
    expect(again.entries).toEqual([before]);
    expect(again.by('you', map({ a: '1' })).entries.map(({ manager, time }) => [manager, time])).toEqual([
      ['you', undefined],
      ['me', before?.time],
    ]);
  });

  test('items of lists are merged by their keys, in the order in which they are applied', () => {
    const containers = (...names: string[]) => ({ containers: names.map((name) => ({ name, image: `${name}:1` })) });
    const on = new Applied(pods).by('me', pod(containers('a', 'b'))).by('you', pod(containers('x', 'y')));
    const names = (): unknown => (on.at('spec', 'containers') as { name: string }[]).map(({ name }) => name);
    expect(names()).toEqual(['a', 'b', 'x', 'y']);
    on.by('me', pod(containers('b', 'c', 'a')));
    // Items that were not moved keep their place as far as possible.
    expect(names()).toEqual(['b', 'x', 'y', 'c', 'a']);
    on.by('me', pod(containers('c')));
    expect(names()).toEqual(['x', 'y', 'c']);
    expect(on.owner('me')).toEqual({ 'f:spec': { 'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:image': {}, 'f:name': {} } } } });
  });

  test('a key that is left out is its default', () => {
    const ports = (...list: JsonMap[]) => pod({ containers: [{ name: 'a', ports: list }] });
    const on = new Applied(pods).by('me', ports({ containerPort: 80, name: 'web' }));
    on.by('you', ports({ containerPort: 80, protocol: 'TCP', hostPort: 8080 }, { containerPort: 80, protocol: 'UDP' }));
    expect(on.at('spec', 'containers')).toEqual([
      {
        name: 'a',
        ports: [
          { containerPort: 80, name: 'web', protocol: 'TCP', hostPort: 8080 },
          { containerPort: 80, protocol: 'UDP' },
        ],
      },
    ]);
  });

  test('sets keep the items of others; atomic lists, maps and structs are replaced as a whole', () => {
    const on = new Applied(pods).by('me', pod({ nodeSelector: { a: '1' } }, { finalizers: ['x/a'] })).by('you', pod({}, { finalizers: ['x/b'] }));
    expect(on.at('metadata', 'finalizers')).toEqual(['x/a', 'x/b']);
    expect(refusal(() => on.by('you', pod({ nodeSelector: { b: '2' } }))).message).toBe('Apply failed with 1 conflict: conflict with "me": .spec.nodeSelector');
    expect(on.by('me', pod({ nodeSelector: { b: '2' } })).at('spec', 'nodeSelector')).toEqual({ b: '2' });
    expect(on.owner('me')).toEqual({ 'f:spec': { 'f:nodeSelector': {} } });
  });

  test.each([
    ['an unknown field', pod({ nope: 1 }), '.spec.nope: field not declared in schema'],
    ['a wrong type', pod({ hostNetwork: 'yes' }), '.spec.hostNetwork: expected boolean, got &{yes}'],
    ['a list for a struct', pod({ securityContext: [1] }), '.spec.securityContext: expected map, got &{[1]}'],
    ['the same item twice', pod({ containers: [{ name: 'a' }, { name: 'a' }] }), '.spec.containers: duplicate entries for key [name="a"]'],
    ['a number for a text', pod({ nodeName: 7 }), '.spec.nodeName: expected string, got &value.valueUnstructured{Value:7}'],
  ])('that does not fit is refused: %s', (_, applied, why) => {
    const { code, reason, message } = refusal(() => new Applied(pods).by('me', applied));
    expect([code, reason, message]).toEqual([500, '', `failed to create typed patch object (/p; /v1, Kind=Pod): ${why}`]);
  });

  test('must have kind and apiVersion, and no managedFields', () => {
    expect(refusal(() => new Applied(maps).by('me', { ...map({}), kind: 'Pod' }))).toMatchObject({ code: 400, message: 'invalid object type: /v1, Kind=Pod' });
    expect(refusal(() => new Applied(maps).by('me', map({}, { managedFields: [] }))).message).toBe('metadata.managedFields must be nil');
  });
});

describe('other writes', () => {
  test('own the fields that they change, and the last owner loses them', () => {
    const on = new Applied(maps).by('me', map({ a: '1', b: '1' })).updatedBy('edit', map({ a: '2', b: '1', c: '3' }));
    expect(on.owner('me')).toEqual({ 'f:data': { 'f:b': {} } });
    expect(on.owner('edit')).toEqual({ 'f:data': { 'f:a': {}, 'f:c': {} } });
    on.updatedBy('edit', map({ b: '1' }));
    expect(on.owner('edit')).toBeUndefined();
  });

  test('at most ten updaters are kept; the oldest are merged', () => {
    const on = new Applied(maps);
    const data: Record<string, string> = {};
    for (let i = 0; i < 13; i++) {
      data[`k${i}`] = 'x';
      on.updatedBy(`m${String(i).padStart(2, '0')}`, map({ ...data }));
    }
    expect(on.entries.map(({ manager = '' }) => manager).sort((a, b) => a.localeCompare(b))).toEqual([
      'ancient-changes',
      ...Array.from({ length: 9 }, (_, i) => `m${String(i + 4).padStart(2, '0')}`),
    ]);
    expect(on.owner('ancient-changes')).toEqual({ 'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {}, 'f:k3': {} } });
  });
});

describe('from client-side apply', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
  const last = (data: JsonMap): string => JSON.stringify(map(data));

  test('kubectl takes over unchanged fields of its client-side apply without a conflict', () => {
    const live = map({ a: '1' }, { uid: 'u', annotations: { [annotation]: last({ a: '1' }) } });
    const outcome = apply(maps, { live, applied: map({ a: '2' }), manager: 'kubectl', force: false });
    expect(outcome.object['data']).toEqual({ a: '2' });
    expect(outcome.lastApplied).toBe('{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"m"}}\n');
    expect(refusal(() => apply(maps, { live, applied: map({ a: '2' }), manager: 'other', force: false })).code).toBe(409);
  });

  test('a field that changed since is a conflict for kubectl too', () => {
    const live = map({ a: 'theirs', b: '1' }, { uid: 'u', annotations: { [annotation]: last({ a: '1', b: '1' }) } });
    expect(refusal(() => apply(maps, { live, applied: map({ a: '2', b: '2' }), manager: 'kubectl', force: false })).message).toBe(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a',
    );
  });
});

describe('custom resources', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer' },
          tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
          plain: { type: 'array', items: { type: 'string' } },
          ports: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['port', 'protocol'],
            items: { type: 'object', properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' }, name: { type: 'string' } } },
          },
          whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          amount: { 'x-kubernetes-int-or-string': true },
        },
      },
    },
  };
  const things = sceneOf(shapeOfCustomResource(schema), { group: 'x.dev', version: 'v1', kind: 'Thing' });
  const thing = (spec: JsonMap): JsonMap => ({ apiVersion: 'x.dev/v1', kind: 'Thing', metadata: { name: 't' }, spec });

  test('are merged by their list and map types', () => {
    const on = new Applied(things)
      .by('me', thing({ size: 1, tags: ['a'], ports: [{ port: 1 }], free: { a: { b: 1 } }, amount: '5%' }))
      .by('you', thing({ tags: ['b'], ports: [{ port: 1, protocol: 'TCP', name: 'x' }, { port: 2 }], free: { a: { c: [1] } } }));
    expect(on.at('spec')).toEqual({
      size: 1,
      tags: ['a', 'b'],
      ports: [{ port: 1, protocol: 'TCP', name: 'x' }, { port: 2 }],
      free: { a: { b: 1, c: [1] } },
      amount: '5%',
    });
    for (const spec of [{ plain: ['x'] }, { whole: { a: '1' } }]) {
      const one = new Applied(things).by('me', thing(spec));
      expect(refusal(() => one.by('you', thing(Object.fromEntries(Object.keys(spec).map((key) => [key, key === 'plain' ? ['y'] : { b: '2' }]))))).code).toBe(
        409,
      );
    }
    expect(refusal(() => on.by('me', thing({ nope: 1 }))).message).toContain('.spec.nope: field not declared in schema');
  });

  test('without a schema everything is deduced', () => {
    const free = sceneOf(shapeOfCustomResource(undefined), { group: 'x.dev', version: 'v1', kind: 'Thing' });
    const on = new Applied(free)
      .by('me', thing({ a: { b: [1] } }))
      .by('you', thing({ a: { c: 1 } }))
      .by('me', thing({}));
    expect(on.at('spec')).toEqual({ a: { c: 1 } });
  });
});

describe('properties', () => {
  const data = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom('1', '2', '3'));
  const spec = fc.record(
    {
      containers: fc.uniqueArray(fc.record({ name: fc.constantFrom('a', 'b', 'c'), image: fc.constantFrom('i', 'j') }, { requiredKeys: ['name'] }), {
        selector: ({ name }) => name,
      }),
      nodeSelector: fc.dictionary(fc.constantFrom('x', 'y'), fc.constantFrom('1', '2')),
      hostNetwork: fc.boolean(),
    },
    { requiredKeys: [] },
  );

  test('whatever is applied is applied or refused', () => {
    const names = fc.constantFrom('spec', 'metadata', 'containers', 'name', 'ports', 'labels', '__proto__', 'finalizers', 'x', 'status', 'apiVersion');
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 5 }, fc.constantFrom(null, '', 'a', 1, true), fc.array(tie('tree'), { maxLength: 3 }), fc.dictionary(names, tie('tree'))),
    }));
    fc.assert(
      fc.property(fc.dictionary(names, tree), fc.dictionary(names, tree), (one, two) => {
        const on = new Applied(pods);
        for (const given of [one, two]) {
          try {
            on.by('me', { ...given, apiVersion: 'v1', kind: 'Pod' });
          } catch (error) {
            expect(error).toBeInstanceOf(ApiError);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test('to apply the same twice changes nothing', () => {
    fc.assert(
      fc.property(spec, spec, (mine, theirs) => {
        const on = new Applied(pods).by('you', pod(theirs), true).by('me', pod(mine), true);
        const once = on.live;
        expect(on.by('me', pod(mine)).live).toEqual(once);
      }),
    );
  });

  test('a field that is left out is removed, if it has no other owner', () => {
    fc.assert(
      fc.property(spec, (mine) => {
        const on = new Applied(pods).by('me', pod(mine)).by('me', pod({}));
        expect(on.at('spec') ?? {}).toEqual({});
      }),
    );
  });

  test('two managers of different fields never conflict, and each keeps its own', () => {
    fc.assert(
      fc.property(data, data, (mine, theirs) => {
        const rename = (given: JsonMap, prefix: string) => Object.fromEntries(Object.entries(given).map(([key, value]) => [prefix + key, value]));
        const on = new Applied(maps).by('me', map(rename(mine, 'm-'))).by('you', map(rename(theirs, 'y-')));
        expect(on.at('data') ?? {}).toEqual({ ...rename(mine, 'm-'), ...rename(theirs, 'y-') });
        expect(on.by('me', map({})).at('data') ?? {}).toEqual(rename(theirs, 'y-'));
      }),
    );
  });

  test('by force, everything is as it was applied', () => {
    fc.assert(
      fc.property(data, data, (mine, theirs) => {
        const on = new Applied(maps).by('you', map(theirs)).by('me', map(mine), true);
        expect(on.at('data') ?? {}).toEqual({ ...theirs, ...mine });
      }),
    );
  });
});
