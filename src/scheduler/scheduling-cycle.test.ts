import { describe, expect, it } from 'vitest';
import { inZone, node, SmallCluster } from '../../test/scheduler/small-cluster.ts';
import { pod } from '../../test/storage/objects.ts';
import type { Node, Pod } from '../api/generated/types.ts';
import { type CycleResult, numFeasibleNodesToFind, SchedulingCycle } from './scheduling-cycle.ts';
import { fitMessage } from './diagnosis.ts';
import { type CyclePlugin, type NodeInfo, type Plugin, pluginFailure, rejection } from './framework.ts';
import { NominatedPods } from './nominated-pods.ts';
import { defaultPlugins } from './plugins/index.ts';
import { readPod } from './pod-info.ts';

const no = rejection('unschedulable', 'Test', { text: 'no', rule: 'test' });
const plugin = (stages: CyclePlugin, name = 'Test'): Plugin => ({ name, preFilter: () => stages });
const web = readPod(pod('web', []));

function makeCycle(plugins: readonly Plugin[], nodes: readonly Node[], random: () => number = () => 0) {
  const cluster = new SmallCluster(plugins);
  cluster.set(...nodes);
  const nominatedPods = new NominatedPods();
  return { cluster, nominatedPods, schedulingCycle: new SchedulingCycle({ plugins, cache: cluster.cache, nominatedPods, random }) };
}
const many = (count: number): readonly Node[] => Array.from({ length: count }, (_, i) => node(`n${i}`));
const nameOf = (result: CycleResult): string => (result.type === 'found' ? result.node.name : result.type);
const messageOf = (result: CycleResult): string =>
  result.type === 'none' ? fitMessage(result.diagnosis) : result.type === 'failed' ? result.message : result.type;

describe('numFeasibleNodesToFind', () => {
  it.each([
    [1, 1],
    [99, 99],
    [100, 100],
    [1000, 420],
    [5000, 500],
    [6000, 300],
    [10_000, 500],
  ])('of %i: %i', (total, enough) => {
    expect(numFeasibleNodesToFind(total)).toBe(enough);
  });
});

