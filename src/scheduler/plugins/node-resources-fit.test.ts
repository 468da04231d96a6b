import { describe, expect, it } from 'vitest';
import { node, SmallCluster } from '../../../test/scheduler/small-cluster.ts';
import { pod } from '../../../test/storage/objects.ts';
import type { Container, Node, Pod } from '../../api/generated/types.ts';
import type { ClusterEvent } from '../framework.ts';
import { readPod } from '../pod-info.ts';
import { nodeResourcesBalancedAllocation } from './node-resources-balanced-allocation.ts';
import { nodeResourcesFit } from './node-resources-fit.ts';

const sized = (name: string, allocatable: Record<string, string>): Node => ({ ...node(name), status: { allocatable } as unknown as Node['status'] });
const asking = (requests: Record<string, string>): Container => ({ name: 'app', resources: { requests } });
const wanting = (name: string, requests: Record<string, string>, spec: Partial<Pod['spec']> = {}): Pod =>
  pod(name, [], { spec: { containers: [asking(requests)], ...spec } });
const on = (name: string, placed: Pod): Pod => ({ ...placed, spec: { ...placed.spec, nodeName: name } });

const makeCluster = () => {
  const cluster = new SmallCluster([nodeResourcesFit]);
  cluster.set(sized('n1', { cpu: '4', memory: '8Gi', 'ephemeral-storage': '10Gi', pods: '3', 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi' }));
  return cluster;
};

describe('NodeResourcesFit', () => {
  it.each([
    [{}, ''],
    [{ cpu: '4', memory: '8Gi' }, ''],
    [{ cpu: '4001m' }, 'unresolvable: Insufficient cpu'],
    [{ memory: '9Gi' }, 'unresolvable: Insufficient memory'],
    [{ 'ephemeral-storage': '11Gi' }, 'unresolvable: Insufficient ephemeral-storage'],
    [{ 'example.com/gpu': '2' }, ''],
    [{ 'example.com/gpu': '3' }, 'unresolvable: Insufficient example.com/gpu'],
    [{ 'example.com/none': '1' }, 'unresolvable: Insufficient example.com/none'],
    [{ 'example.com/none': '0' }, ''],
    [{ 'hugepages-2Mi': '6Mi' }, 'unresolvable: Insufficient hugepages-2Mi'],
    [{ cpu: '5', memory: '9Gi' }, 'unresolvable: Insufficient cpu + Insufficient memory'],
  ])('an empty node and a pod that requests %j', (requests, verdict) => {
    expect(makeCluster().verdicts(wanting('web', requests))).toEqual({ n1: verdict });
  });

  it('requests of other pods count, and preemption could free them', () => {
    const cluster = makeCluster();
    cluster.set(on('n1', wanting('there', { cpu: '3', memory: '6Gi', 'example.com/gpu': '1' })));
    expect(cluster.verdicts(wanting('web', { cpu: '1', memory: '2Gi', 'example.com/gpu': '1' }))).toEqual({ n1: '' });
    expect(cluster.verdicts(wanting('web', { cpu: '1100m' }))).toEqual({ n1: 'unschedulable: Insufficient cpu' });
    expect(cluster.verdicts(wanting('web', { memory: '3Gi', 'example.com/gpu': '2' }))).toEqual({
      n1: 'unschedulable: Insufficient memory + Insufficient example.com/gpu',
    });
    // One of the requests exceeds the allocatable.
    expect(cluster.verdicts(wanting('web', { memory: '3Gi', cpu: '5' }))).toEqual({ n1: 'unresolvable: Insufficient cpu + Insufficient memory' });
  });

  it('counts pods, also those without requests', () => {
    const cluster = makeCluster();
    cluster.set(...['a', 'b', 'c'].map((name) => on('n1', wanting(name, {}))));
    expect(cluster.verdicts(wanting('web', {}))).toEqual({ n1: 'unschedulable: Too many pods' });
    expect(cluster.verdicts(wanting('web', { cpu: '9' }))).toEqual({ n1: 'unresolvable: Too many pods + Insufficient cpu' });
    cluster.delete('Pod', 'default/a');
    expect(cluster.verdicts(wanting('web', {}))).toEqual({ n1: '' });
  });

  it('a node without allocatable accepts no pod', () => {
    const cluster = new SmallCluster([nodeResourcesFit]);
    cluster.set(sized('n1', {}));
    expect(cluster.verdicts(wanting('web', { cpu: '1' }))).toEqual({ n1: 'unresolvable: Too many pods + Insufficient cpu' });
  });

  const sidecar: Container = { ...asking({ cpu: '1' }), name: 'sidecar', restartPolicy: 'Always' };
  it.each([
    ['the larger of init containers and the others', { initContainers: [{ ...asking({ cpu: '4' }), name: 'init' }] }, ''],
    ['an init container that is too large', { initContainers: [{ ...asking({ cpu: '5' }), name: 'init' }] }, 'unresolvable: Insufficient cpu'],
    ['sidecars in addition to the containers', { initContainers: [sidecar] }, ''],
    [
      'sidecars in addition to later init containers',
      { initContainers: [sidecar, { ...asking({ cpu: '4' }), name: 'init' }] },
      'unresolvable: Insufficient cpu',
    ],
    ['init containers before a sidecar alone', { initContainers: [{ ...asking({ cpu: '4' }), name: 'init' }, sidecar] }, ''],
    ['overhead', { overhead: { cpu: '1500m' } }, 'unresolvable: Insufficient cpu'],
    ['pod-level requests', { resources: { requests: { cpu: '5' } } }, 'unresolvable: Insufficient cpu'],
  ])('counts %s', (_, spec, verdict) => {
    expect(makeCluster().verdicts(wanting('web', { cpu: '3' }, spec))).toEqual({ n1: verdict });
  });

  it('reports what is free and what is missing', () => {
    const cluster = makeCluster();
    cluster.set(on('n1', wanting('there', { cpu: '3', memory: '6Gi' })));
    const n1 = cluster.cache.node('n1');
    const verdict = n1 === undefined ? undefined : cluster.cycle(wanting('web', { cpu: '1500m', memory: '3Gi' })).filter?.(n1);
    const reasons = verdict !== undefined && 'reasons' in verdict ? verdict.reasons : [];
    expect(reasons.map(({ detail }) => detail?.().found)).toEqual([
      'has 1 of 4 cpu left, less than the 1500m that the pod requests',
      'has 2Gi of 8Gi memory left, less than the 3Gi that the pod requests',
    ]);
  });
});

describe('scores by resources', () => {
  const empty = sized('empty', { cpu: '4', memory: '8Gi', pods: '10' });
  const half = sized('half', { cpu: '4', memory: '8Gi', pods: '10' });
  const cluster = new SmallCluster([nodeResourcesFit, nodeResourcesBalancedAllocation]);
  cluster.set(empty, half, on('half', wanting('there', { cpu: '2', memory: '4Gi' })));

  it('LeastAllocated prefers emptier nodes, and counts a default for pods without requests', () => {
    expect(cluster.cycle(wanting('web', { cpu: '1', memory: '2Gi' })).score?.(cluster.cache.nodes)).toEqual([75, 25]);
    // 100m of 4000m and 200Mi of 8Gi
    expect(cluster.cycle(wanting('web', {})).score?.(cluster.cache.nodes)).toEqual([97, 47]);
  });

  it('BalancedAllocation prefers nodes that the pod balances, and skips pods without requests', () => {
    const leaning = sized('leaning', { cpu: '4', memory: '8Gi', pods: '10' });
    cluster.set(leaning, on('leaning', wanting('lean', { memory: '4Gi' })));
    expect(cluster.cycle(wanting('web', { cpu: '2' }), nodeResourcesBalancedAllocation).score?.(cluster.cache.nodes)).toEqual([62, 62, 87]);
    expect(cluster.verdicts(wanting('web', {}), nodeResourcesBalancedAllocation)).toBe('skip');
  });
});

describe('queueing hints of NodeResourcesFit', () => {
  const waiting = readPod(wanting('web', { cpu: '4' }));
  const helps = (before: Node | undefined, after: Node | undefined) =>
    nodeResourcesFit.queueingHints?.hint(waiting, { resource: 'node', before, after } as ClusterEvent);
  const large = sized('n1', { cpu: '4', memory: '1Gi', pods: '5' });

  it('a node on which the pod fits, or with more of a requested resource', () => {
    expect(helps(undefined, large)).toBe(true);
    expect(helps(undefined, sized('n1', { cpu: '3', pods: '5' }))).toBe(false);
    expect(helps(sized('n1', { cpu: '3', pods: '5' }), large)).toBe(true);
    expect(helps(large, large)).toBe(false);
    expect(helps(large, sized('n1', { cpu: '4', memory: '9Gi', pods: '5' }))).toBe(false);
    expect(helps(sized('n1', { cpu: '4', pods: '4' }), large)).toBe(true);
    expect(helps(large, undefined)).toBe(false);
  });

  it('a pod that is deleted, or requests less of a needed resource', () => {
    const other = (requests: Record<string, string>) => on('n1', wanting('other', requests));
    const helpsPod = (before: Pod | undefined, after: Pod | undefined) =>
      nodeResourcesFit.queueingHints?.hint(waiting, { resource: 'pod', before, after } as ClusterEvent);
    expect(helpsPod(other({ cpu: '1' }), undefined)).toBe(true);
    expect(helpsPod(undefined, other({ cpu: '1' }))).toBe(false);
    expect(helpsPod(other({ cpu: '2' }), other({ cpu: '1' }))).toBe(true);
    expect(helpsPod(other({ memory: '2' }), other({ memory: '1' }))).toBe(false);
    expect(helpsPod(other({ cpu: '1' }), other({ cpu: '2' }))).toBe(false);
  });
});
