/** pods/ephemeralcontainers and pods/resize, as Kubernetes v1.36.4 has them. */
import { describe, expect, test } from 'vitest';
import { type ApiUnderTest, onApi } from '../api-under-test.ts';

const ns = '/api/v1/namespaces/default';
const pods = `${ns}/pods`;
const strategic = { contentType: 'application/strategic-merge-patch+json' };
const merge = { contentType: 'application/merge-patch+json' };

const burstable = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '200m', memory: '128Mi' } };
const pod = (spec: object = {}, metadata: object = {}) => ({
  metadata: { name: 'a', ...metadata },
  spec: { containers: [{ name: 'app', image: 'x', resources: burstable }], ...spec },
});
const resize = (api: ApiUnderTest, spec: object) => api.send('PATCH', `${pods}/a/resize`, { ...strategic, body: { spec } });
const debug = (api: ApiUnderTest, ...ephemeralContainers: object[]) =>
  api.send('PATCH', `${pods}/a/ephemeralcontainers`, { ...strategic, body: { spec: { ephemeralContainers } } });
const requests = (cpu: string) => ({ containers: [{ name: 'app', resources: { requests: { cpu } } }] });

describe('ephemeral containers', () => {
  test(
    'are added to a pod, and stay',
    onApi(async (api) => {
      await api.create(pods, pod());
      const added = await debug(api, { name: 'd', image: 'busybox', targetContainerName: 'app' });
      expect(added.code).toBe(200);
      expect(added.body.metadata.generation).toBe(2);
      expect(added.body.spec.ephemeralContainers).toEqual([
        {
          name: 'd',
          image: 'busybox',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'Always',
          targetContainerName: 'app',
        },
      ]);
      expect((await api.send('GET', `${pods}/a/ephemeralcontainers`)).body).toEqual(added.body);
      const gone = await api.send('PATCH', `${pods}/a/ephemeralcontainers`, { ...merge, body: { spec: { ephemeralContainers: [] } } });
      expect([gone.code, gone.body.message]).toEqual([
        422,
        'Pod "a" is invalid: spec.ephemeralContainers: Forbidden: existing ephemeral containers "d" may not be removed\n',
      ]);
      const changed = await debug(api, { name: 'd', image: 'alpine' });
      expect(changed.code).toBe(422);
      expect(changed.body.message).toContain('spec.ephemeralContainers: Forbidden: existing ephemeral containers "d" may not be changed\n@@ -1,6 +1,6 @@\n');
      expect(changed.body.message).toContain('- "Image": "busybox",\n+ "Image": "alpine",\n');
    }),
  );

  test(
    'are all that is written there',
    onApi(async (api) => {
      const { body } = await api.create(pods, pod({}, { labels: { a: 'b' } }));
      const sent = structuredClone(body);
      sent.metadata.labels = { c: 'd' };
      sent.spec.containers[0].image = 'y';
      sent.spec.ephemeralContainers = [{ name: 'd', image: 'busybox' }];
      const put = await api.send('PUT', `${pods}/a/ephemeralcontainers`, { body: sent });
      expect(put.code).toBe(200);
      expect([put.body.metadata.labels, put.body.spec.containers[0].image, put.body.spec.ephemeralContainers.length]).toEqual([{ a: 'b' }, 'x', 1]);
      expect((await api.send('PUT', `${pods}/a/ephemeralcontainers`, { body: sent })).code).toBe(409);
      expect((await api.send('POST', `${pods}/a/ephemeralcontainers`, { body: sent })).code).toBe(405);
      expect((await api.send('PATCH', `${pods}/b/ephemeralcontainers`, { ...merge, body: {} })).code).toBe(404);
      expect((await api.send('GET', `${ns}/configmaps/a/resize`)).code).toBe(404);
    }),
  );

  test(
    'are checked as containers are, and have less',
    onApi(async (api) => {
      await api.create(pods, pod());
      const refused = await debug(api, { name: 'app', image: 'x', ports: [{ containerPort: 80 }], targetContainerName: 'missing' });
      expect(refused.body.details.causes.map(({ field, reason }: { field: string; reason: string }) => `${reason} ${field}`)).toEqual([
        'FieldValueDuplicate spec.ephemeralContainers[0].name',
        'FieldValueNotFound spec.ephemeralContainers[0].targetContainerName',
        'FieldValueForbidden spec.ephemeralContainers[0].ports',
      ]);
    }),
  );

  test(
    'can be applied, by each who wants one',
    onApi(async (api) => {
      await api.create(pods, pod());
      const apply = (name: string) =>
        api.send('PATCH', `${pods}/a/ephemeralcontainers`, {
          query: `fieldManager=${name}`,
          contentType: 'application/apply-patch+yaml',
          body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { ephemeralContainers: [{ name, image: 'busybox' }] } },
        });
      expect((await apply('one')).code).toBe(200);
      const { code, body } = await apply('two');
      expect([code, body.spec.ephemeralContainers.map(({ name }: { name: string }) => name)]).toEqual([200, ['one', 'two']]);
      const applied = (body.metadata.managedFields as { operation: string; manager: string; subresource: string }[]).filter(
        (entry) => entry.operation === 'Apply',
      );
      expect(applied.map(({ manager, subresource }) => [manager, subresource])).toEqual([
        ['one', 'ephemeralcontainers'],
        ['two', 'ephemeralcontainers'],
      ]);
    }),
  );

  test(
    'are refused to static pods, and nothing else is said',
    onApi(async (api) => {
      expect(await api.create(pods, pod({ nodeName: 'n' }, { annotations: { 'kubernetes.io/config.mirror': 'x' } }))).toMatchObject({ code: 201 });
      const refused = await debug(api, { name: 'd', image: '' });
      expect(refused.body.message).toBe('Pod "a" is invalid: []: Forbidden: static pods do not support ephemeral containers');
      expect((await resize(api, requests('110m'))).body.message).toBe('Pod "a" is invalid: []: Forbidden: static pods cannot be resized');
    }),
  );
});

