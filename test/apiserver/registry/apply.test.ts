import { describe, expect, test } from 'vitest';
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { resourceRequestInfo } from '../../../src/api/request-info.ts';
import { type ApiUnderTest, onApi } from '../api-under-test.ts';
import { allKinds } from '../../../src/api/kinds/index.ts';
import { ApiError } from '../../../src/api/status.ts';
import { simulate } from '../../../src/sim/world/world.ts';
import { openMemoryStore } from '../../../src/store/memory/memory-store.ts';
import { createApi } from '../../../src/apiserver/create-api.ts';

const type = 'application/apply-patch+yaml';
const maps = '/api/v1/namespaces/default/configmaps';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const map = (data: Record<string, string>, metadata = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...metadata }, data });
const deployment = (spec: object) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    ...spec,
  },
});

const applyOn = (api: ApiUnderTest, path: string, body: unknown, query = 'fieldManager=me') => api.send('PATCH', path, { contentType: type, query, body });

const ownersOf = (body: { metadata: { managedFields?: readonly object[] } }): unknown[] =>
  (body.metadata.managedFields ?? []).map((entry) => {
    const { manager, operation, subresource, fieldsV1 } = entry as Record<string, unknown>;
    return [manager, operation, ...(subresource === undefined ? [] : [subresource]), fieldsV1];
  });

