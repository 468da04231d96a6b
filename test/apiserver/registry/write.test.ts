import { describe, expect, test } from 'vitest';
import { onApi } from '../api-under-test.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const map = (name: string, data: Record<string, string> = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });

describe('creating', () => {
  test(
    'an object gets what only the server sets, whatever the client says',
    onApi(async (api) => {
      const { code, body } = await api.create(maps, {
        ...map('one', { a: 'b' }),
        metadata: {
          name: 'one',
          uid: 'mine',
          creationTimestamp: '1999-01-01T00:00:00Z',
          deletionTimestamp: '1999-01-01T00:00:00Z',
          selfLink: '/x',
          managedFields: [],
        },
      });
      expect(code).toBe(201);
      expect(body).toEqual({
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: {
          name: 'one',
          namespace: 'default',
          uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
          creationTimestamp: expect.stringMatching(/^20.*Z$/),
          resourceVersion: String(api.store.revision()),
        },
        data: { a: 'b' },
      });
    }),
  );

  test(
    'an existing name is refused, with a hint if that object is being deleted',
    onApi(async (api) => {
      await api.create(maps, { ...map('one'), metadata: { name: 'one', finalizers: ['example.com/wait'] } });
      const again = await api.create(maps, map('one'));
      expect(again.body).toMatchObject({
        code: 409,
        reason: 'AlreadyExists',
        message: 'configmaps "one" already exists',
        details: { name: 'one', kind: 'configmaps' },
      });
      await api.send('DELETE', `${maps}/one`);
      expect((await api.create(maps, map('one'))).body.message).toBe('object is being deleted: configmaps "one" already exists');
    }),
  );

  test(
    'generateName makes a name of at most 63 characters, and another one if it is taken',
    onApi(async (api) => {
      const base = `${'x'.repeat(70)}-`;
      const names = await Promise.all(Array.from({ length: 20 }, () => api.create(maps, { metadata: { generateName: base } })));
      for (const { body } of names) expect(body.metadata.name).toMatch(/^x{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      expect(new Set(names.map(({ body }) => body.metadata.name)).size).toBe(20);
      // All names there are: the random source repeats itself.
      const float = api.world.random.float.bind(api.world.random);
      api.world.random.float = () => 0;
      expect((await api.create(maps, { metadata: { generateName: 'a-' } })).code).toBe(201);
      const taken = await api.create(maps, { metadata: { generateName: 'a-' } });
      expect(taken.body).toMatchObject({
        code: 409,
        message: 'configmaps "a-bbbbb" already exists, the server was not able to generate a unique name for the object',
        details: { retryAfterSeconds: 1 },
      });
      api.world.random.float = float;
    }),
  );

  test.each([
    [
      'another namespace',
      { ...map('a'), metadata: { name: 'a', namespace: 'other' } },
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    ['no name', { kind: 'ConfigMap', apiVersion: 'v1' }, 422, 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'],
    ['a version', { ...map('a'), metadata: { name: 'a', resourceVersion: '7' } }, 500, 'resourceVersion should not be set on objects to be created'],
  ])('an object with %s is refused', (_, body, code, message) =>
    onApi(async (api) => {
      const refused = await api.create(maps, body);
      expect(refused.body).toMatchObject({ code, message });
    })(),
  );

  test(
    'the namespace must exist, and must not be Terminating',
    onApi(async (api) => {
      expect((await api.create('/api/v1/namespaces/nowhere/configmaps', map('a'))).body).toMatchObject({
        code: 404,
        message: 'namespaces "nowhere" not found',
        details: { name: 'nowhere', kind: 'namespaces' },
      });
      await api.namespace('going');
      await api.send('DELETE', '/api/v1/namespaces/going');
      expect((await api.create('/api/v1/namespaces/going/configmaps', map('a'))).body).toMatchObject({
        code: 403,
        reason: 'Forbidden',
        message: 'configmaps "a" is forbidden: unable to create new content in namespace going because it is being terminated',
        details: { causes: [{ reason: 'NamespaceTerminating', message: 'namespace going is being terminated', field: 'metadata.namespace' }] },
      });
    }),
  );

  test(
    'unknown fields are warned of, refused or ignored, as the client likes',
    onApi(async (api) => {
      const typo = { ...map('a'), datta: {} };
      expect((await api.create(maps, typo, 'fieldValidation=Strict')).body).toMatchObject({
        code: 400,
        message: 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "datta"',
      });
      expect((await api.create(maps, { ...typo, metadata: { name: 'b' } })).warnings).toEqual(['unknown field "datta"']);
      expect((await api.create(maps, { ...typo, metadata: { name: 'c' } }, 'fieldValidation=Ignore')).warnings).toEqual([]);
      expect((await api.create(maps, typo, 'fieldValidation=Maybe')).body).toMatchObject({
        code: 422,
        details: { kind: 'CreateOptions', group: 'meta.k8s.io' },
      });
    }),
  );

  test(
    'a dry run does everything but store',
    onApi(async (api) => {
      const before = api.store.revision();
      const dry = await api.create(maps, map('a'), 'dryRun=All');
      expect(dry.code).toBe(201);
      expect(dry.body.metadata.uid).toBeDefined();
      expect(dry.body.metadata.resourceVersion).toBeUndefined();
      expect(api.store.revision()).toBe(before);
      const { body: stored } = await api.create(maps, map('a'));
      expect((await api.create(maps, map('a'), 'dryRun=All')).code).toBe(409);
      const updated = await api.send('PUT', `${maps}/a`, { query: 'dryRun=All', body: { ...stored, data: { a: 'other' } } });
      expect(updated.body).toMatchObject({ data: { a: 'other' }, metadata: { resourceVersion: stored.metadata.resourceVersion } });
      expect((await api.send('GET', `${maps}/a`)).body).toEqual(stored);
      expect((await api.create(maps, map('b'), 'dryRun=Some')).body).toMatchObject({
        code: 422,
        message: 'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
      });
    }),
  );

  test(
    'duplicate owners count once, with a warning',
    onApi(async (api) => {
      const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
      const { body, warnings } = await api.create(maps, { metadata: { name: 'a', ownerReferences: [owner, owner] } });
      expect(body.metadata.ownerReferences).toEqual([owner]);
      expect(warnings[0]).toContain('.metadata.ownerReferences contains duplicate entries;');
    }),
  );
});

describe('updating', () => {
  test(
    'an update with an old resourceVersion is a conflict',
    onApi(async (api) => {
      const first = (await api.create(maps, map('a'))).body;
      const second = (await api.send('PUT', `${maps}/a`, { body: { ...first, data: { x: '1' } } })).body;
      expect(Number(second.metadata.resourceVersion)).toBeGreaterThan(Number(first.metadata.resourceVersion));
      expect((await api.send('PUT', `${maps}/a`, { body: { ...first, data: { x: '2' } } })).body).toMatchObject({
        code: 409,
        reason: 'Conflict',
        message: 'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
      });
      expect((await api.send('PUT', `${maps}/a`, { body: map('a', { x: '3' }) })).body.data).toEqual({ x: '3' });
    }),
  );

  test.each([
    ['abc', 'strconv.ParseUint: parsing "abc": invalid syntax'],
    ['-1', 'strconv.ParseUint: parsing "-1": invalid syntax'],
    ['18446744073709551616', 'strconv.ParseUint: parsing "18446744073709551616": value out of range'],
  ])('a version that is none (%s) is no conflict', (resourceVersion, message) =>
    onApi(async (api) => {
      await api.create(maps, map('a'));
      const put = await api.send('PUT', `${maps}/a`, { body: { metadata: { name: 'a', resourceVersion } } });
      expect(put.body).toMatchObject({ code: 500, message });
      expect(put.body).not.toHaveProperty('reason');
    })(),
  );

  test(
    'an unsupported patch type is refused before wrong options',
    onApi(async (api) => {
      await api.create(maps, map('a'));
      const odd = { contentType: 'application/odd-patch+yaml', query: 'force=true&fieldManager=me', body: map('a') };
      expect((await api.send('PATCH', `${maps}/a`, odd)).body).toMatchObject({
        code: 415,
        reason: 'UnsupportedMediaType',
        message:
          'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml',
      });
      const merge = { contentType: 'application/merge-patch+json', query: 'force=true', body: {} };
      expect((await api.send('PATCH', `${maps}/a`, merge)).code).toBe(422);
    }),
  );

  test(
    'an update without changes writes nothing, also with another order of keys',
    onApi(async (api) => {
      const { body } = await api.create(maps, { ...map('a', { x: '1', y: '2' }), metadata: { name: 'a', labels: { l: 'm', n: 'o' } } });
      const before = api.store.revision();
      const same = { data: { y: '2', x: '1' }, metadata: { ...body.metadata, labels: { n: 'o', l: 'm' } }, kind: 'ConfigMap', apiVersion: 'v1' };
      expect((await api.send('PUT', `${maps}/a`, { body: same })).body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
      expect(api.store.revision()).toBe(before);
    }),
  );

  test(
    'another uid is another object; other times and generations are ignored',
    onApi(async (api) => {
      const { body } = await api.create(maps, map('a'));
      const { uid, creationTimestamp } = body.metadata;
      expect((await api.send('PUT', `${maps}/a`, { body: { ...body, metadata: { ...body.metadata, uid: 'other' } } })).body).toMatchObject({
        code: 409,
        message: `Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: /registry/configmaps/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: ${uid}`,
      });
      const changed = await api.send('PUT', `${maps}/a`, {
        body: { ...body, data: { x: 'y' }, metadata: { ...body.metadata, creationTimestamp: '1999-01-01T00:00:00Z', generation: 9 } },
      });
      expect(changed.body.metadata).toMatchObject({ uid, creationTimestamp });
      expect(changed.body.metadata.generation).toBeUndefined();
    }),
  );

  test(
    'the name must be the one of the path, the object must exist',
    onApi(async (api) => {
      await api.create(maps, map('a'));
      expect((await api.send('PUT', `${maps}/a`, { body: map('b') })).body).toMatchObject({
        code: 400,
        message: 'the name of the object (b) does not match the name on the URL (a)',
      });
      expect((await api.send('PUT', `${maps}/b`, { body: map('b') })).body).toMatchObject({ code: 404, message: 'configmaps "b" not found' });
    }),
  );

  test(
    'some kinds require a resourceVersion, and some create absent objects on update',
    onApi(async (api) => {
      const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
      const created = await api.send('PUT', `${leases}/l`, { body: { metadata: { name: 'l' }, spec: { holderIdentity: 'me' } } });
      expect(created.code).toBe(201);
      expect((await api.send('PUT', `${leases}/l`, { body: { metadata: { name: 'l' }, spec: { holderIdentity: 'me' } } })).body).toMatchObject({
        code: 422,
        message: 'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update',
      });
    }),
  );
});

describe('deleting', () => {
  test(
    'an object is gone at once, or stays until its last finalizer is removed, in one step',
    onApi(async (api) => {
      const { body } = await api.create(maps, map('a'));
      expect(await api.send('DELETE', `${maps}/a`)).toMatchObject({
        code: 200,
        body: { status: 'Success', details: { name: 'a', kind: 'configmaps', uid: body.metadata.uid } },
      });
      expect((await api.send('GET', `${maps}/a`)).code).toBe(404);
      await api.create(maps, { metadata: { name: 'b', finalizers: ['example.com/x', 'example.com/y'] } });
      const kept = await api.send('DELETE', `${maps}/b`);
      expect(kept.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, deletionTimestamp: expect.any(String) });
      const again = await api.send('DELETE', `${maps}/b`);
      expect(again.body.metadata.resourceVersion).toBe(kept.body.metadata.resourceVersion);
      const one = await api.send('PUT', `${maps}/b`, { body: { metadata: { name: 'b', finalizers: ['example.com/y'] } } });
      expect(one.body.metadata.deletionTimestamp).toBe(kept.body.metadata.deletionTimestamp);
      expect((await api.send('PUT', `${maps}/b`, { body: { metadata: { name: 'b', finalizers: ['example.com/new', 'example.com/y'] } } })).body).toMatchObject({
        code: 422,
        details: { causes: Array.from({ length: 2 }, () => ({ field: 'metadata.finalizers', reason: 'FieldValueForbidden' })) },
      });
      expect((await api.send('PUT', `${maps}/b`, { body: { metadata: { name: 'b' } } })).code).toBe(200);
      expect((await api.send('GET', `${maps}/b`)).code).toBe(404);
    }),
  );

  test(
    'preconditions must hold',
    onApi(async (api) => {
      const { body } = await api.create(maps, map('a'));
      const withUid = (uid: string) => api.send('DELETE', `${maps}/a`, { body: { preconditions: { uid } } });
      expect((await withUid('other')).body).toMatchObject({
        code: 409,
        message: `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in record (${body.metadata.uid}). The object might have been deleted and then recreated`,
      });
      expect((await api.send('DELETE', `${maps}/a`, { body: { preconditions: { resourceVersion: '1' } } })).code).toBe(409);
      expect(
        (await api.send('DELETE', `${maps}/a`, { body: { preconditions: { uid: body.metadata.uid, resourceVersion: body.metadata.resourceVersion } } })).code,
      ).toBe(200);
    }),
  );

  test(
    'what happens to dependents decides which finalizer is set',
    onApi(async (api) => {
      for (const [name, query, finalizers] of [
        ['a', 'propagationPolicy=Orphan', ['orphan']],
        ['b', 'propagationPolicy=Foreground', ['foregroundDeletion']],
        ['c', 'orphanDependents=true', ['orphan']],
      ] as const) {
        await api.create(maps, map(name));
        expect((await api.send('DELETE', `${maps}/${name}`, { query })).body.metadata.finalizers).toEqual(finalizers);
      }
      await api.create(maps, map('d'));
      expect((await api.send('DELETE', `${maps}/d`, { query: 'propagationPolicy=Background' })).body.status).toBe('Success');
      await api.create(maps, map('e'));
      const nonsense = await api.send('DELETE', `${maps}/e`, { query: 'propagationPolicy=Sideways&orphanDependents=true' });
      expect(nonsense.body).toMatchObject({
        code: 422,
        details: { group: 'meta.k8s.io', kind: 'DeleteOptions', causes: [{ field: 'propagationPolicy' }, { field: 'propagationPolicy' }] },
      });
    }),
  );

  test(
    'a collection is deleted by selector, and shown',
    onApi(async (api) => {
      for (const name of ['a', 'b', 'c']) await api.create(maps, { metadata: { name, labels: { go: name === 'c' ? 'no' : 'yes' } } });
      const gone = await api.send('DELETE', maps, { query: 'labelSelector=go=yes' });
      expect(gone.body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['a', 'b']);
      expect((await api.send('GET', maps)).body.items).toHaveLength(1);
      expect((await api.send('DELETE', '/api/v1/configmaps')).code).toBe(405);
    }),
  );

  test(
    'options may come in the body under any version',
    onApi(async (api) => {
      for (const apiVersion of ['v1', 'meta.k8s.io/v1', undefined]) {
        await api.create(maps, map('a'));
        const { body } = await api.send('DELETE', `${maps}/a`, {
          body: { ...(apiVersion === undefined ? {} : { apiVersion, kind: 'DeleteOptions' }), propagationPolicy: 'Orphan' },
        });
        expect(body.metadata?.finalizers).toEqual(['orphan']);
        await api.send('PUT', `${maps}/a`, { body: map('a') });
      }
      expect((await api.send('DELETE', `${maps}/a`, { bytes: { type: 'application/json', text: '{"propagationPolicy": 7}' } })).code).toBe(400);
    }),
  );
});

describe('races', () => {
  test(
    'of many concurrent creates of one object, one succeeds',
    onApi(async (api) => {
      const outcomes = await Promise.all(Array.from({ length: 10 }, (_, i) => api.create(maps, map('a', { by: String(i) }))));
      expect(outcomes.map(({ code }) => code).sort((a, b) => a - b)).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
    }),
  );

  test(
    'a blind update and a deletion happen one after the other, in either order',
    onApi(async (api) => {
      for (let i = 0; i < 20; i++) {
        await api.create(maps, map('a'));
        const [updated, deleted] = await Promise.all([api.send('PUT', `${maps}/a`, { body: map('a', { i: String(i) }) }), api.send('DELETE', `${maps}/a`)]);
        expect(deleted.code).toBe(200);
        expect([200, 404]).toContain(updated.code);
        expect((await api.send('GET', `${maps}/a`)).code).toBe(404);
      }
    }),
  );

  test(
    'nothing is created in a Terminating namespace',
    onApi(async (api) => {
      for (let i = 0; i < 10; i++) {
        const name = `n${i}`;
        await api.namespace(name);
        const [, ...creations] = await Promise.all([
          api.send('DELETE', `/api/v1/namespaces/${name}`),
          ...Array.from({ length: 5 }, (_, j) => api.create(`/api/v1/namespaces/${name}/configmaps`, map(`m${j}`))),
        ]);
        const deletedAt = Number((await api.send('GET', `/api/v1/namespaces/${name}`)).body.metadata.resourceVersion);
        for (const { code, body } of creations) expect(code === 403 || Number(body.metadata.resourceVersion) < deletedAt).toBe(true);
      }
    }),
  );
});
