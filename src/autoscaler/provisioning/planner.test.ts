import { expect, test } from 'vitest';
import { disks, instanceType, TestState, usualTypes } from '../../../test/autoscaler/cluster-state.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { csiNodeKind } from '../../api/kinds/storage/csi-node.ts';
import { labels } from '../labels.ts';
import { type Plan, plan } from './planner.ts';

const planned = ({ state }: TestState): Plan => plan(state.scheduler, state.plannerInput());
const shape = ({ launches }: Plan) =>
  launches.map(({ pool, pods, types, zones }) => ({ pool: pool.name, pods: pods.map(({ name }) => name), types: types.map(({ type }) => type.name), zones }));
const failureOf = ({ placements }: Plan, pod: string): string | undefined => {
  const placement = placements.get(`Pod/${pod}`);
  return placement?.type === 'failed' ? placement.message : undefined;
};

test('pods share a planned node as long as an instance type holds them, and the node keeps every type that does', () => {
  const cluster = new TestState();
  cluster.pool('default');
  for (const name of ['one', 'two', 'three']) cluster.pod(name);
  expect(shape(planned(cluster))).toEqual([{ pool: 'default', pods: ['one', 'three', 'two'], types: ['medium', 'large'], zones: ['a', 'b', 'c'] }]);
});

test('a plan leaves the scheduler cache as it was: the same plan follows again', () => {
  const cluster = new TestState();
  cluster.pool('default');
  cluster.storageClass('disks', [['b']]);
  cluster.unboundClaim('data', 'disks');
  cluster.pod('one', { claims: ['data'] });
  const first = shape(planned(cluster));
  expect(first[0]?.zones).toEqual(['b']);
  expect(shape(planned(cluster))).toEqual(first);
  expect(cluster.state.scheduler.cache.nodes).toEqual([]);
});

test('the NodePool with the greatest weight launches, and one whose limits are used up does not', () => {
  const cluster = new TestState();
  cluster.pool('light', { weight: 1 });
  cluster.pool('heavy', { weight: 10, limits: { cpu: '4' } });
  cluster.pod('one', { cpu: '3' });
  cluster.pod('two', { cpu: '3' });
  const result = planned(cluster);
  // Of the heavy pool only a type within its limit is left.
  expect(shape(result)).toEqual([
    { pool: 'heavy', pods: ['one'], types: ['medium'], zones: ['a', 'b', 'c'] },
    { pool: 'light', pods: ['two'], types: ['medium', 'large'], zones: ['a', 'b', 'c'] },
  ]);
});

test('nodes that a NodePool has count against its limits, and the refusal says so', () => {
  const cluster = new TestState();
  cluster.pool('default', { limits: { cpu: '5' } });
  cluster.node('there', { type: 'medium' });
  cluster.pod('busy', { node: 'there', cpu: '4' });
  cluster.pod('one');
  expect(failureOf(planned(cluster), 'one')).toBe('incompatible with nodepool "default", all available instance types exceed limits for nodepool');
  const limited = new TestState();
  limited.pool('default', { limits: { nodes: 0 } });
  limited.pod('one');
  expect(failureOf(planned(limited), 'one')).toBe('incompatible with nodepool "default", node limits have been exhausted for nodepool');
});

test('contradictory requirements of a NodePool leave no instance type', () => {
  const cluster = new TestState();
  const requirements = [
    { key: labels.zone, operator: 'In', values: ['a'] },
    { key: labels.zone, operator: 'In', values: ['b'] },
  ];
  cluster.pool('default', {}, { requirements });
  cluster.pod('one');
  expect(failureOf(planned(cluster), 'one')).toBe('incompatible with nodepool "default", nodepool requirements filtered out all available instance types');
});

test.each([
  ['a label of instances', { nodeSelector: { [labels.zone]: 'a' } }, labels.zone, 'b'],
  ['a label of the user', { nodeSelector: { team: 'x' } }, 'team', 'y'],
])('contradictory requirements of a pod, by %s, launch nothing', (_, spec, key, value) => {
  const cluster = new TestState();
  cluster.pool('default');
  const nodeSelectorTerms = [{ matchExpressions: [{ key, operator: 'In', values: [value] }] }];
  cluster.pod('one', { spec: { ...spec, affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } } });
  const result = planned(cluster);
  expect(result.launches).toEqual([]);
  expect(failureOf(result, 'one')).toMatch(/^incompatible with nodepool "default", /);
});

test('a planned node has the volume limit of its instance type: pods beyond it get another node', () => {
  const cluster = new TestState([instanceType('small', { cpu: 8, price: 1, volumes: 2 })]);
  cluster.pool('default');
  cluster.storageClass('disks');
  for (const name of ['one', 'two', 'three']) {
    cluster.unboundClaim(name, 'disks');
    cluster.pod(name, { claims: [name] });
  }
  expect(shape(planned(cluster)).map(({ pods }) => pods.length)).toEqual([2, 1]);
});