describe('apply', () => {
  test(
    'creates what is not there, changes what is, and is nothing if it changes nothing',
    onApi(async (api) => {
      const created = await applyOn(api, `${maps}/a`, map({ a: '1' }));
      expect(created.code).toBe(201);
      expect(ownersOf(created.body)).toEqual([['me', 'Apply', { 'f:data': { 'f:a': {} } }]]);
      const again = await applyOn(api, `${maps}/a`, map({ a: '1' }));
      expect([again.code, again.body.metadata.resourceVersion]).toEqual([200, created.body.metadata.resourceVersion]);
      const changed = await applyOn(api, `${maps}/a`, map({ b: '2' }));
      expect(changed.body.data).toEqual({ b: '2' });
    }),
  );

  test(
    'reads YAML; what is given twice is warned of, or refused, and nonsense is told',
    onApi(async (api) => {
      const yaml = (text: string, query = '') => api.send('PATCH', `${maps}/a`, { bytes: { type, text }, query: `fieldManager=me&${query}` });
      expect((await yaml('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: "1"}\n')).body.data).toEqual({ x: '1' });
      const twice = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: "1"\n  x: "2"\n';
      expect((await yaml(twice)).warnings[0]).toContain('already set in map');
      expect((await yaml(twice, 'fieldValidation=Strict')).body).toMatchObject({ code: 400, message: expect.stringContaining('error strict decoding YAML: ') });
      expect((await yaml('{"a"')).body).toMatchObject({ code: 400, message: expect.stringContaining('error decoding YAML: ') });
      expect((await yaml('[1]')).body).toMatchObject({ code: 400, message: expect.stringContaining('cannot unmarshal array') });
      expect((await yaml('')).body).toMatchObject({ code: 400, message: 'invalid object type: /, Kind=' });
    }),
  );

  test(
    'needs a manager, and knows force',
    onApi(async (api) => {
      expect((await applyOn(api, `${maps}/a`, map({}), '')).body).toMatchObject({
        code: 422,
        message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      });
      expect((await applyOn(api, `${maps}/a`, map({}), `fieldManager=${'x'.repeat(129)}`)).code).toBe(422);
      await applyOn(api, `${maps}/a`, map({ a: '1' }));
      const other = (query: string) => applyOn(api, `${maps}/a`, map({ a: '2' }), `fieldManager=you&${query}`);
      expect((await other('')).body).toMatchObject({ code: 409, reason: 'Conflict', message: 'Apply failed with 1 conflict: conflict with "me": .data.a' });
      expect((await other('force=false')).code).toBe(409);
      expect(ownersOf((await other('force=true')).body)).toEqual([['you', 'Apply', { 'f:data': { 'f:a': {} } }]]);
    }),
  );

  test(
    'says nothing that is not so: another version, name, namespace or uid, or what does not fit',
    onApi(async (api) => {
      await applyOn(api, `${maps}/a`, map({ a: '1' }));
      expect((await applyOn(api, `${maps}/a`, map({ a: '2' }, { resourceVersion: '1' }))).body).toMatchObject({ code: 409, reason: 'Conflict' });
      expect((await applyOn(api, `${maps}/b`, map({}))).body).toMatchObject({
        code: 400,
        message: expect.stringContaining('does not match the name on the URL'),
      });
      expect((await applyOn(api, `${maps}/a`, map({}, { namespace: 'other' }))).code).toBe(400);
      expect((await applyOn(api, `${maps}/b`, map({}, { name: 'b', uid: 'u' }))).body).toMatchObject({
        code: 409,
        message: expect.stringContaining('uid mismatch'),
      });
      const bad = await applyOn(api, `${deployments}/web`, deployment({ replicas: 'two' }));
      expect(bad.body).toMatchObject({
        code: 500,
        message: 'failed to create typed patch object (/web; apps/v1, Kind=Deployment): .spec.replicas: expected numeric (int or float), got string',
      });
      expect((await applyOn(api, `${deployments}/web`, deployment({ replicas: -1 }))).code).toBe(422);
    }),
  );

  test(
    'a dry run stores nothing',
    onApi(async (api) => {
      const revision = api.store.revision();
      expect((await applyOn(api, `${maps}/a`, map({ a: '1' }), 'fieldManager=me&dryRun=All')).code).toBe(201);
      expect(api.store.revision()).toBe(revision);
    }),
  );

  test(
    'of the status owns only of the status, and creates nothing',
    onApi(async (api) => {
      expect((await applyOn(api, `${deployments}/web/status`, deployment({}))).code).toBe(404);
      await applyOn(api, `${deployments}/web`, { ...deployment({ replicas: 1 }), status: { replicas: 9 } });
      const { body } = await applyOn(api, `${deployments}/web/status`, { ...deployment({ replicas: 5 }), status: { replicas: 3 } });
      expect([body.spec.replicas, body.status.replicas]).toEqual([1, 3]);
      expect(ownersOf(body)[1]).toEqual(['me', 'Apply', 'status', { 'f:status': { 'f:replicas': {} } }]);
    }),
  );

  test(
    'of the scale takes the replicas from their owner, and only with force',
    onApi(async (api) => {
      await applyOn(api, `${deployments}/web`, deployment({ replicas: 1 }));
      const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'web' }, spec: { replicas: 4 } };
      expect((await applyOn(api, `${deployments}/web/scale`, scale, 'fieldManager=hpa')).body.message).toBe(
        'Apply failed with 1 conflict: conflict with "me": .spec.replicas',
      );
      const taken = await applyOn(api, `${deployments}/web/scale`, scale, 'fieldManager=hpa&force=true');
      expect([taken.code, taken.body.spec]).toEqual([200, { replicas: 4 }]);
      const { body } = await api.send('GET', `${deployments}/web`);
      expect(body.spec.replicas).toBe(4);
      expect(ownersOf(body)).toContainEqual(['hpa', 'Apply', 'scale', { 'f:spec': { 'f:replicas': {} } }]);
      expect(JSON.stringify(ownersOf(body)[1])).toMatch(/^\["me","Apply",(?!.*replicas)/);
      await api.send('PATCH', `${deployments}/web/scale`, {
        contentType: 'application/merge-patch+json',
        body: { spec: { replicas: 6 } },
        query: 'fieldManager=kubectl',
      });
      expect(ownersOf((await api.send('GET', `${deployments}/web`)).body)).toContainEqual(['kubectl', 'Update', 'scale', { 'f:spec': { 'f:replicas': {} } }]);
    }),
  );

  test(
    'works in each version of an object, and owners of both know each other',
    onApi(async (api) => {
      const event = (more: object) => ({ metadata: { name: 'e', namespace: 'default' }, ...more });
      const old = event({ apiVersion: 'v1', kind: 'Event', involvedObject: { namespace: 'default', name: 'x' }, reason: 'Old', type: 'Normal' });
      expect((await applyOn(api, '/api/v1/namespaces/default/events/e', old)).code).toBe(201);
      const entry = await api.send('GET', '/apis/events.k8s.io/v1/namespaces/default/events/e');
      expect(entry.body.metadata.managedFields?.[0]).toMatchObject({ apiVersion: 'v1', manager: 'me' });
      const labelled = event({ apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'e', namespace: 'default', labels: { a: 'b' } } });
      const both = await applyOn(api, '/apis/events.k8s.io/v1/namespaces/default/events/e', labelled, 'fieldManager=you');
      expect(both.body).toMatchObject({ metadata: { managedFields: [{ manager: 'me' }, { manager: 'you', apiVersion: 'events.k8s.io/v1' }] } });
    }),
  );

  test('that creates needs the right to create', async () => {
    await simulate(1, async (world) => {
      const store = openMemoryStore();
      const authorizer = { authorize: async (_: unknown, attributes: { verb?: string }) => ({ allowed: attributes.verb !== 'create', reason: 'no' }) };
      const api = createApi({ store, kinds: allKinds, world, access: { authorizer, rbac: authorizer } as never });
      const body = { type: 'object', contentType: type, object: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } } } as const;
      const request = {
        info: resourceRequestInfo('patch', nodeKind, { name: 'n' }),
        query: new URLSearchParams('fieldManager=me'),
        user: { name: 'u', groups: [] },
        userAgent: '',
        body,
      } as const;
      await expect(api.handle(request)).rejects.toMatchObject({ code: 403, message: expect.stringContaining('cannot create resource "nodes"') });
      await expect(api.handle(request)).rejects.toBeInstanceOf(ApiError);
      await api.stop();
    });
  });
});

