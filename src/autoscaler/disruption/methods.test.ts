import { expect, test } from 'vitest';
import { hashed, instanceType, TestState, usualTypes } from '../../../test/autoscaler/cluster-state.ts';
import { podDisruptionBudgetKind } from '../../api/kinds/policy/pod-disruption-budget.ts';
import { requirementsOf } from '../requirements/requirements.ts';
import { labels } from '../labels.ts';
import type { Command } from './actions.ts';
import { examine } from './candidates.ts';
import { findCommand } from './methods.ts';

interface Found {
  readonly command: Command | undefined;
  /** By the name of the node. */
  readonly refusals: Readonly<Record<string, string>>;
}

function found(cluster: TestState): Found {
  const { state } = cluster;
  const refusals: Record<string, string> = {};
  const budgets = [...cluster.informers.cache(podDisruptionBudgetKind).list()];
  const candidates = [...state.claims.list()].flatMap((claim) => {
    const examined = examine(claim, { state, budgets, now: 0 });
    if (examined.type === 'candidate') return [examined.candidate];
    refusals[claim.metadata.name] = examined.why;
    return [];
  });
  const command = findCommand({ state, candidates, sha256: hashed, onUnconsolidatable: ({ node }, why) => void (refusals[node.metadata.name] = why) });
  return { command, refusals };
}

const valuesOf = ({ command }: Found, key: string): readonly string[] =>
  [...(requirementsOf(command?.replacements[0]?.spec.requirements ?? []).get(key)?.values ?? [])].sort();

test('empty nodes are removed together, as many as the budget allows; the others are not removed for another reason', () => {
  const cluster = new TestState();
  cluster.pool('default', { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '50%' }] } });
  for (const name of ['n1', 'n2', 'n3']) cluster.node(name);
  // Half of three, rounded up.
  expect(found(cluster).command).toEqual({ reason: 'Empty', candidates: ['n1', 'n2'], replacements: [] });
  const closed = new TestState();
  closed.pool('default', { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '0', reasons: ['Empty'] }] } });
  closed.node('n1');
  expect(found(closed).command).toBeUndefined();
});

test('a budget counts initialized nodes; those that are leaving, and those that are not ready, use it up', () => {
  const cluster = new TestState();
  cluster.pool('default', { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '1' }] } });
  cluster.node('broken', { isReady: false, conditions: { Consolidatable: 'False' } });
  cluster.node('n1');
  expect(found(cluster).command).toBeUndefined();
  cluster.node('broken', { conditions: { Consolidatable: 'False' } });
  expect(found(cluster).command?.candidates).toEqual(['n1']);
  cluster.state.marked.add('broken');
  expect(found(cluster).command).toBeUndefined();
});

test('the strictest budget of a reason holds, and budgets of other reasons do not', () => {
  const cluster = new TestState();
  const budgets = [{ nodes: '100%' }, { nodes: '1', reasons: ['Empty'] }, { nodes: '0', reasons: ['Drifted'] }];
  cluster.pool('default', { disruption: { consolidateAfter: '0s', budgets } });
  for (const name of ['n1', 'n2']) cluster.node(name, { conditions: { Drifted: 'True' } });
  expect(found(cluster).command).toMatchObject({ reason: 'Empty', candidates: ['n1'] });
  for (const name of ['n1', 'n2']) cluster.pod(`on-${name}`, { node: name, cpu: '3' });
  expect(found(cluster).command?.reason).not.toBe('Drifted');
});

test('a drifted node is replaced for its pods; an empty one goes first', () => {
  const cluster = new TestState();
  cluster.pool('default');
  for (const name of ['n1', 'n2']) cluster.node(name, { conditions: { Drifted: 'True', Consolidatable: 'False' } });
  for (const name of ['n1', 'n2']) cluster.pod(`on-${name}`, { node: name, cpu: '3500m' });
  const { command } = found(cluster);
  expect(command).toMatchObject({ reason: 'Drifted', candidates: ['n1'] });
  expect(command?.replacements).toHaveLength(1);
  cluster.node('n3', { conditions: { Drifted: 'True', Consolidatable: 'False' } });
  expect(found(cluster).command).toEqual({ reason: 'Drifted', candidates: ['n3'], replacements: [] });
});

test('one node: its pods fit on the others, and it is removed without a replacement', () => {
  const cluster = new TestState();
  cluster.pool('default');
  cluster.node('n1', { type: 'medium' });
  cluster.node('n2', { type: 'medium', conditions: { Consolidatable: 'False' } });
  cluster.pod('p1', { node: 'n1' });
  cluster.pod('p2', { node: 'n2' });
  expect(found(cluster).command).toEqual({ reason: 'Underutilized', candidates: ['n1'], replacements: [] });
});

test('pods that wait for the room of the other node keep the node', () => {
  const cluster = new TestState();
  cluster.pool('default', { limits: { nodes: 2 } });
  cluster.node('n1', { type: 'medium' });
  cluster.node('n2', { type: 'medium', conditions: { Consolidatable: 'False' } });
  cluster.pod('p1', { node: 'n1' });
  cluster.pod('waiting', { cpu: '4' });
  expect(found(cluster).command).toBeUndefined();
});

