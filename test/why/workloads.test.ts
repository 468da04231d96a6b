import { describe, expect, test } from 'vitest';
import type { Deployment, Job, PodTemplateSpec, ReplicaSet, ResourceQuota, StatefulSet } from '../../src/api/generated/types.ts';
import { pod, pvc, uidOf } from '../storage/objects.ts';
import { answer, explanation, node, onNode } from './explain-objects.ts';

const meta = (kind: string, name: string) => ({ name, namespace: 'default', uid: uidOf(kind, name), creationTimestamp: '2025-01-01T00:00:00Z' });
const ownedBy = (kind: string, name: string) => ({ ownerReferences: [{ apiVersion: 'v1', kind, name, uid: uidOf(kind, name), controller: true }] });
const template = (requests: Record<string, string> = {}): PodTemplateSpec => ({
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'app', image: 'x', resources: { requests } }] },
});

const set = (replicas: number, status: Partial<StatefulSet['status']> = {}, more: Partial<StatefulSet['spec']> = {}): StatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: meta('StatefulSet', 'db'),
  spec: { replicas, selector: { matchLabels: { app: 'x' } }, template: template(), serviceName: 'db', updateStrategy: {}, ...more },
  status: { replicas: 0, availableReplicas: 0, ...status },
});
const dbPod = (ordinal: number, more: object = {}) => pod(`db-${ordinal}`, [], { ...more, metadata: ownedBy('StatefulSet', 'db') });
const quota = (hard: Record<string, string>, used: Record<string, string>): ResourceQuota => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: meta('ResourceQuota', 'q'),
  spec: { hard },
  status: { hard, used },
});

describe('a StatefulSet', () => {
  test('whose pods are ready', () => {
    expect(explanation('sts/db', [set(1, { readyReplicas: 1 }), dbPod(0, onNode('n1')), node('n1')])).toMatchObject({ verdict: 'fine', state: '1/1 ready' });
  });

  test('whose pod cannot be scheduled: the pod is explained', () => {
    const starved = dbPod(0, { spec: { nodeSelector: { disk: 'fast' } } });
    expect(explanation('statefulset.apps/db', [set(2), starved, node('n1')])).toMatchObject({
      verdict: 'stuck',
      code: 'NoPodReady',
      summary: '0 of 2 pods are ready; pod/db-0 is Pending.',
      parts: [{ about: { kind: 'pod', name: 'db-0' }, code: 'NodesRefuse' }],
    });
  });

  test('whose claim a quota refuses: it names the quota, what is requested and what is used', () => {
    const claims = { volumeClaimTemplates: [{ ...pvc('data', '5Gi'), metadata: { name: 'data' } }] };
    const objects = [
      set(2, { readyReplicas: 1 }, claims),
      dbPod(0, onNode('n1')),
      node('n1'),
      quota({ 'requests.storage': '8Gi' }, { 'requests.storage': '5Gi' }),
    ];
    expect(answer('sts/db', objects)).toMatchInlineSnapshot(`
      "
      sts/db in namespace default: 1/2 ready, for 5 minutes

      pvc/data-db-1, which pod/db-1 needs, cannot be created: ResourceQuota q refuses it.

        pods     1 of 2, 1 ready
        quota/q  requested: requests.storage=5Gi, used: requests.storage=5Gi, limited:
                 requests.storage=8Gi

      What would change it:
        - raise the limit of the quota
            kubectl -n default edit resourcequota q
        - or delete what is not needed in the namespace, or request less
            kubectl -n default describe resourcequota q

      Next: an administrator raises the quota; the controller tries again by itself.
      "
    `);
    // A claim that exists is not created again.
    expect(explanation('sts/db', [...objects, pvc('data-db-1', '5Gi')])).toMatchObject({ code: 'PodsMissing' });
  });

  test('whose pod a quota refuses', () => {
    const objects = [set(1, {}, { template: template({ cpu: '2' }) }), quota({ 'requests.cpu': '3', pods: '9' }, { 'requests.cpu': '1500m', pods: '1' })];
    expect(explanation('sts/db', objects)).toMatchObject({
      code: 'QuotaExceeded',
      summary: 'pod/db-0 cannot be created: ResourceQuota q refuses it.',
      facts: [{}, { label: 'quota/q', text: 'requested: requests.cpu=2, used: requests.cpu=1500m, limited: requests.cpu=3' }],
    });
  });

  test('whose pods are missing although nothing refuses them: the controller does not run', () => {
    expect(explanation('sts/db', [set(1), quota({ pods: '9' }, { pods: '1' })])).toMatchObject({
      verdict: 'stuck',
      code: 'PodsMissing',
      next: { who: 'the StatefulSet controller' },
    });
  });

  test('that does not exist', () => {
    expect(explanation('sts/dp', [set(1)])).toMatchObject({ verdict: 'absent', summary: 'There is no sts/dp in namespace default. Is sts/db meant?' });
  });
});

