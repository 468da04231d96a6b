import { describe, expect, test } from 'vitest';
import type { PersistentVolumeClaim, Pod, ResourceQuota, Service } from '../generated/types.ts';
import { untypedKind } from '../kind.ts';
import { allKinds } from '../kinds/index.ts';
import { persistentVolumeClaimKind } from '../kinds/core/persistent-volume-claim.ts';
import { serviceKind } from '../kinds/core/service.ts';
import { podKind } from '../kinds/pod/pod.ts';
import type { KubeObject } from '../object.ts';
import type { Evaluator } from './evaluator.ts';
import { evaluatorOf } from './evaluators.ts';
import { meterOf, readAll, readMeter, usedOf } from './meter.ts';
import { formatUsage, parseUsage } from './usage.ts';

const evaluator = (kind: Parameters<typeof evaluatorOf>[0]): Evaluator => {
  const found = evaluatorOf(kind);
  if (found === undefined) throw new Error(`${kind.plural} do not count`);
  return found;
};
const pods = evaluator(untypedKind(podKind));
const claims = evaluator(untypedKind(persistentVolumeClaimKind));
const services = evaluator(untypedKind(serviceKind));

const claim = (storage: string, more: { spec?: object; status?: object; metadata?: object } = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'default', ...more.metadata },
  spec: { resources: { requests: { storage } }, ...more.spec },
  status: { ...more.status },
});
const pod = (resources: object, more: { spec?: object; status?: object; metadata?: object } = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', ...more.metadata },
  spec: { containers: [{ name: 'app', resources }], ...more.spec },
  status: { ...more.status },
});
const service = (spec: object): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default' },
  spec,
  status: { loadBalancer: {} },
});
const quota = (names: readonly string[], more: object = {}, status: ResourceQuota['status'] = {}): ResourceQuota => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q', namespace: 'default' },
  spec: { hard: Object.fromEntries(names.map((name) => [name, '10'])), ...more },
  status,
});
const use = (of: Evaluator, object: KubeObject, now = 0) => formatUsage(of.usage(object, now));

describe('claims', () => {
  test.each([
    ['1Gi', {}, '1Gi'],
    ['107374182400m', {}, '107374183'],
    ['1.5Gi', {}, '1536Mi'],
    ['5Gi', { status: { allocatedResources: { storage: '8Gi' } } }, '8Gi'],
    ['5Gi', { status: { allocatedResources: { storage: '2Gi' } } }, '5Gi'],
    ['1Gi', { status: { allocatedResources: { storage: '1610612736500m' } } }, '1610612737'],
  ])('asking for %s, %j, use %s', (storage, more, expected) => expect(use(claims, claim(storage, more))['requests.storage']).toBe(expected));

  test('that ask for nothing use no storage', () => {
    const silent = claim('1Gi', { spec: { resources: {} }, status: { allocatedResources: { storage: '1Gi' } } });
    expect(use(claims, silent)).toEqual({ 'count/persistentvolumeclaims': '1', persistentvolumeclaims: '1' });
  });

  test('count for their class as well; the annotation that came before the field wins', () => {
    const both = claim('1Gi', { metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } }, spec: { storageClassName: 'new' } });
    expect(use(claims, both)).toEqual({
      'count/persistentvolumeclaims': '1',
      persistentvolumeclaims: '1',
      'requests.storage': '1Gi',
      'old.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
      'old.storageclass.storage.k8s.io/requests.storage': '1Gi',
    });
    expect(use(claims, claim('2Gi', { spec: { storageClassName: 'gold' } }))).toHaveProperty(['gold.storageclass.storage.k8s.io/persistentvolumeclaims'], '1');
  });

  test('that change their attributes class count against the quotas of both', () => {
    const changing = claim('1Gi', { spec: { volumeAttributesClassName: 'gold' }, status: { currentVolumeAttributesClassName: 'silver' } });
    const matches = (operator: string, values?: string[]) =>
      claims.matchesScope({ scopeName: 'VolumeAttributesClass', operator, ...(values === undefined ? {} : { values }) }, changing);
    expect([matches('In', ['gold']), matches('In', ['silver']), matches('In', ['iron']), matches('Exists'), matches('DoesNotExist')]).toEqual([
      true,
      true,
      false,
      true,
      false,
    ]);
    expect(claims.scopeChanged(claim('1Gi'), changing)).toBe(true);
    expect(claims.scopeChanged(changing, { ...changing, metadata: { ...changing.metadata, labels: { a: 'b' } } })).toBe(false);
  });
});

