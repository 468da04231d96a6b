/** What is wrong at rest is found, and nothing else is. */
import { describe, expect, test } from 'vitest';
import { StoredObjects, wrongAtRest } from './at-rest.ts';

type Given = Readonly<Record<string, object>>;

const wrong = (given: Given): string | undefined =>
  wrongAtRest(new StoredObjects(Object.entries(given).map(([key, object]) => ({ key: `/registry/${key}`, value: Buffer.from(JSON.stringify(object)) }))));

const meta = (name: string, more: object = {}) => ({ metadata: { namespace: 'default', name, uid: name, generation: 1, ...more } });
const ownedBy = (uid: string) => ({ ownerReferences: [{ uid, name: uid, kind: 'Owner', apiVersion: 'v1', controller: true }] });
const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const node = { kind: 'Node', ...meta('node-1'), spec: {}, status: { conditions: [{ type: 'Ready', status: 'True' }] } };
const pod = (name: string, owner: string, more: object = {}) => ({
  kind: 'Pod',
  ...meta(name, { ...ownedBy(owner), labels: { app: 'site', 'controller-revision-hash': 'new' } }),
  spec: { nodeName: 'node-1' },
  status: ready,
  ...more,
});
const template = { metadata: { labels: { app: 'site' } }, spec: { containers: [] } };
const counts = { observedGeneration: 1, replicas: 1, readyReplicas: 1, availableReplicas: 1 };
const replicaSet = (status: object = counts) => ({
  kind: 'ReplicaSet',
  ...meta('set', { ...ownedBy('deployment'), annotations: { 'deployment.kubernetes.io/revision': '2' } }),
  spec: { replicas: 1, template: { ...template, metadata: { labels: { app: 'site', 'pod-template-hash': 'x' } } } },
  status,
});
const deployment = (status: object = {}, more: object = {}) => ({
  kind: 'Deployment',
  ...meta('deployment'),
  spec: { replicas: 1, template, ...more },
  status: { ...counts, updatedReplicas: 1, ...status },
});
const site: Given = { 'nodes/node-1': node, 'apps/deployments/d': deployment(), 'apps/replicasets/s': replicaSet(), 'pods/p': pod('pod', 'set') };

describe('Deployments', () => {
  test('one whose pods run, and that says so, is right', () => expect(wrong(site)).toBeUndefined());

  test.each<[string, Given, RegExp]>([
    ['a count of the Deployment', { 'apps/deployments/d': deployment({ readyReplicas: 0 }) }, /status.readyReplicas of Deployment/],
    [
      'a template that no ReplicaSet has',
      { 'apps/deployments/d': deployment({}, { template: { ...template, spec: {} } }) },
      /has 0 ReplicaSets of its template/,
    ],
    [
      'a generation that was not observed',
      { 'apps/replicasets/s': replicaSet({ ...counts, observedGeneration: 0 }) },
      /status.observedGeneration of ReplicaSet/,
    ],
    ['one pod too many', { 'pods/q': pod('other', 'set') }, /has 2 pods, and should have 1/],
    ['a pod that does not run', { 'pods/p': pod('pod', 'set', { status: { phase: 'Pending' } }) }, /needs nothing but its node/],
    ['a pod whose owner is gone', { 'pods/q': pod('other', 'gone') }, /its owner does not/],
    [
      'a finalizer of the garbage collector',
      { 'pods/q': { kind: 'Pod', ...meta('q', { finalizers: ['orphan'] }), spec: {}, status: {} } },
      /still has the finalizer orphan/,
    ],
  ])('%s', (_, change, expected) => expect(wrong({ ...site, ...change })).toMatch(expected));
});

const revision = (name: string, number: number, data: object = { spec: { template: { ...template, $patch: 'replace' } } }) => ({
  kind: 'ControllerRevision',
  ...meta(name, { ...ownedBy('agent'), labels: { 'controller-revision-hash': name } }),
  revision: number,
  data,
});
const scheduled = { desiredNumberScheduled: 1, currentNumberScheduled: 1, updatedNumberScheduled: 1, numberReady: 1, numberAvailable: 1, numberUnavailable: 0 };
const daemonSet = (status: object = {}) => ({
  kind: 'DaemonSet',
  ...meta('agent'),
  spec: { template, revisionHistoryLimit: 0 },
  status: { observedGeneration: 1, ...scheduled, ...status },
});
const agent: Given = {
  'nodes/node-1': node,
  'apps/daemonsets/a': daemonSet(),
  'apps/controllerrevisions/new': revision('new', 2),
  'pods/a': pod('agent-pod', 'agent'),
};

