import { describe, expect, test } from 'vitest';
import { defaultPodSecurity } from '../../../src/apiserver/admission/plugins/pod-security/configuration.ts';
import { Metrics } from '../../../src/apiserver/metrics/metrics.ts';
import { put } from '../../../src/store/contract.ts';
import { type ApiUnderTest, onApi, type Sent } from '../api-under-test.ts';

const labels = (modes: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(modes).map(([mode, value]) => [`pod-security.kubernetes.io/${mode}`, value]));

async function label(api: ApiUnderTest, modes: Readonly<Record<string, string | null>>, query = ''): Promise<Sent> {
  const body = { metadata: { labels: labels(modes as Record<string, string>) } };
  return api.send('PATCH', '/api/v1/namespaces/default', { body, query, contentType: 'application/merge-patch+json' });
}

const pods = '/api/v1/namespaces/default/pods';
const hostNetwork = { hostNetwork: true, containers: [{ name: 'app', image: 'pause' }] };
const pod = (name: string, spec: object = hostNetwork, metadata: object = {}) => ({ metadata: { name, ...metadata }, spec });
const violation = 'host namespaces (hostNetwork=true)';

describe('pods', () => {
  test(
    'that violate the enforced level are refused, by name or generated name',
    onApi(async (api) => {
      await label(api, { enforce: 'baseline' });
      expect((await api.create(pods, pod('a'))).body).toMatchObject({
        code: 403,
        reason: 'Forbidden',
        message: `pods "a" is forbidden: violates PodSecurity "baseline:latest": ${violation}`,
        details: { name: 'a', kind: 'pods' },
      });
      expect((await api.create(pods, pod('a', { containers: hostNetwork.containers }))).code).toBe(201);
      const generated = await api.create(pods, { metadata: { generateName: 'web-' }, spec: hostNetwork });
      expect(generated.body.message).toMatch(/^pods "web-[a-z0-9]{5}" is forbidden: violates PodSecurity "baseline:latest"/);
      expect((await api.create(pods, pod('dry'), 'dryRun=All')).code).toBe(403);
    }),
  );

  test(
    'are warned of in the level of warn, which follows enforce; a refused one is not',
    onApi(async (api) => {
      await label(api, { warn: 'restricted', 'warn-version': 'v1.20' });
      const made = await api.create(pods, pod('a', { containers: hostNetwork.containers }));
      expect(made.code).toBe(201);
      expect(made.warnings).toEqual([
        'would violate PodSecurity "restricted:v1.20": allowPrivilegeEscalation != false (container "app" must set securityContext.allowPrivilegeEscalation=false), runAsNonRoot != true (pod or container "app" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "app" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
      ]);
      await label(api, { enforce: 'baseline' });
      expect((await api.create(pods, pod('b'))).warnings).toEqual([]);
    }),
  );

  test(
    'are evaluated again when an image changes or an ephemeral container is added, and not for labels or statuses',
    onApi(async (api) => {
      await api.create(pods, pod('old'));
      await label(api, { enforce: 'baseline' });
      const merge = (patch: object, path = `${pods}/old`) => api.send('PATCH', path, { body: patch, contentType: 'application/strategic-merge-patch+json' });
      expect((await merge({ metadata: { labels: { a: 'b' } } })).code).toBe(200);
      expect((await merge({ status: { phase: 'Running' } }, `${pods}/old/status`)).code).toBe(200);
      expect((await merge({ spec: { containers: [{ name: 'app', image: 'other' }] } })).body).toMatchObject({ code: 403 });
      const debug = { spec: { ephemeralContainers: [{ name: 'debug', image: 'x', targetContainerName: 'app' }] } };
      expect((await merge(debug, `${pods}/old/ephemeralcontainers`)).body.message).toBe(
        `pods "old" is forbidden: violates PodSecurity "baseline:latest": ${violation}`,
      );
    }),
  );

  test(
    'of a namespace with an invalid label, from before there was this admission, are held to the restricted level',
    onApi(async (api) => {
      const key = '/registry/namespaces/default';
      const entry = await api.store.get(key);
      const namespace = JSON.parse(Buffer.from(entry?.value ?? []).toString());
      namespace.metadata.labels = labels({ enforce: 'odd' });
      await api.store.transact({ compares: [], writes: [put(key, Buffer.from(JSON.stringify(namespace)))] });
      expect((await api.create(pods, pod('a'))).body.message).toContain('violates PodSecurity "restricted:latest": host namespaces');
      const kept = await api.send('PATCH', '/api/v1/namespaces/default', {
        body: { metadata: { labels: { a: 'b' } } },
        contentType: 'application/merge-patch+json',
      });
      expect(kept.code).toBe(200);
    }),
  );
});

