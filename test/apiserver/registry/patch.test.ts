import { describe, expect, test } from 'vitest';
import { type ApiUnderTest, onApi } from '../api-under-test.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const types = { json: 'application/json-patch+json', merge: 'application/merge-patch+json', strategic: 'application/strategic-merge-patch+json' } as const;
const patch = (api: ApiUnderTest, type: keyof typeof types, body: unknown, query = '') =>
  api.send('PATCH', `${maps}/a`, { body, contentType: types[type], query });
const onMap = (body: (api: ApiUnderTest) => Promise<void>) =>
  onApi(async (api) => {
    await api.create(maps, { metadata: { name: 'a', labels: { l: '1' }, finalizers: ['example.com/x'] }, data: { a: '1', b: '2' } });
    await body(api);
  });

describe('patches', () => {
  test(
    'of all three types change their fields and leave the others',
    onMap(async (api) => {
      expect((await patch(api, 'merge', { data: { a: null, c: '3' } })).body.data).toEqual({ b: '2', c: '3' });
      expect((await patch(api, 'json', [{ op: 'replace', path: '/data/b', value: '4' }])).body.data).toEqual({ b: '4', c: '3' });
      const merged = (await patch(api, 'strategic', { metadata: { labels: { m: '2' }, finalizers: ['example.com/y'] } })).body.metadata;
      expect(merged.labels).toEqual({ l: '1', m: '2' });
      expect(merged.finalizers.sort()).toEqual(['example.com/x', 'example.com/y']);
    }),
  );

  test(
    'a patch that changes nothing writes nothing',
    onMap(async (api) => {
      const before = api.store.revision();
      for (const type of ['merge', 'strategic'] as const) expect((await patch(api, type, { data: { a: '1' } })).code).toBe(200);
      expect(api.store.revision()).toBe(before);
    }),
  );

  test(
    'patches that race all take effect; one that names an old version does not',
    onMap(async (api) => {
      const { resourceVersion } = (await api.send('GET', `${maps}/a`)).body.metadata;
      const outcomes = await Promise.all(Array.from({ length: 30 }, (_, i) => patch(api, 'merge', { data: { [`k${i}`]: 'x' } })));
      expect(outcomes.every(({ code }) => code === 200)).toBe(true);
      expect(Object.keys((await api.send('GET', `${maps}/a`)).body.data)).toHaveLength(32);
      expect((await patch(api, 'merge', { metadata: { resourceVersion }, data: { late: 'x' } })).body).toMatchObject({ code: 409, reason: 'Conflict' });
    }),
  );

  test(
    'a patch that deletes and one that races it',
    onMap(async (api) => {
      const [deleted, patched] = await Promise.all([api.send('DELETE', `${maps}/a`), patch(api, 'merge', { metadata: { finalizers: null } })]);
      expect([deleted.code, patched.code]).toEqual([200, 200]);
      expect((await api.send('GET', `${maps}/a`)).code).toBe(404);
    }),
  );

  test.each([
    ['json', [{ op: 'test', path: '/data/a', value: 'no' }], 422, 'the server rejected our request due to an error in our request'],
    ['json', { a: 1 }, 400, 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    ['merge', [1], 400, 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['merge', { metadata: { name: 'b' } }, 400, 'the name of the object (b) does not match the name on the URL (a)'],
    ['merge', { metadata: { name: null } }, 400, 'the name of the object (a based on URL) was undeterminable: name must be provided'],
    ['merge', { metadata: { namespace: 'b' } }, 400, 'the namespace of the provided object does not match the namespace sent on the request'],
    ['strategic', { metadata: { finalizers: [{ $patch: 'delete' }] } }, undefined, ''],
  ] as const)('%s patch %j', (type, body, code, message) =>
    onMap(async (api) => {
      const refused = await patch(api, type, body);
      if (code === undefined) expect(refused.code).toBeGreaterThanOrEqual(400);
      else expect(refused.body).toMatchObject({ code, message });
    })(),
  );

  test(
    'what only the server sets is refused or ignored, as in Kubernetes',
    onMap(async (api) => {
      const { metadata } = (await api.send('GET', `${maps}/a`)).body;
      const cause = { reason: 'FieldValueInvalid', field: 'metadata.uid', message: 'Invalid value: "other": field is immutable' };
      // Reported by the generic validation and by the kind's own (v1.36.4: rest.BeforeUpdate).
      expect((await patch(api, 'merge', { metadata: { uid: 'other' } })).body).toMatchObject({ code: 422, details: { causes: [cause, cause] } });
      const ignored = await patch(api, 'merge', { metadata: { creationTimestamp: '1999-01-01T00:00:00Z', generation: 7, deletionTimestamp: null } });
      expect(ignored.body.metadata).toEqual(metadata);
    }),
  );

  test(
    'invalid metadata is refused also where the kind does not validate it (v1.36.4: PersistentVolume, StatefulSet, PodDisruptionBudget)',
    onApi(async (api) => {
      const volumes = '/api/v1/persistentvolumes';
      const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/x' } };
      await api.create(volumes, { metadata: { name: 'vol' }, spec });
      const refusal = async (metadata: object) => {
        const { body } = await api.send('PATCH', `${volumes}/vol`, { body: { metadata }, contentType: types.merge });
        return [body.code, ...(body.details?.causes ?? []).map(({ field }: { field: string }) => field)];
      };
      expect(await refusal({ uid: 'other' })).toEqual([422, 'metadata.uid']);
      expect(await refusal({ deletionTimestamp: '2026-01-01T00:00:00Z' })).toEqual([422, 'metadata.deletionTimestamp']);
      expect(await refusal({ deletionGracePeriodSeconds: 5 })).toEqual([422, 'metadata.deletionGracePeriodSeconds']);
      expect(await refusal({ labels: { 'a b': 'c' } })).toEqual([422, ...Array.from({ length: 4 }, () => 'metadata.labels')]);
      const budget = { metadata: { name: 'b', labels: { 'a b': 'c' } }, spec: { selector: {} } };
      const made = await api.send('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', { body: budget });
      expect(made.body).toMatchObject({ code: 422, details: { causes: [{ field: 'metadata.labels' }] } });
    }),
  );

  test(
    'unknown fields, wrong types and other kinds are reported in the words of patches',
    onMap(async (api) => {
      expect((await patch(api, 'merge', { datta: {} })).warnings).toEqual(['unknown field "datta"']);
      expect((await patch(api, 'merge', { datta: {} }, 'fieldValidation=Strict')).body).toMatchObject({
        code: 422,
        reason: 'Invalid',
        message: expect.stringMatching(/^ "" is invalid: patch: Invalid value: "\{.*\}": strict decoding error: unknown field "datta"$/),
        details: { causes: [{ field: 'patch' }] },
      });
      expect((await patch(api, 'strategic', { data: 'x' })).body).toMatchObject({
        code: 422,
        message: expect.stringContaining('patch: Invalid value: "map[data:x]":'),
      });
      expect((await patch(api, 'merge', { kind: 'Secret' })).code).toBe(422);
      expect((await patch(api, 'merge', {}, 'force=true')).body).toMatchObject({ code: 422, details: { kind: 'PatchOptions' } });
      expect((await api.send('PATCH', `${maps}/a`, { bytes: { type: types.merge, text: '{"a"' } })).body).toMatchObject({ code: 400, reason: 'BadRequest' });
      expect((await api.send('PATCH', `${maps}/a`, { bytes: { type: 'application/odd-patch+yaml', text: 'a: b' } })).body).toMatchObject({
        code: 415,
        reason: 'UnsupportedMediaType',
      });
      expect((await api.send('PATCH', `${maps}/nope`, { body: {}, contentType: types.merge })).code).toBe(404);
    }),
  );

  test(
    'a patch cannot write to a prototype',
    onMap(async (api) => {
      await api.send('PATCH', `${maps}/a`, {
        bytes: { type: types.merge, text: '{"__proto__":{"polluted":"yes"},"data":{"__proto__":"x","constructor":"y"}}' },
      });
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
      expect((await api.send('GET', `${maps}/a`)).body.data['constructor']).toBe('y');
    }),
  );
});
