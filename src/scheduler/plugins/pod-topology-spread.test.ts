import { describe, expect, it } from 'vitest';
import { inZone, node, SmallCluster, zone } from '../../../test/scheduler/small-cluster.ts';
import { pod } from '../../../test/storage/objects.ts';
import type { Node, Pod, Service, StatefulSet, TopologySpreadConstraint } from '../../api/generated/types.ts';
import { podTopologySpread } from './pod-topology-spread.ts';

const hostname = 'kubernetes.io/hostname';
const tooMany = "unschedulable: node(s) didn't match pod topology spread constraints";
const unlabelled = "unresolvable: node(s) didn't match pod topology spread constraints (missing required label)";

const over = (topologyKey: string, more: Partial<TopologySpreadConstraint> = {}): TopologySpreadConstraint => ({
  topologyKey,
  maxSkew: 1,
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: { matchLabels: { app: 'web' } },
  ...more,
});
const web = (constraints: TopologySpreadConstraint[], spec: Partial<Pod['spec']> = {}, labels: Record<string, string> = { app: 'web' }): Pod =>
  pod('new', [], { metadata: { namespace: 'default', name: 'new', labels }, spec: { topologySpreadConstraints: constraints, ...spec } });
const there = (name: string, nodeName: string, labels: Record<string, string> = { app: 'web' }, namespace = 'default'): Pod =>
  pod(name, [], { metadata: { namespace, name, labels }, spec: { nodeName } });

/** a1 and a2 in zone a, b1 in zone b. */
function makeCluster(...more: readonly (Pod | Node)[]): SmallCluster {
  const cluster = new SmallCluster([podTopologySpread()]);
  cluster.set(node('a1', inZone('a')), node('a2', inZone('a')), node('b1', inZone('b')), ...more);
  return cluster;
}
const each = (a1: string, a2: string, b1: string) => ({ a1, a2, b1 });

