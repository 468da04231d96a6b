/**
 * Small cases of server-side apply, each a sequence of requests. What is expected was read in structured-merge-diff v6.3.3 (which v1.36.4 uses)
 * and in v1.36.4's apimachinery/pkg/util/managedfields.
 */
import { describe, expect, test } from 'vitest';
import { type ApiUnderTest, onApi, type Sent } from '../api-under-test.ts';

const maps = '/api/v1/namespaces/default/configmaps/a';
const services = '/api/v1/namespaces/default/services/s';
const deployments = '/apis/apps/v1/namespaces/default/deployments/d';

interface Step {
  readonly as?: string;
  readonly body: object;
  /** Behind a '/': the subresource. */
  readonly query?: string;
  /** Instead of an apply. */
  readonly merge?: true;
  /** The message with which it is refused. */
  readonly says?: string;
}

interface Case {
  readonly name: string;
  readonly path: string;
  readonly steps: readonly Step[];
  readonly ends?: object;
  /** By manager; '+': an applier. */
  readonly owners?: Readonly<Record<string, object>>;
}

const map = (rest: object = {}, metadata: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...metadata }, ...rest });
const data = (values: object | null) => map({ data: values });
const ports = (...list: unknown[]) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: list } });
const finalizers = (...names: string[]) => map({}, { finalizers: names.map((name) => `example.com/${name}`) });
const finalizer = (name: string) => `v:"example.com/${name}"`;
const one = 'k:{"port":80,"protocol":"TCP"}';

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const deployment = (spec: object) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: { selector: { matchLabels: { a: 'b' } }, template, ...spec },
});

const cases: readonly Case[] = [
  {
    name: 'an owned empty map is not stored: the first key adds it',
    path: maps,
    steps: [
      { body: data(null) },
      { as: 'other', body: data({ x: '1' }), says: 'Apply failed with 1 conflict: conflict with "me": .data' },
      { as: 'other', body: data({ x: '1' }), query: 'force=true' },
    ],
    ends: { data: { x: '1' } },
    owners: { '+other': { 'f:data': { 'f:x': {} } } },
  },
  {
    name: 'a field stays while one manager owns it, and goes with the last',
    path: maps,
    steps: [{ body: data({ x: '1', y: '1' }) }, { as: 'other', body: data({ x: '1' }) }, { body: data({ y: '1' }) }, { as: 'other', body: data({}) }],
    ends: { data: { y: '1' } },
    owners: { '+me': { 'f:data': { 'f:y': {} } }, '+other': { 'f:data': {} } },
  },
  {
    name: 'conflicts are listed by manager in alphabetical order, and nothing changes',
    path: maps,
    steps: [
      { as: 'me', body: data({ x: '1', y: '1' }) },
      { as: 'also', body: data({ x: '1' }) },
      {
        as: 'third',
        body: data({ x: '2', y: '2' }),
        says: 'Apply failed with 3 conflicts: conflicts with "also":\n- .data.x\nconflicts with "me":\n- .data.x\n- .data.y',
      },
    ],
    ends: { data: { x: '1', y: '1' } },
  },
  {
    name: 'force takes the field from all managers; a manager without fields is dropped',
    path: maps,
    steps: [{ body: data({ x: '1' }) }, { as: 'other', query: 'force=true', body: data({ x: '2' }) }],
    ends: { data: { x: '2' } },
    owners: { '+other': { 'f:data': { 'f:x': {} } } },
  },
  {
    name: 'an update by the same name is another owner: what it took, the apply has to take back',
    path: maps,
    steps: [
      { body: data({ x: '1', y: '1' }) },
      { merge: true, body: { data: { x: '2' } } },
      { body: data({ x: '1', y: '1' }), says: 'Apply failed with 1 conflict: conflict with "me" using v1: .data.x' },
    ],
    owners: { '+me': { 'f:data': { 'f:y': {} } }, me: { 'f:data': { 'f:x': {} } } },
  },
  {
    name: 'what an update took is not removed by the apply that no longer mentions it',
    path: maps,
    steps: [{ body: data({ x: '1', y: '1' }) }, { as: 'editor', merge: true, body: { data: { x: '2' } } }, { body: data({ y: '1' }) }],
    ends: { data: { x: '2', y: '1' } },
  },
  {
    name: 'one empty entry clears the owners; the next apply meets all that was there',
    path: maps,
    steps: [{ body: data({ x: '1', y: '1' }) }, { merge: true, body: { metadata: { managedFields: [{}] } } }, { body: data({ x: '1' }) }],
    ends: { data: { x: '1', y: '1' } },
    owners: { '+me': { 'f:data': { 'f:x': {} } }, 'before-first-apply': { 'f:data': { '.': {}, 'f:x': {}, 'f:y': {} } } },
  },
  {
    name: 'a set: each manager owns its items, and removes only items without another owner',
    path: maps,
    steps: [{ body: finalizers('x', 'y') }, { as: 'other', body: finalizers('y', 'z') }, { body: finalizers('x') }, { as: 'other', body: finalizers('z') }],
    ends: { metadata: { finalizers: ['example.com/x', 'example.com/z'] } },
    owners: { '+me': { 'f:metadata': { 'f:finalizers': { [finalizer('x')]: {} } } }, '+other': { 'f:metadata': { 'f:finalizers': { [finalizer('z')]: {} } } } },
  },
  {
    name: 'a key that is left out is its default, and written out it is the same item',
    path: services,
    steps: [{ body: ports({ port: 80, name: 'x' }, { port: 80, protocol: 'UDP', name: 'y' }) }, { body: ports({ port: 80, protocol: 'TCP', name: 'x' }) }],
    ends: { spec: { ports: [{ name: 'x', port: 80, protocol: 'TCP', targetPort: 80 }] } },
    owners: { '+me': { 'f:spec': { 'f:ports': { [one]: { '.': {}, 'f:name': {}, 'f:port': {}, 'f:protocol': {} } } } } },
  },
  {
    name: 'an item is known by all of its keys in a conflict',
    path: services,
    steps: [
      { body: ports({ port: 80, name: 'x' }) },
      { as: 'other', body: ports({ port: 80, name: 'z' }), says: 'Apply failed with 1 conflict: conflict with "me": .spec.ports[port=80,protocol="TCP"].name' },
    ],
  },
  {
    name: 'replicas that the scale took stay, also when the applier lets go of them',
    path: deployments,
    steps: [
      { body: deployment({ replicas: 2 }) },
      { as: 'hpa', merge: true, query: '/scale', body: { spec: { replicas: 5 } } },
      { body: deployment({ replicas: 2 }), says: 'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using apps/v1: .spec.replicas' },
      { body: deployment({}) },
    ],
    ends: { spec: { replicas: 5 } },
  },
];

