import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Method } from '../../src/api/request-info.ts';
import { ApiError } from '../../src/api/status.ts';
import { type ApiUnderTest, onApi, type Sent } from '../apiserver/api-under-test.ts';
import { anyJson, changedAt, fuzzing, key, pointersOf } from './fuzz.ts';

const pod = {
  containers: [{ name: 'app', image: 'x', ports: [{ containerPort: 80 }], env: [{ name: 'A', value: 'b' }] }],
  volumes: [{ name: 'v', emptyDir: {} }],
};
const template = { metadata: { labels: { app: 'a' } }, spec: pod };
const workload = { replicas: 1, selector: { matchLabels: { app: 'a' } }, template };
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const inDefault = '/namespaces/default';

/** One object of each kind that has rules of its own, by its collection. */
const seeds: Readonly<Record<string, object>> = {
  [`/api/v1${inDefault}/configmaps`]: { data: { k: 'v' }, binaryData: { b: 'AAEC' } },
  [`/api/v1${inDefault}/secrets`]: { stringData: { k: 'v' }, type: 'Opaque' },
  [`/api/v1${inDefault}/pods`]: { spec: pod },
  [`/api/v1${inDefault}/services`]: { spec: { ports: [{ port: 80 }], selector: { app: 'a' } } },
  [`/api/v1${inDefault}/persistentvolumeclaims`]: { spec: claim },
  '/api/v1/persistentvolumes': { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } },
  '/api/v1/nodes': { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } },
  [`/apis/apps/v1${inDefault}/deployments`]: { spec: workload },
  [`/apis/apps/v1${inDefault}/statefulsets`]: { spec: { ...workload, serviceName: 's', volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: claim }] } },
  [`/apis/batch/v1${inDefault}/jobs`]: { spec: { template: { spec: { ...pod, restartPolicy: 'Never' } } } },
  '/apis/storage.k8s.io/v1/storageclasses': { provisioner: 'example.com/p', parameters: { a: 'b' } },
  [`/apis/coordination.k8s.io/v1${inDefault}/leases`]: { spec: { holderIdentity: 'a', leaseDurationSeconds: 10 } },
  [`/apis/rbac.authorization.k8s.io/v1${inDefault}/roles`]: { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
};

const withName = (name: string, object: object): object => ({ ...object, metadata: { name, labels: { l: 'v' }, annotations: { a: 'v' } } });

/** Kubernetes answers some faults of clients with 500 and no reason, as errors that it did not expect; so do we, word for word. */
const isKubernetesOwn500 = ({ code, reason, message }: { code: number; reason?: string; message: string }): boolean =>
  code === 500 && reason === undefined && kubernetesOwn500s.some((text) => text.test(message));
/** Where v1.36.4 makes each of them a plain error, which its handlers answer so (all under staging/src/k8s.io). */
const kubernetesOwn500s = [
  // apimachinery/pkg/util/mergepatch/errors.go, unless interpretStrategicMergePatchError of apiserver's patch.go knows it
  /does not contain declared merge key/,
  /^unknown patch type: /,
  /^expected a (map\[string\]interface \{\}|\[\]interface \{\}), but received a /,
  // apimachinery/pkg/util/strategicpatch/patch.go
  /^list element types are not identical: /,
  // apimachinery/pkg/util/managedfields/internal/structuredmerge.go
  /^failed to create typed patch object/,
  /^failed to convert new object/,
  // … /fieldmanager.go: of an object whose managedFields were written by hand
  /^failed to decode managed fields/,
  // apiserver/pkg/storage/api_object_versioner.go, ObjectResourceVersion
  /^strconv\.ParseUint: parsing/,
  // apiserver/pkg/storage/errors.go, ErrResourceVersionSetOnCreate
  /^resourceVersion should not be set on objects to be created/,
];

/** An answer to whatever it was: of a client's making, and well-formed. */
async function answered(api: ApiUnderTest, method: Method, path: string, body: { type: string; text: string }, query = ''): Promise<Sent> {
  const sent = await api.send(method, path, { bytes: body, query });
  if (sent.code >= 400) {
    expect(sent.body).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: sent.code });
    expect(typeof sent.body.message).toBe('string');
    if (!isKubernetesOwn500(sent.body)) expect(sent.code, JSON.stringify(sent.body)).toBeLessThan(500);
  }
  return sent;
}

