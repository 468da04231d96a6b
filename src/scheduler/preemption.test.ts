import { describe, expect, it } from 'vitest';
import { inZone, node, SmallCluster } from '../../test/scheduler/small-cluster.ts';
import { pod } from '../../test/storage/objects.ts';
import type { Node, Pod, PodDisruptionBudget } from '../api/generated/types.ts';
import type { KubeObject } from '../api/object.ts';
import { SchedulingCycle } from './scheduling-cycle.ts';
import { rejection } from './framework.ts';
import { NominatedPods } from './nominated-pods.ts';
import { defaultPlugins } from './plugins/index.ts';
import { readPod } from './pod-info.ts';
import { postFilter } from './preemption.ts';

const sized = (name: string, cpu: string, spec: Partial<Node['spec']> = {}): Node => ({
  ...node(name, inZone('a')),
  spec,
  status: { allocatable: { cpu, pods: '10' } } as unknown as Node['status'],
});
interface Made {
  readonly cpu?: string;
  readonly priority?: number;
  readonly on?: string;
  readonly app?: string;
  readonly started?: string;
  readonly spec?: Partial<Pod['spec']>;
  readonly status?: Pod['status'];
}
const made = (name: string, { cpu = '1', priority = 0, on, app = name, started, spec = {}, status = {} }: Made): Pod =>
  pod(name, [], {
    metadata: { namespace: 'default', name, labels: { app } },
    spec: { priority, containers: [{ name: 'app', resources: { requests: { cpu } } }], ...(on === undefined ? {} : { nodeName: on }), ...spec },
    status: { phase: 'Running', ...(started === undefined ? {} : { startTime: started }), ...status },
  });
const budget = (app: string, disruptionsAllowed: number, more: Partial<PodDisruptionBudget['status']> = {}): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { namespace: 'default', name: app },
  spec: { selector: { matchLabels: { app } } },
  status: { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, ...more },
});

/** 'n1: a, b' (node and victims), or the message. */
function preempting(pending: Pod, ...objects: readonly KubeObject[]): string {
  const plugins = defaultPlugins([]);
  const cluster = new SmallCluster(plugins);
  cluster.set(...objects);
  const context = { plugins, cache: cluster.cache, nominatedPods: new NominatedPods(), random: () => 0 };
  const result = new SchedulingCycle(context).schedulePod(readPod(pending));
  if (result.type !== 'none') return result.type;
  const found = postFilter(context, result.diagnosis, result.cycle);
  return found.type === 'preempt' ? `${found.victims.node.name}: ${found.victims.pods.map(({ name }) => name).join(', ')}` : found.message;
}
const high = (more: Made = {}) => made('high', { priority: 10, ...more });
const noHelp = (counts: string) => `no new claims to deallocate, preemption: 0/${counts}.`;

