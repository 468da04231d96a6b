import { describe, expect, test } from 'vitest';
import { parseRequestInfo } from '../../../src/api/request-info.ts';
import { type ApiUnderTest, onApi } from '../api-under-test.ts';

const ns = '/api/v1/namespaces/default';
const pods = `${ns}/pods`;
const merge = { contentType: 'application/merge-patch+json' };
const pod = (name: string, spec: object = {}, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'app', image: 'x' }], ...spec },
});
const setStatus = (api: ApiUnderTest, name: string, status: object) => api.send('PATCH', `${pods}/${name}/status`, { ...merge, body: { status } });
const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };

describe('status', () => {
  test(
    'and the rest are written apart',
    onApi(async (api) => {
      const { body } = await api.create(pods, { ...pod('a'), status: { phase: 'Running' } });
      expect(body.status.phase).toBe('Pending');
      const main = await api.send('PATCH', `${pods}/a`, { ...merge, body: { metadata: { labels: { a: 'b' } }, status: { phase: 'Failed' } } });
      expect(main.body).toMatchObject({ metadata: { labels: { a: 'b' } }, status: { phase: 'Pending' } });
      const status = await api.send('PATCH', `${pods}/a/status`, {
        ...merge,
        body: { metadata: { annotations: { c: 'd' } }, spec: { nodeName: 'n' }, status: { phase: 'Running' } },
      });
      expect(status.body).toMatchObject({ metadata: { annotations: { c: 'd' } }, status: { phase: 'Running' } });
      expect(status.body.spec.nodeName).toBeUndefined();
      expect((await api.send('GET', `${pods}/a/status`)).body).toEqual(status.body);
      expect((await api.send('PUT', `${pods}/a/status`, { body: body })).code).toBe(409);
      expect((await api.send('POST', `${pods}/a/status`, { body })).code).toBe(405);
      expect((await api.send('GET', `${ns}/configmaps/x/status`)).code).toBe(404);
    }),
  );

  test(
    'does not make a generation, a new spec does',
    onApi(async (api) => {
      const sets = '/apis/apps/v1/namespaces/default/statefulsets';
      const set = {
        metadata: { name: 's', generation: 7 },
        spec: { serviceName: 's', selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: pod('x').spec } },
      };
      expect((await api.create(sets, set)).body.metadata.generation).toBe(1);
      const patch = async (path: string, body: object) => (await api.send('PATCH', `${sets}/${path}`, { ...merge, body })).body.metadata.generation;
      expect(await patch('s', { metadata: { labels: { x: 'y' } } })).toBe(1);
      expect(await patch('s/status', { status: { replicas: 1 } })).toBe(1);
      expect(await patch('s', { spec: { replicas: 3 } })).toBe(2);
    }),
  );

  test(
    'may carry an annotation of a Deployment, which makes a generation only if it is written with the rest',
    onApi(async (api) => {
      const deployments = '/apis/apps/v1/namespaces/default/deployments';
      const template = { metadata: { labels: { a: 'b' } }, spec: pod('x').spec };
      await api.create(deployments, { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } });
      const annotate = async (path: string, a: string) =>
        (await api.send('PATCH', `${deployments}/${path}`, { ...merge, body: { metadata: { annotations: { a } } } })).body.metadata;
      expect(await annotate('d/status', '1')).toMatchObject({ annotations: { a: '1' }, generation: 1 });
      expect(await annotate('d', '2')).toMatchObject({ annotations: { a: '2' }, generation: 2 });
    }),
  );
});