describe('PodTopologySpread', () => {
  it.each([
    ['no pods', [], over(zone), each('', '', '')],
    ['one in zone a', [there('p', 'a1')], over(zone), each(tooMany, tooMany, '')],
    ['one in zone a, two allowed', [there('p', 'a1')], over(zone, { maxSkew: 2 }), each('', '', '')],
    ['one on a1', [there('p', 'a1')], over(hostname), each(tooMany, '', '')],
    ['one in each zone', [there('p', 'a1'), there('q', 'b1')], over(zone), each('', '', '')],
    ['one of another namespace', [there('p', 'a1', { app: 'web' }, 'other')], over(zone), each('', '', '')],
    ['one of another app', [there('p', 'a1', { app: 'db' })], over(zone), each('', '', '')],
  ])('%s', (_, pods, constraint, verdicts) => {
    expect(makeCluster(...pods).verdicts(web([constraint]))).toEqual(verdicts);
  });

  it('a pod that does not match its own constraint adds nothing to the skew', () => {
    expect(makeCluster(there('p', 'a1')).verdicts(web([over(zone)], {}, { app: 'other' }))).toEqual(each('', '', ''));
  });

  it('terminating pods do not count', () => {
    const going = { ...there('p', 'a1'), metadata: { ...there('p', 'a1').metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(makeCluster(going).verdicts(web([over(zone)]))).toEqual(each('', '', ''));
  });

  it('every constraint has to be met, and every topology key is required', () => {
    const cluster = makeCluster(there('p', 'a1'), node('lost'));
    expect(cluster.verdicts(web([over(hostname, { maxSkew: 2 }), over(zone)]))).toEqual({ ...each(tooMany, tooMany, ''), lost: unlabelled });
  });

  it('minDomains: with too few domains, the global minimum is 0', () => {
    const cluster = makeCluster(there('p', 'a1'), there('q', 'b1'));
    expect(cluster.verdicts(web([over(zone, { minDomains: 2 })]))).toEqual(each('', '', ''));
    expect(cluster.verdicts(web([over(zone, { minDomains: 3 })]))).toEqual(each(tooMany, tooMany, tooMany));
  });

  it('nodes that do not match the node affinity are no domains, unless nodeAffinityPolicy is Ignore', () => {
    const cluster = makeCluster(there('p', 'a1'));
    const onlyA = { nodeSelector: { [zone]: 'a' } };
    // NodeAffinity rejects the node; here it only matters that zone b is no empty domain.
    expect(cluster.verdicts(web([over(zone)], onlyA))).toEqual(each('', '', ''));
    expect(cluster.verdicts(web([over(zone, { nodeAffinityPolicy: 'Ignore' })], onlyA))).toEqual(each(tooMany, tooMany, ''));
  });

  it('tainted nodes are domains, unless nodeTaintsPolicy is Honor', () => {
    const tainted: Node = { ...node('b1', inZone('b')), spec: { taints: [{ key: 'x', effect: 'NoSchedule' }] } };
    const cluster = makeCluster(there('p', 'a1'), tainted);
    expect(cluster.verdicts(web([over(zone)]))).toEqual(each(tooMany, tooMany, ''));
    expect(cluster.verdicts(web([over(zone, { nodeTaintsPolicy: 'Honor' })]))).toEqual(each('', '', ''));
    expect(cluster.verdicts(web([over(zone, { nodeTaintsPolicy: 'Honor' })], { tolerations: [{ operator: 'Exists' }] }))).toEqual(each(tooMany, tooMany, ''));
  });

  it('matchLabelKeys: counts pods with the same values, such as those of one revision', () => {
    const cluster = makeCluster(there('p', 'a1', { app: 'web', rev: '1' }));
    const keyed = over(zone, { matchLabelKeys: ['rev', 'absent'] });
    expect(cluster.verdicts(web([keyed], {}, { app: 'web', rev: '2' }))).toEqual(each('', '', ''));
    expect(cluster.verdicts(web([keyed], {}, { app: 'web', rev: '1' }))).toEqual(each(tooMany, tooMany, ''));
  });
});

describe('scores of PodTopologySpread', () => {
  const scores = (cluster: SmallCluster, asking: Pod) => {
    const prepared = cluster.preFilter(asking);
    if (prepared === 'skip' || 'code' in prepared) return prepared;
    const found = prepared.score?.(cluster.cache.nodes);
    return Object.fromEntries(cluster.cache.nodes.map(({ name }, i) => [name, found?.[i]]));
  };
  const soft = (topologyKey: string) => over(topologyKey, { whenUnsatisfiable: 'ScheduleAnyway' });

  it('prefer emptier domains; nodes without the label come last', () => {
    const cluster = makeCluster(there('p', 'a1'), there('q', 'a2'), there('r', 'b1'), node('lost'));
    expect(scores(cluster, web([soft(zone)]))).toEqual({ a1: 33, a2: 33, b1: 100, lost: 0 });
    expect(scores(makeCluster(), web([soft(zone)]))).toEqual({ a1: 100, a2: 100, b1: 100 });
  });

  const service: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'web' },
    spec: { selector: { app: 'web' } },
    status: { loadBalancer: {} },
  };
  const set = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { namespace: 'default', name: 'db' },
    spec: { selector: { matchLabels: { app: 'db' } } },
  } as unknown as StatefulSet;
  const owned: Pod = pod('db-1', [], {
    metadata: {
      namespace: 'default',
      name: 'db-1',
      labels: { app: 'db' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'u', controller: true }],
    },
  });

  it('by default, spread pods of the same Service or owner over hosts and zones', () => {
    const cluster = makeCluster(there('p', 'a1'), there('db-0', 'a1', { app: 'db' }));
    const plain = web([]);
    expect(scores(cluster, plain)).toBe('skip');
    cluster.set(service);
    expect(scores(cluster, plain)).toMatchObject({ b1: 100 });
    expect(scores(cluster, owned)).toBe('skip');
    cluster.set(set);
    expect(scores(cluster, owned)).toMatchObject({ b1: 100 });
    cluster.delete('Service', 'default/web');
    expect(scores(cluster, plain)).toBe('skip');
  });

  it('by default, count a node without a zone as a host', () => {
    const cluster = makeCluster(there('p', 'a1'), node('lost'));
    cluster.set(service);
    expect(scores(cluster, web([]))).toMatchObject({ lost: 100 });
  });
});