describe('workloads', () => {
  const template = { metadata: { labels: { app: 'x' } }, spec: hostNetwork };
  const selector = { matchLabels: { app: 'x' } };
  const jobSpec = { template: { ...template, spec: { ...hostNetwork, restartPolicy: 'Never' } } };
  const bodies: Readonly<Record<string, object>> = {
    '/apis/apps/v1/namespaces/default/deployments': { selector, template },
    '/apis/apps/v1/namespaces/default/replicasets': { selector, template },
    '/apis/apps/v1/namespaces/default/daemonsets': { selector, template },
    '/apis/apps/v1/namespaces/default/statefulsets': { selector, template, serviceName: 'x' },
    '/api/v1/namespaces/default/replicationcontrollers': { selector: { app: 'x' }, template },
    '/apis/batch/v1/namespaces/default/jobs': jobSpec,
    '/apis/batch/v1/namespaces/default/cronjobs': { schedule: '* * * * *', jobTemplate: { spec: jobSpec } },
  };

  test.each(Object.entries(bodies))('%s: they are warned of and never refused', (path, spec) =>
    onApi(async (api) => {
      await label(api, { enforce: 'baseline', audit: 'baseline' });
      const made = await api.create(path, { metadata: { name: 'x' }, spec });
      expect(made.code).toBe(201);
      expect(made.warnings).toContain(`would violate PodSecurity "baseline:latest": ${violation}`);
      const updated = await api.send('PATCH', `${path}/x`, { body: { metadata: { labels: { a: 'b' } } }, contentType: 'application/merge-patch+json' });
      expect(updated.warnings).toContain(`would violate PodSecurity "baseline:latest": ${violation}`);
      await label(api, { warn: 'privileged', audit: 'privileged' });
      expect((await api.create(path, { metadata: { name: 'y' }, spec })).warnings.filter((text) => text.includes('PodSecurity'))).toEqual([]);
    })(),
  );
});