test('the types that can attach fewer volumes than the pods have are left out', () => {
  const cluster = new TestState();
  cluster.pool('default');
  cluster.storageClass('disks');
  for (const name of ['one', 'two', 'three']) cluster.unboundClaim(name, 'disks');
  cluster.pod('all', { claims: ['one', 'two', 'three'] });
  expect(shape(planned(cluster))[0]?.types).toEqual(['medium', 'large']);
  for (let n = 4; n <= 9; n++) cluster.unboundClaim(`v${n}`, 'disks');
  cluster.pod('many', { claims: ['one', 'two', 'three', 'v4', 'v5', 'v6', 'v7', 'v8', 'v9'] });
  expect(failureOf(planned(cluster), 'many')).toMatch(`no instance type can attach enough volumes of driver ${disks}`);
});

test('a new node has the limit of its type before its CSINode is written, also if its NodeClaim was written after the Node', () => {
  const cluster = new TestState();
  cluster.pool('default');
  cluster.storageClass('disks');
  for (const name of ['one', 'two', 'three']) cluster.boundClaim(name, [['a']]);
  // The caches are followed before the node is there.
  expect(cluster.state.scheduler.cache.nodes).toEqual([]);
  cluster.set(nodeKind, { metadata: { name: 'there' }, spec: { providerID: 'cloud:///there' }, status: {} });
  cluster.node('there', { type: 'small' });
  cluster.pod('one', { node: 'there', cpu: '100m', claims: ['one'] });
  cluster.pod('two', { node: 'there', cpu: '100m', claims: ['two'] });
  cluster.pod('three', { cpu: '100m', claims: ['three'] });
  expect(planned(cluster).launches).toHaveLength(1);
  // A CSINode without the driver limits nothing by itself: the driver has not registered yet.
  cluster.set(csiNodeKind, { metadata: { name: 'there' }, spec: { drivers: [] } });
  expect(planned(cluster).launches).toHaveLength(1);
  cluster.set(csiNodeKind, { metadata: { name: 'there' }, spec: { drivers: [{ name: disks, nodeID: 'there', topologyKeys: [], allocatable: { count: 3 } }] } });
  expect(planned(cluster).placements.get('Pod/three')).toEqual({ type: 'node', name: 'there' });
});

test('the places of several volumes are combined: each pair of terms that has a common zone is an alternative', () => {
  const cluster = new TestState();
  cluster.pool('default');
  cluster.boundClaim('one', [['a'], ['b', 'c']]);
  cluster.boundClaim('two', [['b'], ['c']]);
  cluster.pod('pod', { claims: ['one', 'two'] });
  // The first alternative that an instance type meets is taken.
  expect(shape(planned(cluster))[0]?.zones).toEqual(['b']);
  cluster.boundClaim('three', [['c']]);
  cluster.pod('pod', { claims: ['one', 'two', 'three'] });
  expect(shape(planned(cluster))[0]?.zones).toEqual(['c']);
  cluster.boundClaim('four', [['a']]);
  cluster.pod('pod', { claims: ['one', 'two', 'four'] });
  expect(failureOf(planned(cluster), 'pod')).toBe('the volume of persistentvolumeclaim "four" and the pod\'s other volumes are in different places');
});

test('many volumes with the same places have as many alternatives as one', () => {
  const cluster = new TestState([instanceType('huge', { cpu: 8, price: 1 })]);
  cluster.pool('default');
  cluster.storageClass('disks', [
    ['a', 'b'],
    ['b', 'c'],
  ]);
  const claims = Array.from({ length: 12 }, (_, n) => `v${n}`);
  for (const name of claims) cluster.unboundClaim(name, 'disks');
  cluster.pod('pod', { claims });
  expect(shape(planned(cluster))[0]?.zones).toEqual(['a', 'b']);
});

test('an alternative whose zone has no capacity gives way to the next', () => {
  const types = usualTypes.map((type) => ({ ...type, offerings: type.offerings.map((each) => ({ ...each, isAvailable: each.zone !== 'a' })) }));
  const cluster = new TestState(types);
  cluster.pool('default');
  cluster.storageClass('disks', [['a'], ['c']]);
  cluster.unboundClaim('data', 'disks');
  cluster.pod('pod', { claims: ['data'] });
  expect(shape(planned(cluster))[0]?.zones).toEqual(['c']);
});

test('minValues: a node keeps at least so many values, and a pod that leaves fewer gets no node', () => {
  const cluster = new TestState();
  cluster.pool('default', {}, { requirements: [{ key: labels.instanceType, operator: 'Exists', minValues: 2 }] });
  cluster.pod('one', { cpu: '3' });
  expect(shape(planned(cluster))[0]?.types).toEqual(['medium', 'large']);
  cluster.pod('two', { cpu: '7' });
  expect(failureOf(planned(cluster), 'two')).toMatch(`minValues requirement is not met for label(s) (label(s)=[${labels.instanceType}])`);
});