describe('preemption', () => {
  it('evicts pods of lower priority, no more than needed', () => {
    const there = [made('a', { on: 'n1' }), made('b', { on: 'n1', priority: 1 })];
    expect(preempting(high(), sized('n1', '2'), ...there)).toBe('n1: a');
    expect(preempting(high({ cpu: '2' }), sized('n1', '2'), ...there)).toBe('n1: b, a');
  });

  it('does not evict pods of the same priority', () => {
    expect(preempting(made('same', { priority: 1 }), sized('n1', '1'), made('a', { on: 'n1', priority: 1 }))).toBe(
      noHelp('1 nodes are available: 1 No preemption victims found for incoming pod'),
    );
  });

  it('does not evict where it would not help', () => {
    const nodes = [sized('cordoned', '4', { unschedulable: true }), sized('small', '1'), sized('full', '2')];
    const there = [made('a', { on: 'full', cpu: '1', priority: 20 }), made('b', { on: 'full' })];
    expect(preempting(high({ cpu: '2' }), ...nodes, ...there)).toBe(
      noHelp('3 nodes are available: 1 Insufficient cpu, 2 Preemption is not helpful for scheduling'),
    );
  });

  it('respects preemptionPolicy Never', () => {
    expect(preempting(high({ spec: { preemptionPolicy: 'Never' } }), sized('n1', '1'), made('a', { on: 'n1' }))).toBe(
      'no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.',
    );
  });

  it('waits while victims on the nominated node are terminating', () => {
    const going: Pod['status'] = {
      phase: 'Running',
      conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler', lastProbeTime: null, lastTransitionTime: null }],
    };
    const leaving = made('a', { on: 'n1', status: going });
    const deleted: Pod = { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    const nominated = high({ status: { phase: 'Pending', nominatedNodeName: 'n1' } });
    const others = [sized('n1', '1'), sized('n2', '1'), made('b', { on: 'n2' })];
    expect(preempting(nominated, deleted, ...others)).toBe(
      'no new claims to deallocate, preemption: not eligible due to a terminating pod on the nominated node.',
    );
    expect(preempting(nominated, leaving, ...others)).toBe('n1: a');
    // The nominated node became unresolvable: another may be chosen.
    expect(preempting(nominated, deleted, sized('n1', '1', { unschedulable: true }), ...others.slice(1))).toBe('n2: b');
  });

  it('ignores nodes with unresolvable rejections, such as those for volumes', () => {
    const never = rejection('unresolvable', 'VolumeBinding', { text: "node(s) didn't match PersistentVolume's node affinity", rule: 'x' });
    const plugins = [...defaultPlugins([]), { name: 'VolumeBinding', preFilter: () => ({ filter: () => never }) }];
    const cluster = new SmallCluster(plugins);
    cluster.set(sized('n1', '1'), made('a', { on: 'n1' }));
    const context = { plugins, cache: cluster.cache, nominatedPods: new NominatedPods(), random: () => 0 };
    const result = new SchedulingCycle(context).schedulePod(readPod(high({ cpu: '0' })));
    if (result.type !== 'none') throw new Error('no node fits');
    expect(postFilter(context, result.diagnosis, result.cycle)).toMatchObject({ type: 'noCandidate', keepsNomination: false });
    // After a PreFilter rejection there is no dry run.
    expect(postFilter(context, { ...result.diagnosis, everywhere: never }, undefined)).toEqual({
      type: 'noCandidate',
      message: 'not found',
      keepsNomination: true,
    });
  });
});

describe('the choice of the node', () => {
  const nodes = [sized('n1', '1'), sized('n2', '1')];
  const on = (first: Made, second: Made) => [...nodes, made('first', { on: 'n1', ...first }), made('second', { on: 'n2', ...second })];

  it.each([
    ['victims without PDB violations', on({ app: 'guarded' }, {}), 'n2: second'],
    ['the lowest highest priority', on({ priority: 5 }, { priority: 4 }), 'n2: second'],
    ['fewer victims', [sized('n1', '2'), sized('n2', '2'), made('a', { on: 'n1' }), made('b', { on: 'n1' }), made('c', { on: 'n2', cpu: '2' })], 'n2: c'],
    ['victims that started last', on({ started: '2026-01-01T00:00:00Z' }, { started: '2026-01-02T00:00:00Z' }), 'n2: second'],
    ['the first of equals', on({}, {}), 'n1: first'],
  ])('%s', (_, objects, chosen) => {
    const cpu = objects.some(({ metadata }) => metadata.name === 'c') ? '2' : '1';
    expect(preempting(high({ cpu }), ...objects, budget('guarded', 0))).toBe(chosen);
  });

  it('reprieves pods that a PDB protects first', () => {
    const there = [sized('n1', '2'), made('guarded', { on: 'n1' }), made('free', { on: 'n1', priority: 5 })];
    expect(preempting(high(), ...there)).toBe('n1: guarded');
    expect(preempting(high(), ...there, budget('guarded', 0))).toBe('n1: free');
    expect(preempting(high(), ...there, budget('guarded', 1))).toBe('n1: guarded');
    // It is in status.disruptedPods already.
    expect(preempting(high(), ...there, budget('guarded', 0, { disruptedPods: { guarded: '2026-01-01T00:00:00Z' } }))).toBe('n1: guarded');
    // Without an alternative, PDBs are violated.
    expect(preempting(high({ cpu: '2' }), ...there, budget('guarded', 0))).toBe('n1: free, guarded');
  });
});
