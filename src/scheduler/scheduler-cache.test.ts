import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inZone, node, SmallCluster } from '../../test/scheduler/small-cluster.ts';
import { pod } from '../../test/storage/objects.ts';
import type { Node, Pod } from '../api/generated/types.ts';
import { SchedulerCache } from './scheduler-cache.ts';
import type { NodeInfo } from './framework.ts';
import { readPod } from './pod-info.ts';

const makeCache = () => new SchedulerCache(new SmallCluster([]).views);
const placed = (name: string, nodeName: string, cpu = '1'): Pod =>
  pod(name, ['data'], { spec: { nodeName, containers: [{ name: 'app', resources: { requests: { cpu } }, ports: [{ containerPort: 1, hostPort: 80 }] }] } });
const on = (name: string, nodeName: string) => readPod(placed(name, nodeName));

describe('assumed pods', () => {
  const waiting = readPod({ ...placed('p', ''), spec: { ...placed('p', '').spec, nodeName: '' } });

  it('count at once, until forgetPod', () => {
    const cache = makeCache();
    cache.setNode(node('n1'));
    cache.assumePod(waiting, 'n1');
    expect(cache.node('n1')?.requested.cpu).toBe(1000);
    expect(cache.isAssumedPod(waiting.uid)).toBe(true);
    expect(cache.forgetPod(waiting.uid)).toBe(true);
    expect(cache.node('n1')?.requested.cpu).toBe(0);
    expect(cache.pod(waiting.uid)).toBeUndefined();
  });

  it('are replaced by a watch event, on whatever node it shows them', () => {
    const cache = makeCache();
    cache.setNode(node('n1'));
    cache.setNode(node('n2'));
    cache.assumePod(waiting, 'n1');
    cache.setPod(on('p', 'n2'));
    expect(cache.isAssumedPod(waiting.uid)).toBe(false);
    expect(cache.node('n1')?.pods).toEqual([]);
    expect(cache.node('n2')?.requested.cpu).toBe(1000);
    // forgetPod after the event changes nothing.
    expect(cache.forgetPod(waiting.uid)).toBe(false);
    expect(cache.node('n2')?.pods).toHaveLength(1);
  });
});

it('pods are kept before their node is created and after it is deleted', () => {
  const cache = makeCache();
  cache.setPod(on('p', 'n1'));
  expect(cache.nodes).toEqual([]);
  cache.setNode(node('n1'));
  expect(cache.node('n1')?.pods).toHaveLength(1);
  cache.removeNode('n1');
  expect(cache.claimUsers('default/data')).toBe(1);
  cache.setNode(node('n1'));
  expect(cache.node('n1')?.requested.cpu).toBe(1000);
  cache.removePod(on('p', 'n1').uid);
  expect(cache.node('n1')?.requested.cpu).toBe(0);
  expect(cache.claimUsers('default/data')).toBe(0);
});

it('nodes are in round-robin order of their zones', () => {
  const cache = makeCache();
  for (const [name, zoneName] of [
    ['a1', 'a'],
    ['a2', 'a'],
    ['b1', 'b'],
    ['a3', 'a'],
  ] as const)
    cache.setNode(node(name, inZone(zoneName)));
  expect(cache.nodes.map(({ name }) => name)).toEqual(['a1', 'b1', 'a2', 'a3']);
  cache.setNode(node('a2', inZone('b')));
  expect(cache.nodes.map(({ name }) => name)).toEqual(['a1', 'b1', 'a3', 'a2']);
});

describe('incremental updates', () => {
  const summary = ({ name, pods, requested, scoredCpu, scoredMemory, claimUsers, podsWithAffinity, allocatable }: NodeInfo) => ({
    name,
    pods: pods.map(({ uid }) => uid).sort(),
    cpu: requested.cpu,
    scored: [scoredCpu, scoredMemory],
    claims: Object.fromEntries(claimUsers),
    wanting: podsWithAffinity.length,
    free: allocatable.cpu,
  });
  const contentOf = (cache: SchedulerCache) => ({
    nodes: cache.nodes.map(summary).sort((a, b) => (a.name < b.name ? -1 : 1)),
    users: cache.claimUsers('default/data'),
    inDefault: [...cache.podsIn('default')].map(({ key, nodeName }) => `${key} ${nodeName}`).sort(),
    ports: cache.nodes.map((info) => `${info.name} ${info.isPortFree({ ip: '0.0.0.0', protocol: 'TCP', port: 80 })}`).sort(),
  });

  it('give the same cache as building it from scratch', () => {
    const name = fc.constantFrom('n1', 'n2');
    const step = fc.oneof(
      fc.record({ set: name, cpu: fc.constantFrom('1', '2') }),
      fc.record({ unset: name }),
      fc.record({ put: fc.constantFrom('p', 'q', 'r'), on: name, cpu: fc.constantFrom('0', '1') }),
      fc.record({ take: fc.constantFrom('p', 'q', 'r') }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const cache = makeCache();
        const [nodes, pods] = [new Map<string, Node>(), new Map<string, Pod>()];
        for (const each of steps) {
          if ('set' in each) {
            const made: Node = { ...node(each.set), status: { allocatable: { cpu: each.cpu } } as unknown as Node['status'] };
            nodes.set(each.set, made);
            cache.setNode(made);
          } else if ('unset' in each) {
            nodes.delete(each.unset);
            cache.removeNode(each.unset);
          } else if ('put' in each) {
            const made = placed(each.put, each.on, each.cpu);
            pods.set(each.put, made);
            cache.setPod(readPod(made));
          } else {
            pods.delete(each.take);
            cache.removePod(on(each.take, '').uid);
          }
        }
        const rebuilt = makeCache();
        for (const made of nodes.values()) rebuilt.setNode(made);
        for (const made of pods.values()) rebuilt.setPod(readPod(made));
        expect(contentOf(cache)).toEqual(contentOf(rebuilt));
        for (const info of cache.nodes) expect(summary(info.copy())).toEqual(summary(info));
      }),
    );
  });
});