describe('pods', () => {
  const small = { requests: { cpu: '100m', memory: '1Gi', 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi' }, limits: { cpu: '1' } };

  test('count by what they ask for and may use', () => {
    expect(use(pods, pod(small))).toEqual({
      'count/pods': '1',
      pods: '1',
      cpu: '100m',
      'requests.cpu': '100m',
      memory: '1Gi',
      'requests.memory': '1Gi',
      'requests.example.com/gpu': '2',
      'hugepages-2Mi': '4Mi',
      'requests.hugepages-2Mi': '4Mi',
      'limits.cpu': '1',
    });
  });

  test.each([
    ['Succeeded', true],
    ['Failed', true],
    ['Running', false],
    ['Pending', false],
  ])('%s: over is %s', (phase, over) => expect(use(pods, pod(small, { status: { phase } }))).toEqual(over ? { 'count/pods': '1' } : use(pods, pod(small))));

  test('that do not go although their time is up stop counting; until then they count', () => {
    const going = pod(small, { metadata: { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 } });
    const end = Date.parse('2026-01-01T00:01:00Z');
    expect(pods.endsAt?.(going)).toBe(end);
    expect(use(pods, going, end)).toHaveProperty('pods');
    expect(use(pods, going, end + 1)).toEqual({ 'count/pods': '1' });
    expect(pods.endsAt?.(pod(small))).toBeUndefined();
  });

  test('that are being resized count with the most of what they ask for, were promised and have', () => {
    const status = (more: object = {}) => ({
      status: {
        containerStatuses: [{ name: 'app', resources: { requests: { cpu: '300m' }, limits: { cpu: '2' } }, allocatedResources: { cpu: '200m' } }],
        ...more,
      },
    });
    expect(use(pods, pod(small, status()))).toMatchObject({ 'requests.cpu': '300m', 'requests.memory': '1Gi', 'limits.cpu': '2' });
    const wanting = pod({ requests: { cpu: '9' }, limits: { cpu: '9' } }, status());
    expect(use(pods, wanting)).toMatchObject({ 'requests.cpu': '9', 'limits.cpu': '9' });
    const refused = status({ conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }] });
    expect(use(pods, pod({ requests: { cpu: '9' }, limits: { cpu: '9' } }, refused))).toMatchObject({ 'requests.cpu': '300m', 'limits.cpu': '2' });
  });

  test.each([
    ['requests.example.com/gpu', true],
    ['requests.deviceclass.resource.kubernetes.io/gold', true],
    ['requests.hugepages-1Gi', true],
    ['requests.kubernetes.io/x', false],
    ['example.com/gpu', false],
    ['requests.storage', false],
    ['limits.example.com/gpu', false],
  ])('are what %s is about: %s', (name, covered) => expect(pods.covers(name)).toBe(covered));

  test('must say what is limited, unless the pod as a whole does', () => {
    expect(pods.missing?.(['limits.memory', 'requests.cpu', 'pods'], pod({ requests: { cpu: '1' } }))).toBe('must specify limits.memory for: app');
    expect(
      pods.missing?.(['requests.cpu'], pod({}, { spec: { containers: [{ name: 'app', resources: {} }], resources: { requests: { memory: '1Gi' } } } })),
    ).toBe(undefined);
  });

  test('are best effort if they say so themselves', () => {
    const scope = { scopeName: 'BestEffort', operator: 'Exists' };
    expect(pods.matchesScope(scope, pod({}))).toBe(true);
    expect(pods.matchesScope(scope, pod({}, { status: { qosClass: 'Burstable' } }))).toBe(false);
    expect(pods.scopeChanged(pod({}), pod({}, { spec: { containers: [], activeDeadlineSeconds: 0 } }))).toBe(true);
  });
});

test.each([
  [{ type: 'ClusterIP', ports: [{}, {}] }, '0', '0'],
  [{ type: 'NodePort', ports: [{}, {}] }, '2', '0'],
  [{ type: 'LoadBalancer', ports: [{}, {}] }, '2', '1'],
  [{ type: 'LoadBalancer', ports: [{ nodePort: 30000 }, {}], allocateLoadBalancerNodePorts: false }, '1', '1'],
])('a service %j needs %s node ports and %s load balancers', (spec, nodePorts, balancers) =>
  expect(use(services, service(spec))).toEqual({ 'count/services': '1', services: '1', 'services.nodeports': nodePorts, 'services.loadbalancers': balancers }),
);

describe('a quota', () => {
  test('knows every kind that lives in a namespace, but not events', () => {
    const counted = allKinds.filter((kind) => evaluatorOf(kind) !== undefined).map(({ plural }) => plural);
    expect(counted).toEqual(expect.arrayContaining(['pods', 'statefulsets', 'leases', 'resourcequotas']));
    for (const plural of ['events', 'persistentvolumes', 'nodes', 'storageclasses']) expect(counted).not.toContain(plural);
  });

  test('has a usage of zero for limited resources that are not used, also of Kubernetes kinds that this server lacks', () => {
    const limited = quota(['persistentvolumeclaims', 'count/podtemplates', 'count/resourceclaims.resource.k8s.io', 'a.deviceclass.resource.k8s.io/devices']);
    const meter = meterOf(limited, claims);
    if (meter === undefined) throw new Error('claims are limited');
    expect(formatUsage(usedOf(limited, readAll(meter, [], 0)))).toEqual({
      persistentvolumeclaims: '0',
      'count/podtemplates': '0',
      'count/resourceclaims.resource.k8s.io': '0',
      'a.deviceclass.resource.k8s.io/devices': '0',
    });
  });

  test('leaves out resources that cannot be measured, or keeps their last value', () => {
    const limited = quota(['count/widgets.example.com', 'example.com/gpu', 'pods'], {}, { used: { 'example.com/gpu': '3' } });
    expect(formatUsage(usedOf(limited, parseUsage({ pods: '1' })))).toEqual({ pods: '1', 'example.com/gpu': '3' });
  });

  test('with scopes counts only what lies in all of them', () => {
    const scoped = quota(['pods'], { scopes: ['BestEffort', 'NotTerminating'] });
    const meter = meterOf(scoped, pods);
    if (meter === undefined) throw new Error('pods are limited');
    expect(formatUsage(readMeter(meter, pod({}), 0))).toEqual({ pods: '1' });
    expect(formatUsage(readMeter(meter, pod({ requests: { cpu: '1' } }), 0))).toEqual({});
    expect(formatUsage(readMeter(meter, pod({}, { spec: { containers: [], activeDeadlineSeconds: 5 } }), 0))).toEqual({});
    expect(meterOf(scoped, claims)).toBeUndefined();
  });
});
