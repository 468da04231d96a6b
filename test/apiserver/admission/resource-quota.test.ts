import { describe, expect, test } from 'vitest';
import { ApiUnderTest, onApi } from '../api-under-test.ts';

const ns = '/api/v1/namespaces/default';
const claims = `${ns}/persistentvolumeclaims`;
const claim = (name: string, storage = '1Gi', more: object = {}) => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...more },
});
const pod = (name: string, spec: object = {}, resources: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'app', image: 'x', resources }], ...spec },
});
const setQuota = (api: ApiUnderTest, name: string, hard: object, more: object = {}) =>
  api.create(`${ns}/resourcequotas`, { metadata: { name }, spec: { hard, ...more } });
const usedOf = async (api: ApiUnderTest, name: string) => (await api.send('GET', `${ns}/resourcequotas/${name}`)).body.status.used;

describe('quotas', () => {
  test(
    'one claim too many is refused, in the words of Kubernetes',
    onApi(async (api) => {
      await setQuota(api, 'q', { persistentvolumeclaims: '1' });
      expect((await api.create(claims, claim('one'))).code).toBe(201);
      expect((await api.create(claims, claim('two'))).body).toMatchObject({
        code: 403,
        message:
          'persistentvolumeclaims "two" is forbidden: exceeded quota: q, requested: persistentvolumeclaims=1, used: persistentvolumeclaims=1, limited: persistentvolumeclaims=1',
      });
      expect(await usedOf(api, 'q')).toEqual({ persistentvolumeclaims: '1' });
    }),
  );

  test(
    'storage counts by requests, in total and by class, and expansion counts',
    onApi(async (api) => {
      await api.create('/apis/storage.k8s.io/v1/storageclasses', { metadata: { name: 'gold' }, provisioner: 'p', allowVolumeExpansion: true });
      await setQuota(api, 'q', {
        'requests.storage': '10Gi',
        'gold.storageclass.storage.k8s.io/requests.storage': '5Gi',
        'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '2',
      });
      await api.create(claims, claim('one', '6Gi'));
      expect((await api.create(claims, claim('two', '5Gi'))).body.message).toBe(
        'persistentvolumeclaims "two" is forbidden: exceeded quota: q, requested: requests.storage=5Gi, used: requests.storage=6Gi, limited: requests.storage=10Gi',
      );
      expect((await api.create(claims, claim('three', '3Gi', { storageClassName: 'gold' }))).code).toBe(201);
      expect(await usedOf(api, 'q')).toEqual({
        'requests.storage': '9Gi',
        'gold.storageclass.storage.k8s.io/requests.storage': '3Gi',
        'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
      });
      const asJson = { contentType: 'application/merge-patch+json' };
      await api.send('PATCH', `${claims}/three/status`, { ...asJson, body: { status: { phase: 'Bound', capacity: { storage: '3Gi' } } } });
      const grow = (storage: string) => api.send('PATCH', `${claims}/three`, { ...asJson, body: { spec: { resources: { requests: { storage } } } } });
      expect((await grow('5Gi')).body.message).toContain(
        'exceeded quota: q, requested: requests.storage=2Gi, used: requests.storage=9Gi, limited: requests.storage=10Gi',
      );
      expect((await grow('4Gi')).code).toBe(200);
      expect((await usedOf(api, 'q'))['requests.storage']).toBe('10Gi');
    }),
  );

  test(
    'concurrent creates never exceed the quota, and each is counted once',
    onApi(async (api) => {
      await setQuota(api, 'a', { 'count/configmaps': '7' });
      await setQuota(api, 'b', { configmaps: '20' });
      const outcomes = await Promise.all(Array.from({ length: 40 }, (_, i) => api.create(`${ns}/configmaps`, { metadata: { name: `m${i}` } })));
      expect(outcomes.filter(({ code }) => code === 201)).toHaveLength(7);
      expect(outcomes.filter(({ code }) => code === 403)).toHaveLength(33);
      expect(await usedOf(api, 'a')).toEqual({ 'count/configmaps': '7' });
      expect(await usedOf(api, 'b')).toEqual({ configmaps: '7' });
    }),
  );

  test(
    'nor do two servers on one store',
    onApi(async (api) => {
      const other = new ApiUnderTest(api.world, api.store);
      await setQuota(api, 'q', { 'count/configmaps': '10' });
      const outcomes = await Promise.all(
        Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? api : other).create(`${ns}/configmaps`, { metadata: { name: `m${i}` } })),
      );
      expect(outcomes.filter(({ code }) => code === 201)).toHaveLength(10);
      expect(await usedOf(api, 'q')).toEqual({ 'count/configmaps': '10' });
      await other.api.stop();
    }),
  );

  test(
    'a later quota counts existing objects, and deletions free usage',
    onApi(async (api) => {
      for (const name of ['a', 'b']) await api.create(`${ns}/secrets`, { metadata: { name } });
      await setQuota(api, 'q', { secrets: '2', pods: '3' });
      expect((await api.create(`${ns}/secrets`, { metadata: { name: 'c' } })).body.message).toContain('used: secrets=2, limited: secrets=2');
      await api.send('DELETE', `${ns}/secrets/a`);
      expect((await api.create(`${ns}/secrets`, { metadata: { name: 'c' } })).code).toBe(201);
      expect(await usedOf(api, 'q')).toEqual({ secrets: '2', pods: '0' });
      expect((await api.create(`${ns}/secrets`, { metadata: { name: 'd' } })).code).toBe(403);
    }),
  );

  test(
    'a dry run and a failed create charge nothing',
    onApi(async (api) => {
      await setQuota(api, 'q', { configmaps: '1' });
      expect((await api.create(`${ns}/configmaps`, { metadata: { name: 'a' } }, 'dryRun=All')).code).toBe(201);
      expect((await api.create(`${ns}/configmaps`, { metadata: { name: 'Bad_Name' } })).code).toBe(422);
      expect((await api.create(`${ns}/configmaps`, { metadata: { name: 'a' } })).code).toBe(201);
      expect((await api.create(`${ns}/configmaps`, { metadata: { name: 'a' } })).code).toBe(403);
      expect(await usedOf(api, 'q')).toEqual({ configmaps: '1' });
    }),
  );

  test(
    'pods must say what they use if it is limited',
    onApi(async (api) => {
      await setQuota(api, 'q', { 'requests.cpu': '1', 'limits.memory': '1Gi', pods: '5' });
      expect((await api.create(`${ns}/pods`, pod('a'))).body.message).toBe(
        'pods "a" is forbidden: failed quota: q: must specify limits.memory for: app; requests.cpu for: app',
      );
      const resources = { requests: { cpu: '600m' }, limits: { memory: '512Mi' } };
      expect((await api.create(`${ns}/pods`, pod('a', {}, resources))).code).toBe(201);
      expect((await api.create(`${ns}/pods`, pod('b', {}, resources))).body.message).toBe(
        'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1',
      );
      expect(await usedOf(api, 'q')).toEqual({ 'requests.cpu': '600m', 'limits.memory': '512Mi', pods: '1' });
    }),
  );

  test(
    'a quota with a scope counts only what lies in it',
    onApi(async (api) => {
      await setQuota(api, 'besteffort', { pods: '1' }, { scopes: ['BestEffort'] });
      await setQuota(
        api,
        'high',
        { pods: '0' },
        { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['system-cluster-critical'] }] } },
      );
      expect((await api.create(`${ns}/pods`, pod('a'))).code).toBe(201);
      expect((await api.create(`${ns}/pods`, pod('b'))).body.message).toContain('exceeded quota: besteffort');
      expect((await api.create(`${ns}/pods`, pod('b', {}, { requests: { cpu: '1' } }))).code).toBe(201);
      expect((await api.create(`${ns}/pods`, pod('c', { priorityClassName: 'system-cluster-critical' }, { requests: { cpu: '1' } }))).body.message).toContain(
        'exceeded quota: high',
      );
      expect((await api.create(`${ns}/configmaps`, { metadata: { name: 'free' } })).code).toBe(201);
    }),
  );

  test(
    'a part of a byte counts as one',
    onApi(async (api) => {
      await setQuota(api, 'q', { 'requests.storage': '1Gi' });
      expect((await api.create(claims, claim('one', '0.1Gi'))).code).toBe(201);
      expect(await usedOf(api, 'q')).toEqual({ 'requests.storage': '107374183' });
    }),
  );

  test(
    'a pod that gets a deadline needs room among those that have one',
    onApi(async (api) => {
      await setQuota(api, 'short', { pods: '1' }, { scopes: ['Terminating'] });
      const limit = (name: string, labels: object, activeDeadlineSeconds?: number) =>
        api.send('PATCH', `${ns}/pods/${name}`, {
          contentType: 'application/merge-patch+json',
          body: { metadata: { labels }, ...(activeDeadlineSeconds === undefined ? {} : { spec: { activeDeadlineSeconds } }) },
        });
      for (const name of ['a', 'b']) expect((await api.create(`${ns}/pods`, pod(name))).code).toBe(201);
      expect((await limit('a', { x: 'y' })).code).toBe(200);
      expect(await usedOf(api, 'short')).toBeUndefined();
      expect((await limit('a', {}, 60)).code).toBe(200);
      expect(await usedOf(api, 'short')).toEqual({ pods: '1' });
      expect((await limit('a', {}, 30)).code).toBe(200);
      expect((await limit('b', {}, 60)).body.message).toContain('exceeded quota: short, requested: pods=1, used: pods=1, limited: pods=1');
      expect(await usedOf(api, 'short')).toEqual({ pods: '1' });
    }),
  );

  test(
    'missing requests are reported before an exceeded quota; pod-level resources are enough',
    onApi(async (api) => {
      await setQuota(api, 'a-full', { pods: '0' });
      await setQuota(api, 'b-asks', { 'requests.cpu': '2' });
      expect((await api.create(`${ns}/pods`, pod('one'))).body.message).toContain('failed quota: b-asks: must specify requests.cpu for: app');
      expect((await api.create(`${ns}/pods`, pod('one', { resources: { requests: { cpu: '1' } } }))).body.message).toContain('exceeded quota: a-full');
    }),
  );

  test(
    'a resource without an evaluator is not limited, and costs no recalculation',
    onApi(async (api) => {
      await setQuota(api, 'q', { configmaps: '9', 'count/gadgets.example.com': '1', replicationcontrollers: '1' });
      for (const name of ['a', 'b']) expect((await api.create(`${ns}/configmaps`, { metadata: { name } })).code).toBe(201);
      expect(await usedOf(api, 'q')).toEqual({ configmaps: '2', replicationcontrollers: '0' });
    }),
  );
});