describe('namespaces', () => {
  test(
    'have valid labels',
    onApi(async (api) => {
      const made = await api.create('/api/v1/namespaces', { metadata: { name: 'x', labels: labels({ enforce: 'strict', 'warn-version': '1.2' }) } });
      expect(made.body).toMatchObject({
        code: 422,
        message:
          'Namespace "x" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted, metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "1.2": must be "latest" or "v1.x"]',
      });
      expect((await label(api, { 'audit-version': 'v1.x' })).body.message).toBe(
        'Namespace "default" is invalid: metadata.labels[pod-security.kubernetes.io/audit-version]: Invalid value: "v1.x": must be "latest" or "v1.x"',
      );
    }),
  );

  test(
    'warn of their pods when more is enforced, and only then',
    onApi(async (api) => {
      for (const name of ['c', 'a', 'b']) await api.create(pods, pod(name));
      await api.create(pods, pod('port', { containers: [{ name: 'app', image: 'x', ports: [{ containerPort: 1, hostPort: 1 }] }] }));
      const owner = { apiVersion: 'v1', kind: 'ReplicationController', name: 'rc', uid: '1', controller: true };
      for (const name of ['owned-2', 'owned-1']) await api.create(pods, pod(name, { ...hostNetwork, hostPID: true }, { ownerReferences: [owner] }));
      expect((await label(api, { enforce: 'baseline' }, 'dryRun=All')).warnings).toEqual([
        'existing pods in namespace "default" violate the new PodSecurity enforce level "baseline:latest"',
        'a (and 4 other pods): host namespaces',
        'port: hostPort',
      ]);
      expect((await label(api, { enforce: 'baseline' })).warnings).toHaveLength(3);
      expect((await label(api, { enforce: 'baseline', warn: 'restricted' })).warnings).toEqual([]);
      expect((await label(api, { 'enforce-version': 'v1.30' })).warnings).toHaveLength(3);
      expect((await label(api, { enforce: 'privileged' })).warnings).toEqual([]);
    }),
  );

  test(
    'check at most 3,000 pods, one of each controller first',
    onApi(async (api) => {
      const owner = { apiVersion: 'v1', kind: 'ReplicationController', name: 'rc', uid: '1', controller: true };
      await api.create(pods, pod('p0', hostNetwork, { ownerReferences: [owner] }));
      const first = await api.store.get('/registry/pods/default/p0');
      const copy = (name: string) =>
        put(
          `/registry/pods/default/${name}`,
          Buffer.from(
            Buffer.from(first?.value ?? [])
              .toString()
              .replace('"name":"p0"', `"name":"${name}"`),
          ),
        );
      await api.store.transact({ compares: [], writes: Array.from({ length: 3_000 }, (_, at) => copy(`p${at + 1}`)) });
      await api.create(pods, pod('z', { ...hostNetwork, containers: [{ name: 'a', image: 'x', securityContext: { privileged: true } }] }));
      expect((await label(api, { enforce: 'baseline' })).warnings).toEqual([
        'new PodSecurity enforce level only checked against the first 3000 of 3002 existing pods',
        'existing pods in namespace "default" violate the new PodSecurity enforce level "baseline:latest"',
        'p0 (and 2998 other pods): host namespaces',
        'z: host namespaces, privileged',
      ]);
    }),
  );
});

describe('a configuration', () => {
  const metrics = new Metrics();
  const strict = { level: 'restricted', version: 'latest' } as const;
  const podSecurity = {
    defaults: { ...defaultPodSecurity.defaults, enforce: strict },
    exemptions: { usernames: new Set(['ann']), namespaces: new Set(['free']), runtimeClasses: new Set(['kata']) },
  };

  test(
    'has defaults and exemptions, which are counted',
    onApi(
      async (api) => {
        await api.namespace('free');
        expect((await api.create(pods, pod('a'))).body.message).toContain('violates PodSecurity "restricted:latest": host namespaces');
        expect((await api.create('/api/v1/namespaces/free/pods', pod('a'))).code).toBe(201);
        expect(
          (
            await api.send('PATCH', '/api/v1/namespaces/free', {
              body: { metadata: { labels: labels({ enforce: 'baseline', warn: 'restricted' }) } },
              contentType: 'application/merge-patch+json',
            })
          ).warnings,
        ).toEqual([]);
        expect((await api.create('/api/v1/namespaces', { metadata: { name: 'other', labels: labels({ enforce: 'privileged' }) } })).warnings).toEqual([]);
        const text = metrics.text();
        expect(text).toContain(
          'pod_security_evaluations_total{decision="deny",policy_level="restricted",policy_version="latest",mode="enforce",request_operation="create",resource="pod",subresource=""} 1',
        );
        expect(text).toContain('pod_security_exemptions_total{request_operation="create",resource="pod",subresource=""} 1');
      },
      1,
      { podSecurity, metrics },
    ),
  );

  test(
    'whose exempt namespace gets labels says that they are ignored',
    onApi(
      async (api) => {
        const made = await api.create('/api/v1/namespaces', {
          metadata: { name: 'free', labels: labels({ enforce: 'baseline', audit: 'restricted', 'audit-version': 'v1.3' }) },
        });
        expect(made.warnings).toEqual([
          'namespace "free" is exempt from Pod Security, and the policy (enforce=baseline:latest, audit=restricted:v1.3) will be ignored',
        ]);
      },
      1,
      { podSecurity },
    ),
  );
});
