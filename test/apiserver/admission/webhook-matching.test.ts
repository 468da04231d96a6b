import { describe, expect, test } from 'vitest';
import { configure, hook, map, maps, merge, mutating, patchOf, rule, validating, type Webhooks, withWebhooks } from '../webhooks-under-test.ts';

describe('which requests a webhook is asked about', () => {
  const asked = (webhooks: Webhooks): string[] =>
    webhooks.calls.map(({ review: { request } }) => `${request.operation} ${request.subResource ?? ''}${request.name}`);

  test(
    'rules name operations, groups, versions, resources, subresources and scopes',
    withWebhooks(async (api, webhooks) => {
      webhooks.behaviours.set('/v', () => ({ allowed: true }));
      const rules = [
        rule({ operations: ['CREATE'], resources: ['configmaps'], scope: 'Namespaced' }),
        rule({ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/status'] }),
        rule({ operations: ['*'], resources: ['persistentvolumes'], scope: 'Namespaced' }),
        rule({ operations: ['CREATE'], resources: ['namespaces'], scope: 'Cluster' }),
      ];
      await configure(api, validating, 'v', hook('v', { rules }));
      await api.create(maps, map('made'));
      await api.send('PATCH', `${maps}/made`, merge({ data: { a: 'b' } }));
      await api.create('/api/v1/namespaces', { metadata: { name: 'ns' } });
      await api.create('/api/v1/persistentvolumes', {
        metadata: { name: 'v' },
        spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/v' } },
      });
      await api.send('PATCH', '/api/v1/persistentvolumes/v/status', merge({ status: { phase: 'Available' } }));
      expect(asked(webhooks)).toEqual(['CREATE made', 'CREATE ns', 'UPDATE statusv']);
      expect(webhooks.calls[1]?.review.request.namespace).toBe('ns');
    }),
  );

  test(
    'selectors look at namespaces and objects, conditions at everything',
    withWebhooks(async (api, webhooks) => {
      webhooks.behaviours.set('/v', () => ({ allowed: true }));
      await api.create('/api/v1/namespaces', { metadata: { name: 'quiet', labels: { quiet: 'yes' } } });
      const selective = {
        namespaceSelector: { matchExpressions: [{ key: 'quiet', operator: 'DoesNotExist' }] },
        objectSelector: { matchLabels: { app: 'web' } },
        matchConditions: [{ name: 'no-robots', expression: "!request.userInfo.groups.exists(g, g == 'robots') && object.data.ask == 'yes'" }],
      };
      await configure(api, validating, 'v', hook('v', selective));
      const web = { labels: { app: 'web' } };
      await api.create(maps, map('asked', { ask: 'yes' }, web));
      await api.create(maps, map('other', { ask: 'yes' }));
      await api.create(maps, map('unmet', { ask: 'no' }, web));
      await api.create('/api/v1/namespaces/quiet/configmaps', map('quiet', { ask: 'yes' }, web));
      expect(asked(webhooks)).toEqual(['CREATE asked']);
      expect((await api.create(maps, map('failing', {}, web))).body).toMatchObject({
        code: 403,
        message: expect.stringMatching(/^configmaps "failing" is forbidden: expression '!request.*' resulted in error: no such key: data$/),
      });
    }),
  );

  test(
    'of a scale they see the scale, and change nothing else',
    withWebhooks(async (api, webhooks) => {
      const sets = '/apis/apps/v1/namespaces/default/replicasets';
      const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
      await api.create(sets, { metadata: { name: 'r' }, spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template } });
      webhooks.behaviours.set('/m', ({ object }) => patchOf({ op: 'replace', path: '/spec/replicas', value: Math.min(object.spec.replicas, 3) }));
      await configure(api, mutating, 'm', hook('m', { rules: [rule({ apiGroups: ['apps'], resources: ['replicasets/scale'] })] }));
      expect((await api.send('PATCH', `${sets}/r/scale`, merge({ spec: { replicas: 9 } }))).body).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });
      expect(webhooks.calls[0]?.review.request).toMatchObject({
        kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
        resource: { group: 'apps', version: 'v1', resource: 'replicasets' },
        subResource: 'scale',
        object: { kind: 'Scale', spec: { replicas: 9 } },
        oldObject: { kind: 'Scale', spec: { replicas: 1 } },
      });
      expect((await api.send('GET', `${sets}/r`)).body.spec).toMatchObject({ replicas: 3, template });
    }),
  );

  test(
    'never about webhooks and policies themselves',
    withWebhooks(async (api) => {
      const all = [rule({ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] })];
      await configure(api, validating, 'v', hook('v', { rules: all }));
      expect(await api.create(maps, map('x'))).toMatchObject({ code: 500 });
      expect(await api.send('PATCH', `${validating}/v`, merge({ metadata: { labels: { a: 'b' } } }))).toMatchObject({ code: 200 });
      expect(await api.send('DELETE', `${validating}/v`)).toMatchObject({ code: 200 });
      expect(await api.create(maps, map('x'))).toMatchObject({ code: 201 });
    }),
  );

  test(
    'a dry run asks those that do nothing elsewhere, and tells them',
    withWebhooks(async (api, webhooks) => {
      webhooks.behaviours.set('/v', () => ({ allowed: true }));
      await configure(api, validating, 'v', hook('v', { sideEffects: 'NoneOnDryRun' }));
      expect(await api.create(maps, map('x'), 'dryRun=All')).toMatchObject({ code: 201 });
      expect(webhooks.calls[0]?.review.request).toMatchObject({ dryRun: true, options: { dryRun: ['All'] } });
      expect(await api.send('GET', `${maps}/x`)).toMatchObject({ code: 404 });
    }),
  );

  test(
    'one version of an object stands for all of them, unless the webhook is exact',
    withWebhooks(async (api, webhooks) => {
      webhooks.behaviours.set('/v', () => ({ allowed: true }));
      webhooks.behaviours.set('/exact', () => ({ allowed: true }));
      const rules = [rule({ apiGroups: ['events.k8s.io'], resources: ['events'] })];
      await configure(api, validating, 'v', hook('v', { rules }), hook('exact', { rules, matchPolicy: 'Exact' }));
      const event = { metadata: { name: 'e' }, involvedObject: { namespace: 'default', name: 'x' }, reason: 'Why', message: 'that', type: 'Normal' };
      expect(await api.create('/api/v1/namespaces/default/events', event)).toMatchObject({ code: 201 });
      expect(webhooks.calls).toHaveLength(1);
      expect(webhooks.calls[0]?.review.request).toMatchObject({
        kind: { group: 'events.k8s.io', version: 'v1', kind: 'Event' },
        resource: { group: 'events.k8s.io', version: 'v1', resource: 'events' },
        requestKind: { group: '', version: 'v1', kind: 'Event' },
        requestResource: { group: '', version: 'v1', resource: 'events' },
        object: { apiVersion: 'events.k8s.io/v1', note: 'that' },
      });
    }),
  );
});