/** What is stored could be written once more as it is: nothing got in that the rules refuse. */
async function expectWritable(api: ApiUnderTest, path: string): Promise<void> {
  const stored = await api.send('GET', path);
  if (stored.code === 404) return;
  const again = await api.send('PUT', path, { body: stored.body, query: 'dryRun=All' });
  expect(again.code, `${JSON.stringify(again.body)} of ${JSON.stringify(stored.body)}`).toBe(200);
}

const jsonType = 'application/json';

/** What becomes of one object under many writes; it is made anew if a write removed it. */
async function underFire(api: ApiUnderTest, collection: string, seed: object): Promise<{ path: string; object: object }> {
  const path = `${collection}/x`;
  const current = await api.send('GET', path);
  if (current.code === 200 && current.body.metadata.deletionTimestamp === undefined) return { path, object: current.body };
  if (current.code === 200) await api.send('PUT', path, { body: { ...current.body, metadata: { ...current.body.metadata, finalizers: [] } } });
  const made = await api.create(collection, withName('x', seed));
  expect(made.code, JSON.stringify(made.body)).toBe(201);
  return { path, object: made.body };
}

interface Patch {
  readonly type: string;
  readonly text: (object: object) => string;
  readonly query?: string;
}

const place = fc.nat({ max: 10_000 });
const pointer = fc
  .array(fc.oneof(key, fc.constantFrom('0', '1', '-', '99999999999')), { maxLength: 5 })
  .map((parts) => parts.map((part) => `/${part}`).join(''));
const pointerIn = (object: object, at: number | string): string => {
  if (typeof at === 'string') return at;
  const all = pointersOf(object);
  return all[at % all.length] ?? '';
};
const operation = fc.record(
  {
    op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'nonsense'),
    path: fc.oneof(place, pointer),
    from: fc.oneof(place, pointer),
    value: anyJson,
  },
  { requiredKeys: ['op', 'path'] },
);

const patches: Readonly<Record<string, fc.Arbitrary<Patch>>> = {
  'JSON patches': fc.array(operation, { maxLength: 5 }).map((operations) => ({
    type: 'application/json-patch+json',
    text: (object) =>
      JSON.stringify(
        operations.map((one) => ({ ...one, path: pointerIn(object, one.path), ...(one.from === undefined ? {} : { from: pointerIn(object, one.from) }) })),
      ),
  })),
  'merge patches': fc.record({ at: place, to: anyJson, whole: fc.boolean() }).map(({ at, to, whole }) => ({
    type: 'application/merge-patch+json',
    text: (object) => JSON.stringify(whole ? to : onlyAt(pointerIn(object, at), to)),
  })),
  'strategic merge patches': fc.record({ at: place, to: anyJson, whole: fc.boolean() }).map(({ at, to, whole }) => ({
    type: 'application/strategic-merge-patch+json',
    text: (object) => JSON.stringify(whole ? changedAt(object, pointerIn(object, at), to) : onlyAt(pointerIn(object, at), to)),
  })),
  'applied objects': fc.record({ at: place, to: anyJson, force: fc.boolean() }).map(({ at, to, force }) => ({
    type: 'application/apply-patch+yaml',
    query: `fieldManager=fuzz&force=${force}`,
    text: (object) => JSON.stringify(changedAt(withoutManaged(object), pointerIn(withoutManaged(object), at), to)),
  })),
};

/** A patch that says nothing but this: {"spec":{"replicas":…}}. */
const onlyAt = (pointed: string, to: unknown): unknown =>
  pointed
    .split('/')
    .slice(1)
    .reduceRight<unknown>((inner, name) => (/^\d+$/.test(name) ? [inner] : { [name.replaceAll('~1', '/').replaceAll('~0', '~')]: inner }), to);

