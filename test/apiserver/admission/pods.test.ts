import { describe, expect, test } from 'vitest';
import { onApi } from '../api-under-test.ts';

const pods = '/api/v1/namespaces/default/pods';
const accounts = '/api/v1/namespaces/default/serviceaccounts';
const pod = (name: string, spec: object = {}, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'app', image: 'pause' }], ...spec },
});

describe('service accounts', () => {
  test(
    'a pod runs as the default account and can reach the API',
    onApi(async (api) => {
      const { body } = await api.create(pods, {
        ...pod('a'),
        spec: { initContainers: [{ name: 'init', image: 'x' }], containers: [{ name: 'app', image: 'pause' }] },
      });
      expect(body.spec).toMatchObject({ serviceAccountName: 'default', serviceAccount: 'default' });
      const [volume] = body.spec.volumes;
      expect(volume).toEqual({
        name: expect.stringMatching(/^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/),
        projected: {
          defaultMode: 420,
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
            { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
          ],
        },
      });
      const mount = { name: volume.name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' };
      expect(body.spec.containers[0].volumeMounts).toEqual([mount]);
      expect(body.spec.initContainers[0].volumeMounts).toEqual([mount]);
    }),
  );

  test(
    'the account must exist; a default one that is about to be made is waited for',
    onApi(async (api) => {
      expect((await api.create(pods, pod('a', { serviceAccountName: 'missing' }))).body).toMatchObject({
        code: 403,
        message: 'pods "a" is forbidden: error looking up service account default/missing: serviceaccount "missing" not found',
      });
      await api.create('/api/v1/namespaces', { metadata: { name: 'new' } });
      const waiting = api.create('/api/v1/namespaces/new/pods', pod('a'));
      await api.world.sleep(500);
      await api.create('/api/v1/namespaces/new/serviceaccounts', { metadata: { name: 'default' } });
      expect((await waiting).code).toBe(201);
      await api.create('/api/v1/namespaces', { metadata: { name: 'never' } });
      expect((await api.create('/api/v1/namespaces/never/pods', pod('a'))).code).toBe(403);
    }),
  );

  test(
    'no token is mounted with automountServiceAccountToken false, and none twice; pull secrets come from the account',
    onApi(async (api) => {
      await api.create(accounts, { metadata: { name: 'shy' }, automountServiceAccountToken: false, imagePullSecrets: [{ name: 'pull' }] });
      const shy = (await api.create(pods, pod('a', { serviceAccountName: 'shy' }))).body.spec;
      expect(shy.volumes).toBeUndefined();
      expect(shy.imagePullSecrets).toEqual([{ name: 'pull' }]);
      expect((await api.create(pods, pod('b', { serviceAccountName: 'shy', automountServiceAccountToken: true }))).body.spec.volumes).toHaveLength(1);
      const own = {
        containers: [{ name: 'app', image: 'x', volumeMounts: [{ name: 'own', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }] }],
        volumes: [{ name: 'own', emptyDir: {} }],
      };
      expect((await api.create(pods, pod('c', own))).body.spec.volumes).toHaveLength(1);
    }),
  );

  test(
    'a service account may be limited to the secrets it lists',
    onApi(async (api) => {
      await api.create(accounts, {
        metadata: { name: 'strict', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
        secrets: [{ name: 'mine' }],
      });
      const using = (name: string) => pod(name, { serviceAccountName: 'strict', volumes: [{ name: 'v', secret: { secretName: name } }] });
      expect((await api.create(pods, using('mine'))).code).toBe(201);
      expect((await api.create(pods, using('other'))).body.message).toBe(
        'pods "other" is forbidden: volume with secret.secretName="other" is not allowed because service account strict does not reference that secret',
      );
    }),
  );

  test(
    'a mirror pod references no API objects',
    onApi(async (api) => {
      const mirror = { annotations: { 'kubernetes.io/config.mirror': 'x' } };
      const node = { nodeName: 'n' };
      expect((await api.create(pods, pod('a', { ...node, serviceAccountName: 'default' }, mirror))).body.message).toContain(
        'a mirror pod may not reference service accounts',
      );
      expect((await api.create(pods, pod('b', { ...node, volumes: [{ name: 's', secret: { secretName: 's' } }] }, mirror))).body.message).toContain(
        'a mirror pod may not reference secrets',
      );
    }),
  );
});

describe('priority', () => {
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';

  test(
    'comes from the class, never from the pod',
    onApi(async (api) => {
      await api.create(classes, { metadata: { name: 'high' }, value: 1000, preemptionPolicy: 'Never' });
      expect((await api.create(pods, pod('a'))).body.spec).toMatchObject({ priority: 0, preemptionPolicy: 'PreemptLowerPriority' });
      expect((await api.create(pods, pod('b', { priorityClassName: 'high' }))).body.spec).toMatchObject({ priority: 1000, preemptionPolicy: 'Never' });
      expect((await api.create(pods, pod('c', { priorityClassName: 'system-node-critical' }))).body.spec.priority).toBe(2_000_001_000);
      expect((await api.create(pods, pod('d', { priorityClassName: 'none' }))).body.message).toBe(
        'pods "d" is forbidden: no PriorityClass with name none was found',
      );
      expect((await api.create(pods, pod('e', { priority: 7 }))).body.message).toBe(
        'pods "e" is forbidden: the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
      );
    }),
  );

  test(
    'one class at most is the default',
    onApi(async (api) => {
      await api.create(classes, { metadata: { name: 'usual' }, value: 5, globalDefault: true });
      expect((await api.create(pods, pod('a'))).body.spec).toMatchObject({ priority: 5, priorityClassName: 'usual' });
      expect((await api.create(classes, { metadata: { name: 'second' }, value: 6, globalDefault: true })).body.message).toBe(
        'priorityclasses.scheduling.k8s.io "second" is forbidden: PriorityClass usual is already marked as default. Only one default can exist',
      );
      const renamed = await api.send('PATCH', `${classes}/usual`, { body: { description: 'x' }, contentType: 'application/merge-patch+json' });
      expect(renamed.code).toBe(200);
    }),
  );
});

test(
  'a pod tolerates the loss of its node for five minutes unless it says otherwise',
  onApi(async (api) => {
    const usual = ['not-ready', 'unreachable'].map((taint) => ({
      key: `node.kubernetes.io/${taint}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    }));
    expect((await api.create(pods, pod('a'))).body.spec.tolerations).toEqual(usual);
    expect((await api.create(pods, pod('b', { tolerations: [{ operator: 'Exists' }] }))).body.spec.tolerations).toEqual([{ operator: 'Exists' }]);
    const own = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 };
    expect((await api.create(pods, pod('c', { tolerations: [own] }))).body.spec.tolerations).toEqual([own, usual[1]]);
  }),
);

describe('runtime classes', () => {
  const classes = '/apis/node.k8s.io/v1/runtimeclasses';
  const forbidden = (name: string, reason: string) => ({ code: 403, message: `pods "${name}" is forbidden: ${reason}` });

  test(
    'a pod gets overhead, node selector and tolerations of its class',
    onApi(async (api) => {
      await api.create(classes, {
        metadata: { name: 'vm' },
        handler: 'vm',
        overhead: { podFixed: { memory: '100Mi' } },
        scheduling: { nodeSelector: { vm: 'yes' }, tolerations: [{ key: 'vm', operator: 'Exists' }] },
      });
      const tolerations = [{ key: 'own', operator: 'Exists' }];
      const { spec } = (await api.create(pods, pod('a', { runtimeClassName: 'vm', nodeSelector: { zone: 'a' }, tolerations }))).body;
      expect(spec).toMatchObject({ overhead: { memory: '100Mi' }, nodeSelector: { zone: 'a', vm: 'yes' } });
      expect(spec.tolerations.map(({ key }: { key: string }) => key)).toEqual(expect.arrayContaining(['own', 'vm']));
      expect((await api.create(pods, pod('same', { runtimeClassName: 'vm', overhead: { memory: '102400Ki' } }))).code).toBe(201);
    }),
  );

  test(
    'what contradicts the class, or has none, is refused',
    onApi(async (api) => {
      await api.create(classes, {
        metadata: { name: 'vm' },
        handler: 'vm',
        overhead: { podFixed: { memory: '100Mi' } },
        scheduling: { nodeSelector: { vm: 'yes' } },
      });
      expect((await api.create(pods, pod('a', { runtimeClassName: 'none' }))).body).toMatchObject(
        forbidden('a', 'pod rejected: RuntimeClass "none" not found'),
      );
      expect((await api.create(pods, pod('b', { runtimeClassName: 'vm', overhead: { memory: '1Gi' } }))).body).toMatchObject(
        forbidden('b', "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"),
      );
      expect((await api.create(pods, pod('c', { overhead: { memory: '1Gi' } }))).body).toMatchObject(
        forbidden('c', 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'),
      );
      expect((await api.create(pods, pod('d', { runtimeClassName: 'vm', nodeSelector: { vm: 'no' } }))).body).toMatchObject(
        forbidden('d', 'conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no'),
      );
    }),
  );
});

describe('limit ranges', () => {
  const ranges = '/api/v1/namespaces/default/limitranges';

  test(
    'containers without requests and limits get the defaults',
    onApi(async (api) => {
      await api.create(ranges, {
        metadata: { name: 'l' },
        spec: { limits: [{ type: 'Container', default: { cpu: '1', memory: '1Gi' }, defaultRequest: { cpu: '100m' } }] },
      });
      const { body } = await api.create(pods, pod('a', { containers: [{ name: 'app', image: 'x', resources: { limits: { cpu: '500m' } } }] }));
      expect(body.spec.containers[0].resources).toEqual({ limits: { cpu: '500m', memory: '1Gi' }, requests: { cpu: '500m', memory: '1Gi' } });
      expect(body.metadata.annotations['kubernetes.io/limit-ranger']).toBe(
        'LimitRanger plugin set: memory request for container app; memory limit for container app',
      );
      expect(body.status.qosClass).toBe('Guaranteed');
    }),
  );

  test(
    'min, max and ratio violations are refused together',
    onApi(async (api) => {
      await api.create(ranges, {
        metadata: { name: 'l' },
        spec: {
          limits: [
            {
              type: 'Container',
              min: { cpu: '100m' },
              max: { cpu: '1' },
              maxLimitRequestRatio: { cpu: '2' },
              default: { cpu: '150m' },
              defaultRequest: { cpu: '100m' },
            },
          ],
        },
      });
      const using = (request: string, limit: string) =>
        pod('a', { containers: [{ name: 'app', image: 'x', resources: { requests: { cpu: request }, limits: { cpu: limit } } }] });
      expect((await api.create(pods, using('50m', '50m'))).body.message).toBe(
        'pods "a" is forbidden: minimum cpu usage per Container is 100m, but request is 50m',
      );
      expect((await api.create(pods, using('500m', '2'))).body.message).toBe(
        'pods "a" is forbidden: [maximum cpu usage per Container is 1, but limit is 2, cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000]',
      );
      expect((await api.create(pods, using('500m', '1'))).code).toBe(201);
    }),
  );

  test(
    'claims are bounded as well',
    onApi(async (api) => {
      await api.create(ranges, {
        metadata: { name: 'l' },
        spec: { limits: [{ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } }] },
      });
      const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
      const claim = (storage: string) => ({ metadata: { name: 'c' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } } });
      expect((await api.create(claims, claim('6Gi'))).body.message).toBe(
        'persistentvolumeclaims "c" is forbidden: maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi',
      );
      expect((await api.create(claims, claim('1Mi'))).body.message).toBe(
        'persistentvolumeclaims "c" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi',
      );
      expect((await api.create(claims, claim('5Gi'))).code).toBe(201);
    }),
  );
});

test(
  "a pod gets its node's zone and region, when it is created on it and when it is bound to it",
  onApi(async (api) => {
    await api.create('/api/v1/nodes', {
      metadata: { name: 'n', labels: { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r', other: 'x' } },
    });
    const where = { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' };
    expect((await api.create(pods, pod('a', { nodeName: 'n' }))).body.metadata.labels).toEqual(where);
    await api.create(pods, pod('b', {}, { labels: { mine: 'y' } }));
    await api.create(`${pods}/b/binding`, { metadata: { name: 'b' }, target: { kind: 'Node', name: 'n' } });
    expect((await api.send('GET', `${pods}/b`)).body.metadata.labels).toEqual({ mine: 'y', ...where });
    expect((await api.create(pods, pod('c', { nodeName: 'gone' }))).body.metadata.labels).toBeUndefined();
  }),
);