describe('a webhook behind a service', () => {
  const service = hook('s', { clientConfig: { service: { namespace: 'default', name: 'hooks', path: '/s', port: 443 } } });

  test(
    'is found at its ready endpoints',
    withWebhooks(async (api, webhooks) => {
      webhooks.behaviours.set('/s', () => ({ allowed: true }));
      await configure(api, validating, 'v', service);
      const why = async () => (await api.create(maps, map('x'))).body.message.split('?timeout=10s": ')[1];
      expect(await why()).toBe('service "hooks" not found');
      await api.create('/api/v1/namespaces/default/services', {
        metadata: { name: 'hooks' },
        spec: { selector: { a: 'b' }, ports: [{ port: 80, name: 'web' }] },
      });
      expect(await why()).toBe('no service port 443 found for service "hooks"');
      await api.send('PATCH', '/api/v1/namespaces/default/services/hooks', merge({ spec: { ports: [{ port: 443, name: 'https', targetPort: 9443 }] } }));
      expect(await why()).toBe('no endpoints available for service "hooks"');
      await api.create('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
        metadata: { name: 'hooks-1', labels: { 'kubernetes.io/service-name': 'hooks' } },
        addressType: 'IPv4',
        ports: [{ name: 'https', port: 9443 }],
        endpoints: [
          { addresses: ['10.1.0.1'], conditions: { ready: false } },
          { addresses: ['10.1.0.2'], conditions: { ready: true } },
        ],
      });
      expect(await api.create(maps, map('x'))).toMatchObject({ code: 201 });
      expect(webhooks.calls[0]).toMatchObject({ url: 'https://hooks.default.svc:443/s?timeout=10s', call: { dial: { host: '10.1.0.2', port: 9443 } } });
    }),
  );
});