describe('the scheduling cycle', () => {
  it('selects a node with the highest score, at random among equals', () => {
    const score = (nodes: readonly NodeInfo[]) => nodes.map(({ name }) => (name === 'n1' ? 10 : 50));
    for (const [random, name] of [
      [0, 'n0'],
      [0.99, 'n2'],
    ] as const) {
      expect(nameOf(makeCycle([plugin({ score })], many(3), () => random).schedulingCycle.schedulePod(web))).toBe(name);
    }
  });

  it('adds up weighted scores', () => {
    const one: Plugin = { ...plugin({ score: () => [100, 0] }, 'One'), weight: 2 };
    const other: Plugin = { ...plugin({ score: () => [0, 100] }, 'Other'), weight: 3 };
    expect(nameOf(makeCycle([one, other], many(2)).schedulingCycle.schedulePod(web))).toBe('n1');
  });

  it.each([101, -1, Number.NaN])('fails if a plugin gives a score out of range: %d', (score) => {
    expect(makeCycle([plugin({ score: () => [0, score] }, 'Wild')], many(2)).schedulingCycle.schedulePod(web)).toEqual({
      type: 'failed',
      message: `applying score defaultWeights on Score plugins: plugin "Wild" returns an invalid score ${score}, it should in the range of [0, 100] after normalizing`,
    });
  });

  it('examines a part of many nodes, and continues from there for the next pod', () => {
    const asked = new Set<string>();
    const { schedulingCycle } = makeCycle(
      [
        plugin({
          filter: ({ name }) => {
            asked.add(name);
            return undefined;
          },
        }),
      ],
      many(1000),
    );
    schedulingCycle.schedulePod(web);
    expect(asked.size).toBe(420);
    schedulingCycle.schedulePod(web);
    schedulingCycle.schedulePod(web);
    expect(asked.size).toBe(1000);
  });

  it('examines only likely nodes, unless none is feasible: then the diagnosis has the reason of every node', () => {
    const asked: string[] = [];
    const build = (isFine: boolean): Plugin =>
      plugin({
        likely: new Set(['n3', 'n4', 'gone']),
        filter: ({ name }) => {
          asked.push(name);
          return isFine && name === 'n4' ? undefined : no;
        },
      });
    expect(nameOf(makeCycle([build(true)], many(9)).schedulingCycle.schedulePod(web))).toBe('n4');
    expect([...asked].sort()).toEqual(['n3', 'n4']);
    expect(messageOf(makeCycle([build(false)], many(9)).schedulingCycle.schedulePod(web))).toBe('0/9 nodes are available: 9 no.');
  });

  it('reports nodes that are excluded by a PreFilterResult', () => {
    const named = (...names: readonly string[]): CyclePlugin => ({ nodeNames: new Set(names), filter: () => no });
    expect(messageOf(makeCycle([plugin(named('n1'), 'A')], many(3)).schedulingCycle.schedulePod(web))).toBe(
      "0/3 nodes are available: 1 no, 2 node(s) didn't satisfy plugin(s) [A].",
    );
    const both = makeCycle([plugin(named('n1'), 'B'), plugin(named('n2'), 'A')], many(3)).schedulingCycle.schedulePod(web);
    expect(messageOf(both)).toBe("0/3 nodes are available: node(s) didn't satisfy plugin(s) [A B] simultaneously.");
    const none = makeCycle([plugin(named(), 'A')], many(3)).schedulingCycle.schedulePod(web);
    expect(messageOf(none)).toBe("0/3 nodes are available: node(s) didn't satisfy plugin A.");
    expect(messageOf(makeCycle([plugin(named('gone'), 'A')], many(3)).schedulingCycle.schedulePod(web))).toBe(
      "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [A].",
    );
  });

  it('reports errors with the name of the plugin', () => {
    const broken = { name: 'Broken', preFilter: () => pluginFailure('Broken', 'no idea') } as const;
    expect(messageOf(makeCycle([broken], many(1)).schedulingCycle.schedulePod(web))).toBe('running PreFilter plugin "Broken": no idea');
    expect(messageOf(makeCycle([plugin({ filter: () => pluginFailure('Test', 'no idea') })], many(1)).schedulingCycle.schedulePod(web))).toBe(
      'running "Test" filter plugin: no idea',
    );
  });

  it('handles a cluster without nodes', () => {
    expect(makeCycle([], []).schedulingCycle.schedulePod(web)).toEqual({ type: 'noNodes' });
  });

  const sized = (name: string, cpu: string): Node => ({
    ...node(name, inZone('a')),
    status: { allocatable: { cpu, pods: '10' } } as unknown as Node['status'],
  });
  const wanting = (name: string, priority: number, nominatedNodeName = ''): Pod =>
    pod(name, [], {
      spec: { priority, containers: [{ name: 'app', resources: { requests: { cpu: '1' } } }] },
      status: { phase: 'Pending', ...(nominatedNodeName === '' ? {} : { nominatedNodeName }) },
    });

  it('counts nominated pods of the same or a higher priority, but not the pod itself', () => {
    const { nominatedPods, schedulingCycle } = makeCycle(defaultPlugins([]), [sized('n1', '1')]);
    const nominated = readPod(wanting('nominated', 5, 'n1'));
    nominatedPods.set(nominated, 'n1');
    expect(nameOf(schedulingCycle.schedulePod(readPod(wanting('higher', 6))))).toBe('n1');
    expect(messageOf(schedulingCycle.schedulePod(readPod(wanting('same', 5))))).toBe('0/1 nodes are available: 1 Insufficient cpu.');
    expect(messageOf(schedulingCycle.schedulePod(readPod(wanting('lower', 4))))).toBe('0/1 nodes are available: 1 Insufficient cpu.');
    expect(nameOf(schedulingCycle.schedulePod(nominated))).toBe('n1');
  });

  it('prefers the nominated node if it is feasible', () => {
    const { schedulingCycle } = makeCycle(defaultPlugins([]), [sized('n1', '8'), sized('n2', '2'), sized('n3', '0')]);
    expect(nameOf(schedulingCycle.schedulePod(readPod(wanting('p', 0))))).toBe('n1');
    expect(nameOf(schedulingCycle.schedulePod(readPod(wanting('p', 0, 'n2'))))).toBe('n2');
    expect(nameOf(schedulingCycle.schedulePod(readPod(wanting('p', 0, 'n3'))))).toBe('n1');
    expect(nameOf(schedulingCycle.schedulePod(readPod(wanting('p', 0, 'gone'))))).toBe('n1');
  });
});
