import { expect, test } from 'vitest';
import { TestState } from '../../../test/autoscaler/cluster-state.ts';
import type { NodePool } from '../../api/kinds/karpenter/node-pool.ts';
import { decidePoolStatus } from './decide.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

test('the status of a NodePool is the sum of its nodes, and whether it can launch any', () => {
  const state = new TestState();
  const pool = state.pool('default');
  const claims = ['n1', 'n2'].map((name) => {
    const claim = state.node(name, {});
    return { ...claim, status: { ...claim.status, capacity: { cpu: '4', memory: '16384Mi', pods: '29' } } };
  });
  const [write] = decidePoolStatus({ pool, claims, hasNodeClass: true }, now).actions;
  if (write?.do !== 'updateStatus') throw new Error('the status is not written');
  expect(write.object.status).toMatchObject({ nodes: 2, resources: { cpu: '8', memory: '32Gi', pods: '58', nodes: '2' } });
  expect(write.object.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });
  const settled: NodePool = write.object;
  expect(decidePoolStatus({ pool: settled, claims, hasNodeClass: true }, now + 60_000).actions).toEqual([]);
  const [later] = decidePoolStatus({ pool: settled, claims, hasNodeClass: false }, now + 60_000).actions;
  if (later?.do !== 'updateStatus') throw new Error('the status is not written');
  expect(later.object.status?.conditions).toMatchObject([
    { type: 'ValidationSucceeded', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
    { type: 'NodeClassReady', status: 'False', reason: 'NodeClassNotFound', lastTransitionTime: '2026-01-01T00:01:00Z' },
    { type: 'Ready', status: 'False', message: 'NodeClassReady=False' },
  ]);
});
