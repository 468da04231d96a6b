import { describe, expect, test } from 'vitest';
import { resourceRequestInfo } from '../../../src/api/request-info.ts';
import type { RequestInfo } from '../../../src/api/request-info.ts';
import { ApiUnderTest, onApi, type Sent } from '../api-under-test.ts';
import { bound, claim, claims, volume, volumes } from '../bound-pair.ts';
import { allKinds } from '../../../src/api/kinds/index.ts';
import { volumeBindingKind, volumeBindingsPath as bindings } from '../../../src/api/kinds/mooring/volume-binding.ts';
import { createApi } from '../../../src/apiserver/create-api.ts';

type Parsed = Sent['body'];

async function pair(api: ApiUnderTest, volumeName: string, claimName: string): Promise<Parsed> {
  const [v, c] = [await api.create(volumes, volume(volumeName)), await api.create(claims, claim(claimName))];
  return bound(v.body, c.body);
}

const intents = '/apis/mooring.dev/v1/volumeintents';

/** A claim, the intent by which its volume was made, and the binding of the two. */
async function newPair(
  api: ApiUnderTest,
  name: string,
): Promise<{ readonly binding: Parsed; readonly intent: { readonly name: string; readonly uid: string } }> {
  const { body: made } = await api.create(claims, claim(name));
  const { namespace, uid } = made.metadata;
  const request = { capacity: '1Gi', accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem', storageClassName: 'static', reclaimPolicy: 'Delete' };
  const spec = { operation: 'Create', driver: 'csi.example.com', claimRef: { namespace, name, uid }, request };
  const { body: begun } = await api.create(intents, { metadata: { name }, spec, status: { phase: 'Pending' } });
  const intent = { name, uid: begun.metadata.uid };
  return { binding: { ...bound(volume(name), made), intent }, intent };
}

/** An object without its name and identity, to compare two of them. */
const alike = (object: Parsed): string => JSON.stringify(object).replaceAll(/one|two|[0-9a-f]{8}-[-0-9a-f]{27}|"\d+"/g, '?');

describe('a volume and a claim', () => {
  test(
    'are bound at one revision, and watchers get one event of each',
    onApi(async (api) => {
      const binding = await pair(api, 'one', 'one');
      const from = `resourceVersion=${api.store.revision()}`;
      const [seenVolumes, seenClaims] = [await api.watch(volumes, from), await api.watch(claims, from)];
      const { code, body } = await api.create(bindings, binding);
      expect(code).toBe(201);
      const revision = String(api.store.revision());
      expect(body).toMatchObject({
        kind: 'VolumeBinding',
        apiVersion: 'mooring.dev/v1',
        volume: { kind: 'PersistentVolume', metadata: { resourceVersion: revision }, spec: { claimRef: { name: 'one' } }, status: { phase: 'Bound' } },
        claim: { kind: 'PersistentVolumeClaim', metadata: { resourceVersion: revision }, spec: { volumeName: 'one' }, status: { phase: 'Bound' } },
      });
      expect(seenVolumes.lines).toEqual([`MODIFIED one@${revision}`]);
      expect(seenClaims.lines).toEqual([`MODIFIED one@${revision}`]);
      expect((await api.send('GET', `${volumes}/one`)).body).toEqual(body.volume);
      expect((await api.send('GET', `${claims}/one`)).body).toEqual(body.claim);
      expect(seenVolumes.seen[0]?.stored.object).toEqual(body.volume);
    }),
  );

  test(
    'end as they would after the four writes of Kubernetes',
    onApi(async (api) => {
      await api.create(bindings, await pair(api, 'one', 'one'));
      const { volume: v, claim: c } = await pair(api, 'two', 'two');
      for (const [path, object] of [
        [`${volumes}/two`, v],
        [`${claims}/two`, c],
      ] as const) {
        const { body } = await api.send('PUT', path, { body: object });
        await api.send('PUT', `${path}/status`, { body: { ...body, status: object.status } });
      }
      for (const path of [volumes, claims]) {
        const [one, two] = [(await api.send('GET', `${path}/one`)).body, (await api.send('GET', `${path}/two`)).body];
        expect(one.status.phase).toBe('Bound');
        expect(alike(one)).toEqual(alike(two));
      }
    }),
  );

  test(
    'that are bound to each other already are not changed',
    onApi(async (api) => {
      const { body } = await api.create(bindings, await pair(api, 'one', 'one'));
      const before = api.store.revision();
      expect((await api.create(bindings, body)).code).toBe(201);
      expect(api.store.revision()).toBe(before);
    }),
  );

  test(
    'are not changed by a dry run',
    onApi(async (api) => {
      const binding = await pair(api, 'one', 'one');
      const before = api.store.revision();
      const { code, body } = await api.create(bindings, binding, 'dryRun=All');
      expect([code, body.volume.status.phase, body.volume.spec.claimRef.name, body.claim.status.phase]).toEqual([201, 'Bound', 'one', 'Bound']);
      expect(api.store.revision()).toBe(before);
      const wrong = { ...binding, claim: { ...binding.claim, metadata: { ...binding.claim.metadata, resourceVersion: '1' } } };
      expect((await api.create(bindings, wrong, 'dryRun=All')).code).toBe(409);
    }),
  );

  test(
    'may be bound in a Terminating namespace, where updates are allowed too',
    onApi(async (api) => {
      await api.namespace('going');
      const there = claims.replace('default', 'going');
      const [v, c] = [await api.create(volumes, volume('one')), await api.create(there, claim('one'))];
      await api.send('DELETE', '/api/v1/namespaces/going');
      expect((await api.create(there, claim('late'))).code).toBe(403);
      expect((await api.create(bindings, bound(v.body, c.body))).code).toBe(201);
      expect((await api.send('GET', `${there}/one`)).body.spec.volumeName).toBe('one');
    }),
  );
});

describe('both or neither', () => {
  const changed = (part: 'volume' | 'claim', change: (object: Parsed) => void) => (binding: Parsed) => {
    const copy = structuredClone(binding);
    change(copy[part]);
    return copy;
  };

  test.each<[string, (binding: Parsed) => Parsed, Parsed]>([
    [
      'an old volume',
      changed('volume', ({ metadata }) => (metadata.resourceVersion = '1')),
      { code: 409, details: { kind: 'persistentvolumes', name: 'one' } },
    ],
    ['an old claim', changed('claim', ({ metadata }) => (metadata.resourceVersion = '1')), { code: 409, details: { kind: 'persistentvolumeclaims' } }],
    ['another volume of the name', changed('volume', ({ metadata }) => (metadata.uid = 'x')), { code: 409, details: { kind: 'persistentvolumes' } }],
    ['a volume of which the version is not said', changed('volume', ({ metadata }) => delete metadata.resourceVersion), { code: 422 }],
    ['a claim of which the version is not said', changed('claim', ({ metadata }) => delete metadata.resourceVersion), { code: 422 }],
    ['a volume whose source changes', changed('volume', ({ spec }) => (spec.hostPath.path = '/other')), { code: 422, details: { kind: 'PersistentVolume' } }],
    [
      'a claim whose modes change',
      changed('claim', ({ spec }) => (spec.accessModes = ['ReadOnlyMany'])),
      { code: 422, details: { kind: 'PersistentVolumeClaim', causes: [{ field: 'spec' }] } },
    ],
    [
      'a claim whose status is wrong',
      changed('claim', ({ status }) => (status.capacity.storage = '-1Gi')),
      { code: 422, details: { causes: [{ field: 'status.capacity[storage]' }] } },
    ],
    [
      'a volume that names another claim',
      changed('volume', ({ spec }) => (spec.claimRef.name = 'two')),
      { code: 422, details: { kind: 'VolumeBinding', causes: [{ field: 'volume.spec.claimRef.name' }] } },
    ],
    [
      'a volume that names another claim of the name',
      changed('volume', ({ spec }) => (spec.claimRef.uid = 'x')),
      { code: 422, details: { causes: [{ field: 'volume.spec.claimRef.uid' }] } },
    ],
    ['a volume that names no claim', changed('volume', ({ spec }) => delete spec.claimRef), { code: 422 }],
    [
      'a claim that names another volume',
      changed('claim', ({ spec }) => (spec.volumeName = 'two')),
      { code: 422, details: { causes: [{ field: 'claim.spec.volumeName' }] } },
    ],
    ['a volume in another phase', changed('volume', ({ status }) => (status.phase = 'Available')), { code: 422 }],
    ['a claim in another phase', changed('claim', ({ status }) => (status.phase = 'Pending')), { code: 422 }],
    ['a volume that does not exist', changed('volume', ({ metadata }) => (metadata.name = '../x')), { code: 422 }],
    ['something else in the place of the volume', (binding) => ({ ...binding, volume: binding.claim }), { code: 400 }],
    ['no claim', (binding) => ({ ...binding, claim: undefined }), { code: 422 }],
    ['nothing', () => ({}), { code: 422 }],
    ['a pod', () => ({ kind: 'Pod', apiVersion: 'v1' }), { code: 400 }],
    ['text', () => 'text', { code: 400 }],
  ])('%s', (_, change, status) =>
    onApi(async (api) => {
      const binding = await pair(api, 'one', 'one');
      const before = api.store.revision();
      const { body } = await api.create(bindings, change(binding));
      expect(body).toMatchObject(status);
      expect(api.store.revision()).toBe(before);
    })(),
  );

  test(
    'if admission refuses one, the other is not changed',
    onApi(async (api) => {
      const { body } = await api.create(bindings, await pair(api, 'one', 'one'));
      const larger = changed(
        'claim',
        ({ spec }) => (spec.resources.requests.storage = '2Gi'),
      )(changed('volume', ({ metadata }) => (metadata.labels = { a: 'b' }))(body));
      const before = api.store.revision();
      const refused = await api.create(bindings, larger);
      expect(refused.body).toMatchObject({ code: 403, details: { kind: 'persistentvolumeclaims' } });
      expect(refused.body.message).toContain('only dynamically provisioned pvc can be resized');
      expect(api.store.revision()).toBe(before);
    }),
  );

  test(
    'if one does not exist, the other is not changed',
    onApi(async (api) => {
      const binding = await pair(api, 'one', 'one');
      const other = await pair(api, 'two', 'two');
      for (const path of [`${claims}/one`, `${volumes}/two`]) {
        await api.send('DELETE', path);
        await api.send('PATCH', path, { body: { metadata: { finalizers: null } }, contentType: 'application/merge-patch+json' });
      }
      const before = api.store.revision();
      expect((await api.create(bindings, binding)).body).toMatchObject({ code: 404, details: { kind: 'persistentvolumeclaims' } });
      expect((await api.create(bindings, other)).body).toMatchObject({ code: 404, details: { kind: 'persistentvolumes' } });
      expect(api.store.revision()).toBe(before);
    }),
  );

  test(
    'a deposed leader binds nothing',
    onApi(async (api) => {
      const binding = await pair(api, 'one', 'one');
      await api.namespace('kube-system');
      const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
      const { body: lease } = await api.create(leases, { metadata: { name: 'l' }, spec: { holderIdentity: 'first' } });
      const fence = { lease: 'kube-system/l', epoch: Number(lease.metadata.resourceVersion) };
      await api.send('PUT', `${leases}/l`, { body: { ...lease, spec: { holderIdentity: 'second' } } });
      const before = api.store.revision();
      const refused = await api.send('POST', bindings, { body: binding, fence });
      expect(refused.body).toMatchObject({ code: 409, details: { causes: [{ reason: 'LeaderDeposed' }] } });
      expect(api.store.revision()).toBe(before);
      expect((await api.send('POST', bindings, { body: binding, fence: { ...fence, epoch: before } })).code).toBe(201);
    }),
  );

  test(
    'unknown fields are refused where the client wants that, and warned of otherwise',
    onApi(async (api) => {
      const binding = changed('volume', ({ spec }) => (spec.capcity = {}))(await pair(api, 'one', 'one'));
      expect((await api.create(bindings, binding, 'fieldValidation=Strict')).body.message).toContain('unknown field "volume.spec.capcity"');
      const { code, warnings } = await api.create(bindings, binding);
      expect([code, warnings]).toEqual([201, ['unknown field "volume.spec.capcity"']]);
    }),
  );

  test(
    'of which the volume is made by an intent: the volume is created bound, and the intent is deleted, at one revision',
    onApi(async (api) => {
      const { binding, intent } = await newPair(api, 'one');
      const from = `resourceVersion=${api.store.revision()}`;
      const seen = [await api.watch(volumes, from), await api.watch(claims, from), await api.watch(intents, from)];
      const { code, body } = await api.create(bindings, binding);
      expect(code).toBe(201);
      const revision = String(api.store.revision());
      expect(seen.map(({ lines }) => lines)).toEqual([[`ADDED one@${revision}`], [`MODIFIED one@${revision}`], [`DELETED one@${revision}`]]);
      expect((await api.send('GET', `${volumes}/one`)).body).toEqual(body.volume);
      expect(body.volume).toMatchObject({ metadata: { uid: expect.stringMatching(/./), resourceVersion: revision }, status: { phase: 'Bound' } });
      expect(body).not.toHaveProperty('intent');
      expect((await api.send('GET', `${intents}/${intent.name}`)).code).toBe(404);
    }),
  );

  test.each<[string, (binding: Parsed) => Parsed, Parsed]>([
    ['another intent of the name', (binding) => ({ ...binding, intent: { ...binding.intent, uid: 'x' } }), { code: 409 }],
    ['an intent of another volume', (binding) => ({ ...binding, intent: { ...binding.intent, name: 'two' } }), { code: 422 }],
    ['an intent without its uid', (binding) => ({ ...binding, intent: { name: 'one' } }), { code: 422 }],
    ['a version of a volume that is new', changed('volume', ({ metadata }) => (metadata.resourceVersion = '1')), { code: 422 }],
    ['a new volume that breaks a rule', changed('volume', ({ spec }) => delete spec.capacity), { code: 422, details: { kind: 'PersistentVolume' } }],
    ['an old claim of a new volume', changed('claim', ({ metadata }) => (metadata.resourceVersion = '1')), { code: 409 }],
  ])('nothing is created: %s', (_, change, status) =>
    onApi(async (api) => {
      const { binding } = await newPair(api, 'one');
      const before = api.store.revision();
      expect((await api.create(bindings, change(binding))).body).toMatchObject(status);
      expect(api.store.revision()).toBe(before);
    })(),
  );

  test(
    'a volume of the name is not changed, and a finished intent creates no second one',
    onApi(async (api) => {
      const { binding } = await newPair(api, 'one');
      expect((await api.create(bindings, binding, 'dryRun=All')).body.volume.status.phase).toBe('Bound');
      const { body: first } = await api.create(bindings, binding);
      const again = { ...binding, claim: first.claim };
      expect((await api.create(bindings, again)).body).toMatchObject({ code: 404, details: { kind: 'volumeintents' } });
      const other = await newPair(api, 'two');
      await api.create(volumes, volume('two'));
      const before = api.store.revision();
      expect((await api.create(bindings, other.binding)).body).toMatchObject({ code: 409, reason: 'AlreadyExists', details: { kind: 'persistentvolumes' } });
      expect(api.store.revision()).toBe(before);
    }),
  );

  test(
    'there is nothing to read',
    onApi(async (api) => {
      expect((await api.send('GET', bindings)).code).toBe(405);
      expect((await api.send('GET', `${bindings}/one`)).code).toBe(404);
    }),
  );
});

describe('authorization', () => {
  const asked: string[] = [];
  const describeAttributes = (a: RequestInfo) =>
    a.type === 'path' ? a.path : `${a.verb} ${a.resource}${a.subresource === '' ? '' : `/${a.subresource}`} ${a.namespace}/${a.name}`;
  const four = [
    'update persistentvolumes /one',
    'update persistentvolumes/status /one',
    'update persistentvolumeclaims default/one',
    'update persistentvolumeclaims/status default/one',
  ];

  /** The same store behind an API that allows all but one thing. */
  const allBut = (api: ApiUnderTest, refusedTo: string) => {
    asked.length = 0;
    const authorize = (_: unknown, attributes: RequestInfo) => {
      asked.push(describeAttributes(attributes));
      return asked.at(-1) === refusedTo ? ({ allowed: false, reason: '' } as const) : ({ allowed: true } as const);
    };
    return createApi({ store: api.store, kinds: allKinds, world: api.world, extensions: { authorizer: { authorize } } });
  };
  const request = (binding: Parsed) =>
    ({
      info: resourceRequestInfo('create', volumeBindingKind, {}),
      query: new URLSearchParams(),
      user: { name: 'binder', groups: [] },
      userAgent: '',
      body: { type: 'object', contentType: 'application/json', object: binding },
    }) as const;

  test.each(four)('refuses a user who may not %s', (one) =>
    onApi(async (api) => {
      const binding = await pair(api, 'one', 'one');
      const before = api.store.revision();
      const refusing = allBut(api, one);
      await expect(refusing.handle(request(binding))).rejects.toMatchObject({ code: 403, reason: 'Forbidden' });
      expect(api.store.revision()).toBe(before);
      await refusing.stop();
    })(),
  );

  test(
    'checks each of the four writes',
    onApi(async (api) => {
      const allowing = allBut(api, '');
      await allowing.handle(request(await pair(api, 'one', 'one')));
      expect(asked).toEqual(four);
      await allowing.stop();
    }),
  );

  test(
    'is 404 without extensions',
    onApi(async (api) => {
      const plain = createApi({ store: api.store, kinds: allKinds, world: api.world });
      await expect(plain.handle(request(await pair(api, 'one', 'one')))).rejects.toMatchObject({ code: 404 });
      await plain.stop();
    }),
  );
});