function withoutManaged(object: object): object {
  const { metadata, ...rest } = object as { metadata: Record<string, unknown> };
  const { managedFields: _managed, resourceVersion: _version, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

const kindOfSeed = fc.constantFrom(...Object.entries(seeds));

describe('whatever is sent, it is answered, and what is stored is valid:', () => {
  test.each(Object.entries(patches))('%s', async (_form, patch) => {
    await onApi(async (api) => {
      const attack = fc.asyncProperty(kindOfSeed, patch, fc.constantFrom('', '/status'), async ([collection, seed], { type, text, query }, part) => {
        const { path, object } = await underFire(api, collection, seed);
        await answered(api, 'PATCH', path + part, { type, text: text(object) }, query);
        await expectWritable(api, path);
      });
      await fc.assert(attack, fuzzing(250));
    })();
  });

  test('new objects and updates with one place changed', async () => {
    await onApi(async (api) => {
      const attack = fc.asyncProperty(kindOfSeed, place, anyJson, async ([collection, seed], at, to) => {
        const { path, object } = await underFire(api, collection, seed);
        await answered(api, 'PUT', path, { type: jsonType, text: JSON.stringify(changedAt(object, pointerIn(object, at), to)) });
        await expectWritable(api, path);
        const fresh = withName('fresh', seed);
        const made = await answered(api, 'POST', collection, { type: jsonType, text: JSON.stringify(changedAt(fresh, pointerIn(fresh, at), to)) });
        if (made.code !== 201) return;
        await expectWritable(api, `${collection}/${made.body.metadata.name}`);
        await api.send('DELETE', `${collection}/${made.body.metadata.name}`, { query: 'gracePeriodSeconds=0' });
      });
      await fc.assert(attack, fuzzing(250));
    })();
  });

  test('bytes in every format', async () => {
    await onApi(async (api) => {
      const types = [jsonType, 'application/yaml', 'application/vnd.kubernetes.protobuf', 'application/json-patch+json', 'application/merge-patch+json'];
      const bytes = fc.oneof(
        fc.string(),
        fc.string({ unit: 'binary' }),
        fc.constantFrom('&a [*a]', 'a: &a\n  <<: *a', '[', '{"a":', '- - - -', '!!int x', '? {a: b}'),
      );
      const attack = fc.asyncProperty(fc.constantFrom(...Object.keys(seeds)), fc.constantFrom(...types), bytes, async (collection, type, text) => {
        await answered(api, 'POST', collection, { type, text });
        await answered(api, 'PUT', `${collection}/x`, { type, text });
        await answered(api, 'PATCH', `${collection}/x`, { type, text });
        await answered(api, 'DELETE', `${collection}/none`, { type, text });
      });
      await fc.assert(attack, fuzzing(150));
    })();
  });

  test('queries', async () => {
    await onApi(async (api) => {
      const names = [
        'labelSelector',
        'fieldSelector',
        'limit',
        'continue',
        'resourceVersion',
        'resourceVersionMatch',
        'timeoutSeconds',
        'dryRun',
        'fieldManager',
      ];
      const more = [
        'fieldValidation',
        'gracePeriodSeconds',
        'propagationPolicy',
        'orphanDependents',
        'force',
        'pretty',
        'sendInitialEvents',
        'allowWatchBookmarks',
      ];
      const value = fc.oneof(
        fc.string(),
        fc.constantFrom('', '0', '-1', '1', 'All', 'true', 'a=b', 'a in (b', 'metadata.name=x', 'Exact', '99999999999999999999'),
      );
      const query = fc.dictionary(fc.constantFrom(...names, ...more), value, { maxKeys: 4 }).map((given) => new URLSearchParams(given).toString());
      const methods = fc.constantFrom<Method[]>('GET', 'POST', 'PUT', 'PATCH', 'DELETE');
      const attack = fc.asyncProperty(fc.constantFrom(...Object.keys(seeds)), methods, query, fc.boolean(), async (collection, method, given, one) => {
        try {
          await answered(api, method, one ? `${collection}/x` : collection, { type: jsonType, text: '{}' }, given);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
        }
      });
      await fc.assert(attack, fuzzing(300));
    })();
  });
});