describe('scale', () => {
  const sets = '/apis/apps/v1/namespaces/default/statefulsets';
  const template = { metadata: { labels: { app: 'db' } }, spec: pod('x').spec };
  const onSet = (body: (api: ApiUnderTest) => Promise<void>) =>
    onApi(async (api) => {
      await api.create(sets, { metadata: { name: 'db' }, spec: { replicas: 2, serviceName: 'db', selector: { matchLabels: { app: 'db' } }, template } });
      await body(api);
    });

  test(
    'is read, put and patched as an object of its own',
    onSet(async (api) => {
      const { body, code } = await api.send('GET', `${sets}/db/scale`);
      expect(code).toBe(200);
      expect(body).toEqual({
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: { name: 'db', namespace: 'default', uid: expect.any(String), resourceVersion: expect.any(String), creationTimestamp: expect.any(String) },
        spec: { replicas: 2 },
        status: { replicas: 0, selector: 'app=db' },
      });
      expect((await api.send('PUT', `${sets}/db/scale`, { body: { ...body, spec: { replicas: 5 } } })).body.spec.replicas).toBe(5);
      expect((await api.send('PUT', `${sets}/db/scale`, { body: { ...body, spec: { replicas: 6 } } })).body).toMatchObject({ code: 409, reason: 'Conflict' });
      for (const [contentType, patch] of [
        ['application/merge-patch+json', { spec: { replicas: 7 } }],
        ['application/strategic-merge-patch+json', { spec: { replicas: 8 } }],
        ['application/json-patch+json', [{ op: 'replace', path: '/spec/replicas', value: 9 }]],
      ] as const) {
        expect((await api.send('PATCH', `${sets}/db/scale`, { contentType, body: patch })).code).toBe(200);
      }
      const set = (await api.send('GET', `${sets}/db`)).body;
      expect(set.spec.replicas).toBe(9);
      expect(set.metadata.generation).toBe(5);
    }),
  );

  test(
    'refuses what makes no sense',
    onSet(async (api) => {
      expect((await api.send('PATCH', `${sets}/db/scale`, { ...merge, body: { spec: { replicas: -1 } } })).body).toMatchObject({
        code: 422,
        message: 'Scale.autoscaling "db" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      });
      expect((await api.send('PUT', `${sets}/db/scale`, { body: { metadata: { name: 'db', uid: 'other' }, spec: { replicas: 1 } } })).body).toMatchObject({
        code: 409,
        message: expect.stringContaining('Operation cannot be fulfilled on statefulsets/scale.apps "db": Precondition failed: UID in precondition: other'),
      });
      expect((await api.send('PUT', `${sets}/nope/scale`, { body: { metadata: { name: 'nope' }, spec: {} } })).code).toBe(404);
      expect((await api.send('GET', `${pods}/nope/scale`)).code).toBe(404);
    }),
  );
});

describe('binding', () => {
  test(
    'assigns a pod to a node, once',
    onApi(async (api) => {
      await api.create(pods, pod('a'));
      const bind = (node: string, more: object = {}) =>
        api.create(`${pods}/a/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a', ...more }, target: { kind: 'Node', name: node } });
      expect((await bind('n1', { uid: 'other' })).body).toMatchObject({
        code: 409,
        message: expect.stringContaining('Precondition failed: UID in precondition: other'),
      });
      expect(await bind('n1', { annotations: { by: 'me' } })).toMatchObject({ code: 201, body: { status: 'Success' } });
      const bound = (await api.send('GET', `${pods}/a`)).body;
      expect(bound).toMatchObject({ metadata: { annotations: { by: 'me' } }, spec: { nodeName: 'n1' } });
      expect(bound.status.conditions).toContainEqual({ type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: expect.any(String) });
      expect((await bind('n2')).body).toMatchObject({
        code: 409,
        reason: 'Conflict',
        message: 'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"',
        details: { kind: 'pods/binding', name: 'a' },
      });
    }),
  );

  test(
    'the old way, through the namespace, and what is refused',
    onApi(async (api) => {
      await api.create(pods, pod('a'));
      expect((await api.create(`${ns}/bindings`, { metadata: { name: 'a' }, target: { name: 'n' } })).code).toBe(201);
      expect((await api.create(`${ns}/bindings`, { metadata: { name: 'nope' }, target: { name: 'n' } })).code).toBe(404);
      expect((await api.create(`${pods}/a/binding`, { metadata: { name: 'b' }, target: { name: 'n' } })).body.message).toBe(
        'name in URL does not match name in Binding object',
      );
      expect((await api.create(`${pods}/a/binding`, { metadata: { name: 'a' }, target: { kind: 'Pod' } })).code).toBe(422);
      await api.create(pods, pod('gated', { schedulingGates: [{ name: 'example.com/gate' }] }));
      expect((await api.create(`${ns}/bindings`, { metadata: { name: 'gated' }, target: { name: 'n' } })).body.message).toContain(
        'pod gated has non-empty .spec.schedulingGates',
      );
    }),
  );

  test(
    'of two schedulers one wins',
    onApi(async (api) => {
      await api.create(pods, pod('a'));
      const outcomes = await Promise.all(['n1', 'n2', 'n3'].map((name) => api.create(`${pods}/a/binding`, { metadata: { name: 'a' }, target: { name } })));
      expect(outcomes.map(({ code }) => code).sort((a, b) => a - b)).toEqual([201, 409, 409]);
    }),
  );
});

describe('eviction', () => {
  const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
  const evict = (api: ApiUnderTest, name: string, more: object = {}) =>
    api.create(`${pods}/${name}/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, ...more });
  const guarded = async (api: ApiUnderTest, allowed: number) => {
    await api.create(budgets, { metadata: { name: 'b' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'x' } } } });
    await api.send('PATCH', `${budgets}/b/status`, {
      ...merge,
      body: { status: { observedGeneration: 1, disruptionsAllowed: allowed, currentHealthy: 1 + allowed, desiredHealthy: 1, expectedPods: 3 } },
    });
    for (const name of ['a', 'b', 'c']) {
      await api.create(pods, pod(name, { nodeName: 'n', terminationGracePeriodSeconds: 30 }, { labels: { app: 'x' } }));
      await setStatus(api, name, ready);
    }
  };

  test(
    'decrements the budget with each pod, down to zero',
    onApi(async (api) => {
      await guarded(api, 1);
      const outcomes = await Promise.all(['a', 'b', 'c'].map((name) => evict(api, name)));
      expect(outcomes.map(({ code }) => code).sort((a, b) => a - b)).toEqual([201, 429, 429]);
      const refused = outcomes.find(({ code }) => code === 429);
      expect(refused?.body).toMatchObject({
        reason: 'TooManyRequests',
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        details: { causes: [{ reason: 'DisruptionBudget', message: 'The disruption budget b does not allow evicting pods currently' }] },
      });
      const { status } = (await api.send('GET', `${budgets}/b`)).body;
      expect(status.disruptionsAllowed).toBe(0);
      expect(Object.keys(status.disruptedPods)).toHaveLength(1);
      expect(status.conditions).toMatchObject([{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }]);
      const gone = (await api.send('GET', `${pods}/${Object.keys(status.disruptedPods)[0]}`)).body;
      expect(gone.metadata.deletionTimestamp).toBeDefined();
      expect(gone.status.conditions).toContainEqual(
        expect.objectContaining({ type: 'DisruptionTarget', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' }),
      );
    }),
  );

  test(
    'is refused by an invalid budget, or one with too many unconfirmed evictions',
    onApi(async (api) => {
      await guarded(api, 1);
      const many = Object.fromEntries(Array.from({ length: 2001 }, (_, i) => [`p${i}`, '2026-01-01T00:00:00Z']));
      await api.send('PATCH', `${budgets}/b/status`, { ...merge, body: { status: { disruptedPods: many } } });
      expect((await evict(api, 'a')).body).toMatchObject({
        code: 403,
        message: 'poddisruptionbudget.policy "b" is forbidden: DisruptedPods map too big - too many evictions not confirmed by PDB controller',
        details: { name: 'b', group: 'policy', kind: 'poddisruptionbudget' },
      });
      expect((await evict(api, 'a')).body.details).not.toHaveProperty('causes');
    }),
  );

  test(
    'an unready pod is evicted without the budget if enough others are healthy or the policy is AlwaysAllow',
    onApi(async (api) => {
      await guarded(api, 0);
      await setStatus(api, 'a', { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] });
      expect((await evict(api, 'a')).code).toBe(201);
      await api.send('PATCH', `${budgets}/b/status`, { ...merge, body: { status: { currentHealthy: 0 } } });
      await setStatus(api, 'b', { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] });
      expect((await evict(api, 'b')).body).toMatchObject({
        code: 429,
        details: { causes: [{ reason: 'DisruptionBudget', message: 'The disruption budget b needs 1 healthy pods and has 0 currently' }] },
      });
      await api.send('PATCH', `${budgets}/b`, { ...merge, body: { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } } });
      expect((await evict(api, 'b')).code).toBe(201);
      expect((await api.send('GET', `${budgets}/b`)).body.status).not.toHaveProperty('disruptedPods');
    }),
  );

  test(
    'pods that do not run, and dry runs, do not use the budget',
    onApi(async (api) => {
      await guarded(api, 1);
      expect((await evict(api, 'a', { deleteOptions: { dryRun: ['All'] } })).code).toBe(201);
      await setStatus(api, 'a', { phase: 'Succeeded' });
      expect((await evict(api, 'a')).code).toBe(201);
      expect((await api.send('GET', `${budgets}/b`)).body.status.disruptionsAllowed).toBe(1);
      expect((await api.send('GET', `${pods}/a`)).code).toBe(404);
    }),
  );

  test(
    'is accepted as policy/v1 and policy/v1beta1',
    onApi(async (api) => {
      await guarded(api, 1);
      expect((await evict(api, 'a', { apiVersion: 'policy/v1beta1' })).code).toBe(201);
      expect((await evict(api, 'b', { apiVersion: 'policy/v2' })).body).toMatchObject({
        code: 400,
        message: expect.stringContaining('no kind "Eviction" is registered for version "policy/v2"'),
      });
    }),
  );

  test(
    'a budget without an observed generation allows nothing; two budgets are an error',
    onApi(async (api) => {
      await guarded(api, 1);
      await api.send('PATCH', `${budgets}/b`, { ...merge, body: { spec: { minAvailable: 2 } } });
      expect((await evict(api, 'a')).body).toMatchObject({
        code: 429,
        details: { retryAfterSeconds: 10, causes: [{ message: 'The disruption budget b is still being processed by the server.' }] },
      });
      await api.create(budgets, { metadata: { name: 'c' }, spec: { selector: {} } });
      expect((await evict(api, 'a')).body).toMatchObject({
        code: 500,
        message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      });
      expect((await evict(api, 'nope')).code).toBe(404);
    }),
  );
});

describe('a namespace', () => {
  test(
    'is Terminating until it is empty',
    onApi(async (api) => {
      await api.namespace('n');
      const deleted = await api.send('DELETE', '/api/v1/namespaces/n');
      expect(deleted.body).toMatchObject({
        kind: 'Namespace',
        metadata: { deletionTimestamp: expect.any(String) },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Terminating' },
      });
      expect((await api.send('DELETE', '/api/v1/namespaces/n')).body).toEqual(deleted.body);
      await api.send('PATCH', '/api/v1/namespaces/n', { ...merge, body: { spec: { finalizers: null } } });
      expect((await api.send('GET', '/api/v1/namespaces/n')).body.spec.finalizers).toEqual(['kubernetes']);
      const finalized = await api.send('PUT', '/api/v1/namespaces/n/finalize', { body: { ...deleted.body, spec: {} } });
      expect(finalized.code).toBe(200);
      expect((await api.send('GET', '/api/v1/namespaces/n')).code).toBe(404);
    }),
  );

  test(
    'of the system cannot be deleted',
    onApi(async (api) => {
      expect((await api.send('DELETE', '/api/v1/namespaces/default')).body).toMatchObject({
        code: 403,
        message: 'namespaces "default" is forbidden: this namespace may not be deleted',
      });
    }),
  );
});

describe('tokens', () => {
  const token = (api: ApiUnderTest, spec: object, metadata: object = {}) => api.create(`${ns}/serviceaccounts/default/token`, { metadata, spec });

  test(
    'have the requested audience, expiration and bound object',
    onApi(async (api) => {
      await api.create('/api/v1/nodes', { metadata: { name: 'n' } });
      await api.create(pods, pod('a', { nodeName: 'n' }));
      const { code, body } = await token(api, { audiences: ['me'], expirationSeconds: 600, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'a' } });
      expect(code).toBe(201);
      expect(body).toMatchObject({
        kind: 'TokenRequest',
        spec: { audiences: ['me'], expirationSeconds: 600 },
        status: { expirationTimestamp: expect.any(String) },
      });
      expect(JSON.parse(body.status.token)).toMatchObject({
        namespace: 'default',
        name: 'default',
        audiences: ['me'],
        expirationSeconds: 600,
        boundObject: { kind: 'Pod', name: 'a' },
        node: { name: 'n' },
      });
      expect((await token(api, {})).body.spec).toMatchObject({ audiences: ['api'], expirationSeconds: 3600 });
    }),
  );

  test(
    'name the node that exists now, not an earlier one of that name',
    onApi(async (api) => {
      const ofPod = async () => JSON.parse((await token(api, { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'a' } })).body.status.token).node;
      const create = async () => (await api.create('/api/v1/nodes', { metadata: { name: 'n' } })).body.metadata.uid;
      const first = await create();
      await api.create(pods, pod('a', { nodeName: 'n' }));
      expect(await ofPod()).toEqual({ name: 'n', uid: first });
      await api.send('DELETE', '/api/v1/nodes/n');
      expect(await ofPod()).toEqual({ name: 'n', uid: '' });
      const second = await create();
      expect(await ofPod()).toEqual({ name: 'n', uid: second });
    }),
  );

  test(
    'name the ServiceAccount and the Secret that exist now, not earlier ones of that name',
    onApi(async (api) => {
      const [account, secret] = [`${ns}/serviceaccounts`, `${ns}/secrets`];
      const spec = { boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 'robot' } };
      const create = async (path: string) => (await api.create(path, { metadata: { name: 'robot' } })).body.metadata.uid;
      for (let life = 1; life <= 2; life++) {
        const [uid, boundUid] = [await create(account), await create(secret)];
        const { body } = await api.create(`${account}/robot/token`, { spec });
        expect(JSON.parse(body.status.token)).toMatchObject({ uid, boundObject: { kind: 'Secret', name: 'robot', uid: boundUid } });
        for (const path of [account, secret]) await api.send('DELETE', `${path}/robot`);
      }
    }),
  );

  test(
    'are admitted before they are issued',
    onApi(async (api) => {
      await api.create('/api/v1/nodes', { metadata: { name: 'n' } });
      const query = new URLSearchParams();
      const asked = api.api.handle({
        info: parseRequestInfo('POST', `${ns}/serviceaccounts/default/token`, query),
        query,
        user: { name: 'system:node:n', groups: ['system:nodes', 'system:authenticated'] },
        userAgent: 'test',
        body: {
          type: 'object',
          contentType: 'application/json',
          object: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} },
        },
      });
      await expect(asked).rejects.toThrow('node requested token not bound to a pod');
    }),
  );

  test(
    'are refused where they make no sense',
    onApi(async (api) => {
      await api.create(`${ns}/serviceaccounts`, { metadata: { name: 'other' } });
      await api.create(pods, pod('a', { serviceAccountName: 'other' }));
      expect((await token(api, { expirationSeconds: 1 })).body.message).toBe(
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes',
      );
      expect((await token(api, { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'a' } })).body.message).toBe(
        'cannot bind token for serviceaccount "default" to pod running with different serviceaccount name.',
      );
      expect((await token(api, { boundObjectRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' } })).body.message).toBe(
        'cannot bind token to object of type /v1, Kind=ConfigMap',
      );
      expect((await token(api, {}, { uid: 'x' })).code).toBe(409);
      expect((await token(api, {}, { name: 'x' })).code).toBe(422);
      expect((await api.create(`${ns}/serviceaccounts/nope/token`, { spec: {} })).code).toBe(404);
    }),
  );
});

test(
  'subresources of running pods are not available',
  onApi(async (api) => {
    await api.create(pods, pod('a'));
    for (const part of ['log', 'exec', 'portforward', 'attach']) expect((await api.send('GET', `${pods}/a/${part}`)).code, part).toBe(501);
    expect((await api.send('GET', `${pods}/a/nonsense`)).code).toBe(404);
  }),
);