const messages: readonly (readonly [name: string, path: string, body: object, query: string, says: string])[] = [
  ['without a manager', maps, map(), '', 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'],
  ['with owners', maps, map({}, { managedFields: [] }), 'fieldManager=me', 'metadata.managedFields must be nil'],
  [
    'with a name to be generated',
    maps,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'a' } },
    'fieldManager=me',
    'the name of the object (a based on URL) was undeterminable: name must be provided',
  ],
  [
    'with the uid of another object',
    maps,
    map({}, { uid: 'u' }),
    'fieldManager=me',
    'Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object specified uid u, and no existing object was found',
  ],
  ['of another kind', maps, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }, 'fieldManager=me', 'invalid object type: /v1, Kind=Secret'],
  [
    'of fields that do not exist',
    maps,
    map({ data: { a: 1 }, nonsense: 1 }),
    'fieldManager=me',
    'failed to create typed patch object (/a; /v1, Kind=ConfigMap): errors:\n  .data.a: expected string, got &value.valueUnstructured{Value:1}\n  .nonsense: field not declared in schema',
  ],
  [
    'of one item twice',
    services,
    ports({ port: 80 }, { port: 80, protocol: 'TCP' }),
    'fieldManager=me',
    'failed to create typed patch object (/s; /v1, Kind=Service): .spec.ports: duplicate entries for key [port=80,protocol="TCP"]',
  ],
  [
    'of an item that is none',
    services,
    ports(null),
    'fieldManager=me',
    'failed to create typed patch object (/s; /v1, Kind=Service): .spec.ports: element 0: associative list with keys may not have a null element',
  ],
];

function send(api: ApiUnderTest, path: string, { as = 'me', body, query = '', merge }: Step): Promise<Sent> {
  const [at, more] = query.startsWith('/') ? [`${path}${query}`, ''] : [path, query];
  const contentType = merge === true ? 'application/merge-patch+json' : 'application/apply-patch+yaml';
  return api.send('PATCH', at, { contentType, query: `fieldManager=${as}&${more}`, body });
}

function ownersOf({ body }: Sent): Record<string, unknown> {
  const entries = (body.metadata.managedFields ?? []) as { manager: string; operation: string; fieldsV1: object }[];
  return Object.fromEntries(entries.map(({ manager, operation, fieldsV1 }) => [operation === 'Apply' ? `+${manager}` : manager, fieldsV1]));
}

describe('server-side apply, case by case', () => {
  test.each(cases)('$name', ({ path, steps, ends, owners }) =>
    onApi(async (api) => {
      for (const step of steps) {
        const { code, body } = await send(api, path, step);
        if (step.says === undefined) expect([200, 201], body.message).toContain(code);
        else expect(body.message).toBe(step.says);
      }
      const end = await api.send('GET', path);
      if (ends !== undefined) expect(end.body).toMatchObject(ends);
      if (owners !== undefined) expect(ownersOf(end)).toEqual(owners);
    })(),
  );

  test.each(messages)('an apply %s is refused', (_, path, body, query, says) =>
    onApi(async (api) => {
      const refused = await api.send('PATCH', path, { contentType: 'application/apply-patch+yaml', query, body });
      expect(refused.body.message).toBe(says);
      expect((await api.send('GET', path)).code).toBe(404);
    })(),
  );
});