describe('a Deployment', () => {
  const deployment = (status: Partial<Deployment['status']> = {}): Deployment => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: meta('Deployment', 'web'),
    spec: { replicas: 2, selector: { matchLabels: { app: 'x' } }, template: template(), strategy: {} },
    status,
  });
  const replicaSet: ReplicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { ...meta('ReplicaSet', 'web-1'), ...ownedBy('Deployment', 'web') },
    spec: { replicas: 2, selector: { matchLabels: { app: 'x' } }, template: template() },
    status: { replicas: 0 },
  };
  const webPod = (name: string, more: object = {}) => pod(name, ['data'], { ...more, metadata: ownedBy('ReplicaSet', 'web-1') });

  test('whose pods wait for the same claim: it is explained once', () => {
    const objects = [deployment({ readyReplicas: 0 }), replicaSet, webPod('web-a'), webPod('web-b'), node('n1')];
    const { parts, code, verdict } = explanation('deploy/web', objects);
    expect({ code, verdict, parts: parts.map(({ about }) => about.name) }).toEqual({ code: 'NoPodReady', verdict: 'stuck', parts: ['web-a'] });
  });

  test('whose pods the server refuses', () => {
    const condition = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'admission webhook "x" denied the request' };
    expect(explanation('deployment/web', [deployment({ conditions: [condition as never] }), replicaSet])).toMatchObject({
      verdict: 'stuck',
      code: 'PodsRefused',
      summary: 'The server refuses its pods: admission webhook "x" denied the request.',
    });
  });
});

describe('a Job', () => {
  const job = (status: Job['status'], spec: Partial<Job['spec']> = {}): Job => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: meta('Job', 'load'),
    spec: { template: template(), ...spec },
    status,
  });

  test.each([
    ['Complete', {}, 'fine', 'The Job is complete.'],
    [
      'Failed',
      { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' },
      'stuck',
      'The Job has failed: Job has reached the specified backoff limit. It starts no more pods.',
    ],
  ])('that is %s', (type, more, verdict, summary) => {
    const conditions = [{ type, status: 'True', lastProbeTime: null, lastTransitionTime: '2025-01-01T00:01:00Z', ...more }];
    expect(explanation('job/load', [job({ conditions })])).toMatchObject({ state: type, verdict, summary });
  });

  test('that is suspended', () => {
    expect(explanation('job/load', [job({}, { suspend: true })])).toMatchObject({ verdict: 'waiting', code: 'Suspended' });
  });

  test('whose pod waits', () => {
    const waiting = pod('load-1', [], { spec: { nodeSelector: { disk: 'fast' } }, metadata: ownedBy('Job', 'load') });
    expect(explanation('job/load', [job({ active: 1 }), waiting, node('n1')])).toMatchObject({ verdict: 'stuck', parts: [{ code: 'NodesRefuse' }] });
  });

  test('whose pods a quota refuses', () => {
    expect(explanation('job/load', [job({}), quota({ pods: '1' }, { pods: '1' })])).toMatchObject({ code: 'QuotaExceeded' });
  });
});

describe('a ResourceQuota', () => {
  test('that has room, and one that has none', () => {
    expect(explanation('quota/q', [quota({ pods: '2' }, { pods: '1' })])).toMatchObject({ state: 'Free', verdict: 'fine' });
    expect(explanation('resourcequota/q', [quota({ pods: '2', 'requests.storage': '1Gi' }, { pods: '2', 'requests.storage': '1Mi' })])).toMatchObject({
      state: 'Full',
      verdict: 'waiting',
      summary: 'All of pods is used: the server refuses every object in namespace default that needs more of it.',
    });
  });
});