describe('other writes', () => {
  test(
    'without a field manager, on untracked objects, are not tracked',
    onApi(async (api) => {
      await api.create(maps, map({ a: '1' }));
      const patched = await api.send('PATCH', `${maps}/a`, { contentType: 'application/merge-patch+json', body: { data: { b: '2' } } });
      expect(patched.body.metadata).not.toHaveProperty('managedFields');
    }),
  );

  test(
    'with a field manager are, and from then on all are, by user agent',
    onApi(async (api) => {
      const { body } = await api.create(maps, map({ a: '1' }), 'fieldManager=kubectl-create');
      expect(ownersOf(body)).toEqual([['kubectl-create', 'Update', { 'f:data': { '.': {}, 'f:a': {} } }]]);
      const patched = await api.send('PATCH', `${maps}/a`, { contentType: 'application/merge-patch+json', body: { data: { b: '2' } } });
      expect(ownersOf(patched.body)).toContainEqual(['test', 'Update', { 'f:data': { 'f:b': {} } }]);
      const put = await api.send('PUT', `${maps}/a`, { body: map({ b: '2' }) });
      expect(ownersOf(put.body)).toContainEqual(['test', 'Update', { 'f:data': { 'f:b': {} } }]);
      expect(put.body.data).toEqual({ b: '2' });
    }),
  );

  test(
    'on an untracked object find its fields owned by before-first-apply',
    onApi(async (api) => {
      await api.create(maps, map({ a: '1' }));
      const put = await api.send('PUT', `${maps}/a`, { body: map({ a: '1', b: '2' }), query: 'fieldManager=edit' });
      expect(ownersOf(put.body)).toEqual([
        ['before-first-apply', 'Update', { 'f:data': { '.': {}, 'f:a': {} } }],
        ['edit', 'Update', { 'f:data': { 'f:b': {} } }],
      ]);
    }),
  );

  test.each([
    ['one empty entry', [{}]],
    ['an empty list', []],
  ])('may wipe the slate: %s', (_, entries) =>
    onApi(async (api) => {
      await api.create(maps, map({ a: '1' }), 'fieldManager=x');
      const wiped = await api.send('PATCH', `${maps}/a`, { contentType: 'application/merge-patch+json', body: { metadata: { managedFields: entries } } });
      expect(wiped.body.metadata).not.toHaveProperty('managedFields');
    })(),
  );

  test(
    'may edit entries, but nonsense is not taken for them',
    onApi(async (api) => {
      const { body } = await api.create(maps, map({ a: '1' }), 'fieldManager=x');
      const [entry] = body.metadata.managedFields ?? [];
      const edit = (managedFields: unknown) =>
        api.send('PATCH', `${maps}/a`, { contentType: 'application/merge-patch+json', body: { metadata: { managedFields } } });
      expect((await edit([{ ...entry, manager: 'renamed' }])).body.metadata.managedFields).toMatchObject([{ manager: 'renamed' }]);
      expect((await edit([{ ...entry, fieldsV1: { nonsense: {} } }])).body.metadata.managedFields).toMatchObject([{ manager: 'renamed' }]);
    }),
  );

  test(
    'that change nothing write nothing, by any manager',
    onApi(async (api) => {
      const { body } = await api.create(maps, map({ a: '1' }), 'fieldManager=x');
      const put = await api.send('PUT', `${maps}/a`, { body: map({ a: '1' }), query: 'fieldManager=y' });
      expect(put.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
    }),
  );
});