describe('DaemonSets', () => {
  test('one with a pod on each node is right', () => expect(wrong(agent)).toBeUndefined());

  test.each<[string, Given, RegExp]>([
    ['a node without a pod', { 'nodes/node-2': { ...node, ...meta('node-2') } }, /has 0 pods on node-2/],
    ['a count', { 'apps/daemonsets/a': daemonSet({ numberReady: 0 }) }, /status.numberReady of DaemonSet/],
    ['an old revision that no pod has', { 'apps/controllerrevisions/old': revision('old', 1, {}) }, /has 1 old revisions, and keeps 0/],
    ['a newest revision of another template', { 'apps/controllerrevisions/newer': revision('newer', 3, {}) }, /is not that of its template/],
  ])('%s', (_, change, expected) => expect(wrong({ ...agent, ...change })).toMatch(expected));

  test('a node with a taint that its pods do not tolerate needs none', () =>
    expect(
      wrong({ ...agent, 'nodes/node-2': { ...node, ...meta('node-2'), spec: { taints: [{ key: 'example.com/a', effect: 'NoSchedule' }] } } }),
    ).toBeUndefined());
});

const complete = { conditions: [{ type: 'Complete', status: 'True' }], succeeded: 1 };
const job = (status: object) => ({ kind: 'Job', ...meta('job'), spec: { completions: 1 }, status });
const ended = (more: object = {}) => ({ kind: 'Pod', ...meta('job-pod', { ...ownedBy('job'), ...more }), spec: {}, status: { phase: 'Succeeded' } });
const budget = (status: object) => ({
  kind: 'PodDisruptionBudget',
  ...meta('budget'),
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'site' } } },
  status: { observedGeneration: 1, expectedPods: 1, currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 0, ...status },
});
const volume = (claimRef: object) => ({
  kind: 'PersistentVolume',
  ...meta('volume', { annotations: { 'pv.kubernetes.io/provisioned-by': 'disks' } }),
  spec: { persistentVolumeReclaimPolicy: 'Delete', claimRef },
});

describe('Others', () => {
  test.each<[string, Given]>([
    ['a complete Job', { 'batch/jobs/j': job(complete), 'pods/p': ended() }],
    ['a suspended CronJob', { 'batch/cronjobs/c': { kind: 'CronJob', ...meta('idle'), spec: {}, status: {} } }],
    ['a budget', { ...site, 'policy/poddisruptionbudgets/b': budget({}) }],
  ])('%s is right', (_, given) => expect(wrong(given)).toBeUndefined());

  test.each<[string, Given, RegExp]>([
    ['a Job that counts too few', { 'batch/jobs/j': job({ ...complete, succeeded: 0 }) }, /is complete, and 0 of 1 pods have succeeded/],
    [
      'a pod that keeps the finalizer of a Job',
      { 'batch/jobs/j': job(complete), 'pods/p': ended({ finalizers: ['batch.kubernetes.io/job-tracking'] }) },
      /still has a finalizer/,
    ],
    [
      'a suspended CronJob that has started a Job',
      { 'batch/cronjobs/c': { kind: 'CronJob', ...meta('idle'), spec: {}, status: { lastScheduleTime: 'now' } } },
      /is suspended/,
    ],
    ['a budget that allows too much', { ...site, 'policy/poddisruptionbudgets/b': budget({ disruptionsAllowed: 1 }) }, /status.disruptionsAllowed/],
    [
      'a volume that names its claim in part',
      { 'persistentvolumes/v': volume({ kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace: 'a', name: 'b', uid: 'c' }) },
      /has no resourceVersion/,
    ],
  ])('%s', (_, given, expected) => expect(wrong(given)).toMatch(expected));
});
