import { expect, test } from 'vitest';
import { hashed, TestState } from '../../../test/autoscaler/cluster-state.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import { annotations, labels } from '../labels.ts';
import { conditionOf, nodePoolHash } from '../node-claims.ts';
import { decideMarking, type MarkingSnapshot } from './decide.ts';
import { driftOf } from './drift.ts';

const created = Date.parse('2026-01-01T00:00:00Z');

function marked(options: Partial<MarkingSnapshot> & { readonly now?: number } = {}) {
  const cluster = new TestState();
  const { now = created, ...given } = options;
  const pool = given.pool ?? cluster.pool('default', { disruption: { consolidateAfter: '30s' } });
  const claim = given.claim ?? cluster.node('n1', { conditions: { Consolidatable: 'False' } });
  const decision = decideMarking({ drift: undefined, podEventAt: undefined, ...given, claim, pool }, now);
  const [write] = decision.actions;
  return { ...decision, claim: (write?.do === 'updateStatus' ? write.object : claim) satisfies NodeClaim };
}

test('a claim that is older than expireAfter is deleted, and decided about again at that time', () => {
  const claim = new TestState().node('n1');
  const expiring = { ...claim, spec: { ...claim.spec, expireAfter: '1h30m' } };
  const at = created + 90 * 60_000;
  expect(marked({ claim: expiring, now: at - 1 }).again).toBe(at);
  expect(marked({ claim: expiring, now: at }).actions).toEqual([{ do: 'delete', object: expiring }]);
  const never = { ...claim, spec: { ...claim.spec, expireAfter: 'Never' } };
  expect(marked({ claim: never, now: at * 2 }).actions.map((action) => action.do)).not.toContain('delete');
  // An end that has begun is left alone.
  const ending = { ...expiring, metadata: { ...expiring.metadata, deletionTimestamp: '2026-01-01T00:00:01Z' } };
  expect(marked({ claim: ending, now: at }).actions).toEqual([]);
});

test('a node is consolidatable once no pod has come or ended for consolidateAfter', () => {
  expect(marked({ now: created + 29_999 })).toMatchObject({ again: created + 30_000 });
  expect(conditionOf(marked({ now: created + 29_999 }).claim, 'Consolidatable')).toBeUndefined();
  expect(conditionOf(marked({ now: created + 30_000 }).claim, 'Consolidatable')?.status).toBe('True');
  const busy = marked({ now: created + 40_000, podEventAt: created + 40_000 });
  expect(busy.claim.status?.lastPodEventTime).toBe('2026-01-01T00:00:40Z');
  expect(conditionOf(busy.claim, 'Consolidatable')).toBeUndefined();
});

test('drift comes and goes with its cause', () => {
  const drifted = marked({ drift: 'NodePoolDrifted' });
  expect(conditionOf(drifted.claim, 'Drifted')).toMatchObject({ status: 'True', reason: 'NodePoolDrifted' });
  expect(conditionOf(marked({ claim: drifted.claim }).claim, 'Drifted')).toBeUndefined();
});

test('the template of the NodePool drifts by its hash, its requirements by the labels of the node', () => {
  const cluster = new TestState();
  const pool = cluster.pool('default');
  const made = cluster.node('n1', { zone: 'a' });
  const claim = { ...made, metadata: { ...made.metadata, annotations: { [annotations.nodePoolHash]: nodePoolHash(pool, hashed) } } };
  expect(driftOf(claim, pool, hashed)).toBeUndefined();
  // What does not concern the nodes that are there is no drift.
  expect(driftOf(claim, cluster.pool('default', { weight: 5, limits: { cpu: '1' } }), hashed)).toBeUndefined();
  expect(driftOf(claim, cluster.pool('default', {}, { taints: [] }), hashed)).toBeUndefined();
  expect(driftOf(claim, { ...pool, spec: { ...pool.spec, template: { ...pool.spec.template, metadata: { labels: {} } } } }, hashed)).toBeUndefined();
  expect(driftOf(claim, cluster.pool('default', {}, { taints: [{ key: 'k', effect: 'NoSchedule' }] }), hashed)).toBe('NodePoolDrifted');
  const inZone = (zone: string) => cluster.pool('default', {}, { requirements: [{ key: labels.zone, operator: 'In', values: [zone] }] });
  expect(driftOf(claim, inZone('a'), hashed)).toBeUndefined();
  expect(driftOf(claim, inZone('b'), hashed)).toBe('RequirementsDrifted');
});