describe('resize', () => {
  test(
    'changes what containers may use, and nothing else',
    onApi(async (api) => {
      await api.create(pods, pod({ nodeName: '' }, { labels: { a: 'b' } }));
      const resized = await api.send('PATCH', `${pods}/a/resize`, {
        ...strategic,
        body: { metadata: { labels: { a: 'c' } }, spec: { containers: [{ name: 'app', image: 'y', resources: { requests: { cpu: '150m' } } }] } },
      });
      expect(resized.code).toBe(200);
      expect([resized.body.metadata.labels, resized.body.metadata.generation]).toEqual([{ a: 'b' }, 2]);
      expect(resized.body.spec.containers[0]).toMatchObject({ image: 'x', resources: { requests: { cpu: '150m', memory: '64Mi' }, limits: burstable.limits } });
      expect((await resize(api, requests('150m'))).body.metadata).toMatchObject({ generation: 2, resourceVersion: resized.body.metadata.resourceVersion });
      const elsewhere = await api.send('PATCH', `${pods}/a`, { ...strategic, body: { spec: requests('160m') } });
      expect(elsewhere.body.message).toContain('spec: Forbidden: pod updates may not change fields other than');
    }),
  );

  const said = (spec: object, change: object, why: string) =>
    onApi(async (api) => {
      await api.create(pods, pod(spec));
      expect((await api.send('PATCH', `${pods}/a/resize`, { ...merge, body: { spec: change } })).body.message).toBe(`Pod "a" is invalid: ${why}`);
    });
  const app = (resources: object, more: object = {}) => ({ containers: [{ name: 'app', image: 'x', resources, ...more }] });

  test(
    'keeps the QoS class',
    said(
      {},
      app({ requests: burstable.limits, limits: burstable.limits }),
      'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
    ),
  );

  test(
    'takes nothing away',
    said(
      {},
      app({ requests: { cpu: '1m' }, limits: { cpu: '200m' } }),
      '[spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed, spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed]',
    ),
  );

  test(
    'is of cpu and memory',
    said(
      {},
      app({ ...burstable, requests: { ...burstable.requests, 'ephemeral-storage': '1Gi' } }),
      'spec: Forbidden: only cpu and memory resources are mutable',
    ),
  );

  test(
    'does not change how containers are resized',
    said(
      {},
      app(burstable, { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }),
      'spec: Forbidden: only cpu and memory resources are mutable',
    ),
  );

  test(
    'adds, removes and renames no container',
    onApi(async (api) => {
      await api.create(pods, pod({ initContainers: [{ name: 'i', image: 'x' }] }));
      const put = async (change: (spec: Record<string, unknown>) => void) => {
        const { body } = await api.send('GET', `${pods}/a`);
        change(body.spec);
        return (await api.send('PUT', `${pods}/a/resize`, { body })).body.message as string;
      };
      expect(await put((spec) => void delete spec['initContainers'])).toBe(
        'Pod "a" is invalid: spec.initContainers: Forbidden: initContainers may not be added or removed on resize',
      );
      expect(
        await put((spec) => {
          spec['containers'] = [{ name: 'other', image: 'x', resources: burstable }];
        }),
      ).toBe('Pod "a" is invalid: spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize');
    }),
  );

  test(
    'is possible for init containers, and for the pod as a whole',
    onApi(async (api) => {
      await api.create(pods, pod({ resources: burstable, initContainers: [{ name: 'i', image: 'x', resources: { requests: { cpu: '10m' } } }] }));
      expect((await resize(api, { initContainers: [{ name: 'i', resources: { requests: { cpu: '20m' } } }] })).code).toBe(200);
      const whole = await resize(api, { resources: { requests: { cpu: '120m' } } });
      expect([whole.code, whole.body.spec.resources.requests, whole.body.metadata.generation]).toEqual([200, { cpu: '120m', memory: '64Mi' }, 3]);
      const removed = await api.send('PATCH', `${pods}/a/resize`, { ...merge, body: { spec: { resources: null } } });
      expect(removed.body.message).toContain('spec.resources: Forbidden: pod-level resources cannot be removed');
      const less = await api.send('PATCH', `${pods}/a/resize`, { ...merge, body: { spec: { resources: { requests: null, limits: { memory: null } } } } });
      expect(less.body.message).toContain('spec.resources.limits: Forbidden: pod-level resource limits cannot be removed');
    }),
  );

  test(
    'asks the node that the pod is on',
    onApi(async (api) => {
      const node = (labels: object, declaredFeatures: readonly string[]) => ({
        metadata: { name: 'n', labels },
        status: { allocatable: { cpu: '1', memory: '1Gi' }, declaredFeatures },
      });
      await api.create(pods, pod({ nodeName: 'n', resources: burstable }));
      expect((await resize(api, requests('90m'))).body.message).toBe('pods "a" is forbidden: node "n" not found');
      await api.create('/api/v1/nodes', node({ 'kubernetes.io/os': 'linux' }, []));
      await api.send('PATCH', '/api/v1/nodes/n/status', { ...merge, body: node({}, []) });
      expect((await resize(api, { resources: { requests: { cpu: '110m' } } })).body.message).toBe(
        'pods "a" is forbidden: pod update requires features InPlacePodLevelResourcesVerticalScaling which are not available on node "n"',
      );
      await api.send('PATCH', '/api/v1/nodes/n/status', { ...merge, body: node({}, ['InPlacePodLevelResourcesVerticalScaling']) });
      const tooMuch = await resize(api, { resources: { requests: { cpu: '1200m', memory: '2Gi' }, limits: { cpu: '2', memory: '3Gi' } } });
      expect(tooMuch.body).toMatchObject({
        code: 403,
        message: `pods "a" is forbidden: node didn't have enough allocatable resources: cpu, requested: 1200, allocatable: 1000; memory, requested: 2147483648, allocatable: 1073741824`,
        details: { name: 'a', kind: 'pods', causes: [{ reason: 'NodeCapacity' }] },
      });
      await api.send('PATCH', '/api/v1/nodes/n', { ...merge, body: { metadata: { labels: { 'kubernetes.io/os': 'windows' } } } });
      expect((await resize(api, { resources: { requests: { cpu: '110m' } } })).body.message).toBe(
        'pods "a" is forbidden: pod resize is only supported on linux nodes, node "n" is "windows"',
      );
    }),
  );

  test(
    'counts against limits and quotas',
    onApi(async (api) => {
      await api.create(pods, pod());
      await api.create(`${ns}/limitranges`, { metadata: { name: 'l' }, spec: { limits: [{ type: 'Container', max: { cpu: '300m' } }] } });
      const limits = (cpu: string) => ({ containers: [{ name: 'app', resources: { limits: { cpu } } }] });
      expect((await resize(api, limits('400m'))).body.message).toBe('pods "a" is forbidden: maximum cpu usage per Container is 300m, but limit is 400m');
      await api.create(`${ns}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard: { 'requests.cpu': '120m' } } });
      await api.send('PATCH', `${ns}/resourcequotas/q/status`, {
        ...merge,
        body: { status: { hard: { 'requests.cpu': '120m' }, used: { 'requests.cpu': '100m' } } },
      });
      expect((await resize(api, requests('130m'))).body.message).toBe(
        'pods "a" is forbidden: exceeded quota: q, requested: requests.cpu=30m, used: requests.cpu=100m, limited: requests.cpu=120m',
      );
      expect((await resize(api, requests('120m'))).code).toBe(200);
      expect((await api.send('GET', `${ns}/resourcequotas/q`)).body.status.used).toEqual({ 'requests.cpu': '120m' });
    }),
  );
});