test('one node: it is replaced by a cheaper type, on spot only, since prices are compared for spot', () => {
  const cluster = new TestState();
  cluster.pool('default');
  cluster.node('n1', { type: 'large' });
  cluster.pod('p1', { node: 'n1' });
  const result = found(cluster);
  expect(result.command).toMatchObject({ reason: 'Underutilized', candidates: ['n1'] });
  expect(valuesOf(result, labels.capacityType)).toEqual(['spot']);
  expect(valuesOf(result, labels.instanceType)).toEqual(['large', 'medium', 'small']);
});

test('a type that may cost more than the node in one of its zones is no replacement', () => {
  const offerings = [
    { zone: 'a', capacityType: 'on-demand', price: 0.5, isAvailable: true },
    { zone: 'b', capacityType: 'on-demand', price: 9, isAvailable: true },
  ] as const;
  const cluster = new TestState([instanceType('uneven', { cpu: 4, price: 1, offerings }), instanceType('medium', { cpu: 4, price: 2 })]);
  cluster.pool('default', {}, { requirements: [{ key: labels.capacityType, operator: 'In', values: ['on-demand'] }] });
  cluster.node('n1', { type: 'medium' });
  cluster.pod('p1', { node: 'n1' });
  expect(found(cluster)).toEqual({ command: undefined, refusals: { n1: "Can't replace with a cheaper node" } });
});

test('a spot node is not replaced by a spot node, and a node of unknown price by none', () => {
  const cluster = new TestState();
  cluster.pool('default');
  cluster.node('n1', { type: 'large', capacityType: 'spot' });
  cluster.pod('p1', { node: 'n1' });
  expect(found(cluster)).toEqual({
    command: undefined,
    refusals: { n1: "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node" },
  });
  const unknown = new TestState();
  unknown.pool('default');
  unknown.node('n1', { type: 'retired' });
  unknown.pod('p1', { node: 'n1' });
  expect(found(unknown)).toEqual({ command: undefined, refusals: { n1: "Can't replace with a cheaper node" } });
});

const onDemand = { requirements: [{ key: labels.capacityType, operator: 'In', values: ['on-demand'] }] };

test('several nodes: one cheaper node stands for as many as it can', () => {
  const cluster = new TestState();
  cluster.pool('default', {}, onDemand);
  for (const name of ['n1', 'n2', 'n3', 'n4']) {
    cluster.node(name, { type: 'medium' });
    cluster.pod(`on-${name}`, { node: name, cpu: '2200m' });
  }
  const result = found(cluster);
  // Three for 6 dollars: one large node for 4 holds them, but not four.
  expect(result.command).toMatchObject({ reason: 'Underutilized', candidates: ['n1', 'n2', 'n3'] });
  expect(valuesOf(result, labels.instanceType)).toEqual(['large']);
});

test('several nodes: if a node of the same type could stay, only cheaper types are taken', () => {
  const types = [...usualTypes, instanceType('cheap', { cpu: 8, price: 1.5, volumes: 8 })];
  const cluster = new TestState(types);
  cluster.pool('default', {}, onDemand);
  for (const name of ['n1', 'n2']) {
    cluster.node(name, { type: 'large' });
    cluster.pod(`on-${name}`, { node: name, cpu: '4' });
  }
  const result = found(cluster);
  expect(result.command?.candidates).toEqual(['n1', 'n2']);
  expect(valuesOf(result, labels.instanceType)).toEqual(['cheap']);
});

test('policies of the NodePool are told as the reason', () => {
  const cluster = new TestState();
  cluster.pool('whole', { disruption: { consolidationPolicy: 'WhenEmpty', consolidateAfter: '0s' } });
  cluster.pool('never', { disruption: { consolidateAfter: 'Never' } });
  cluster.node('n1', { pool: 'whole' });
  cluster.node('n2', { pool: 'never', conditions: { Consolidatable: 'False' } });
  for (const name of ['n1', 'n2']) cluster.pod(`on-${name}`, { node: name });
  expect(found(cluster)).toEqual({
    command: undefined,
    refusals: { n1: 'NodePool "whole" has consolidation policy WhenEmpty, but node is not empty', n2: 'NodePool "never" has consolidation disabled' },
  });
});

test('what blocks the disruption of a node is told', () => {
  const cluster = new TestState();
  cluster.pool('default');
  const doNotDisrupt = { 'karpenter.sh/do-not-disrupt': 'true' };
  cluster.node('noted', { annotations: doNotDisrupt });
  cluster.node('kept');
  cluster.pod('precious', { node: 'kept', annotations: doNotDisrupt });
  cluster.node('guarded');
  cluster.pod('guarded', { node: 'guarded', labels: { app: 'db' } });
  cluster.node('nominated');
  cluster.state.nominate('nominated', 1);
  cluster.node('orphaned', { pool: 'gone' });
  const budget = { metadata: { namespace: 'default', name: 'db' }, spec: { selector: { matchLabels: { app: 'db' } } }, status: { disruptionsAllowed: 0 } };
  cluster.set(podDisruptionBudgetKind, budget);
  expect(found(cluster)).toEqual({
    command: undefined,
    refusals: {
      noted: 'Disruption is blocked through the "karpenter.sh/do-not-disrupt" annotation',
      kept: 'Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=default/precious)',
      guarded: 'Pdb prevents pod evictions (PodDisruptionBudget=[default/db])',
      nominated: 'Node is nominated for a pending pod',
      orphaned: 'NodePool not found (NodePool=gone)',
    },
  });
  cluster.set(podDisruptionBudgetKind, { ...budget, status: { disruptionsAllowed: 1 } });
  expect(found(cluster).refusals.guarded).toBeUndefined();
});
