/** Pods for which the autoscaler launches a node, or does not. */
import { expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { TestState } from '../autoscaler/cluster-state.ts';
import { pod, pv, pvc } from '../storage/objects.ts';
import { bound, boundTo, disk, explanation, onlyInZone } from './explain-objects.ts';

const zone = 'topology.kubernetes.io/zone';

/** Of a pod whose volume is in zone-a, in a cluster without nodes. */
const why = (...launches: readonly KubeObject[]) =>
  explanation('pod/web', [
    pod('web', ['data']),
    pvc('data', '1Gi', { metadata: bound.metadata, spec: { volumeName: 'disk' }, status: { phase: 'Bound' } }),
    pv('disk', '1Gi', { spec: { ...boundTo('data'), ...disk('vol-1'), nodeAffinity: onlyInZone('zone-a') }, status: { phase: 'Bound' } }),
    ...launches,
  ]);

const inZones = (...values: readonly string[]) => ({ requirements: [{ key: zone, operator: 'In' as const, values }] });

test('a node is on its way: its NodeClaim, type and zone, and how far it is', () => {
  const state = new TestState();
  const claim = state.node('default-abc', {
    zone: 'zone-a',
    type: 'm5.large',
    capacityType: 'spot',
    conditions: { Registered: 'Unknown', Initialized: 'Unknown' },
  });
  expect(why(state.pool('default'), claim)).toMatchObject({
    verdict: 'waiting',
    code: 'NodeLaunching',
    summary: 'A node that fits is on its way: nodeclaim/default-abc (m5.large, spot, in zone-a). Its instance is launched, and has not joined the cluster yet.',
    next: { who: 'the autoscaler' },
  });
  const elsewhere = state.node('default-xyz', { zone: 'zone-b', conditions: { Initialized: 'Unknown' } });
  expect(why(state.pool('default'), elsewhere).code).toBe('NodePlanned');
});

test('a NodePool can have one launched, in the zone of the volume', () => {
  const { code, summary } = why(new TestState().pool('default'));
  expect([code, summary]).toEqual([
    'NodePlanned',
    expect.stringMatching(/^No node fits, and nodepool\/default can have one launched in zone-a\. If none comes, /),
  ]);
});

test('no NodePool can: what keeps each of them from it, and what would change that', () => {
  const state = new TestState();
  const full = { ...state.pool('full', { limits: { cpu: '8' } }), status: { resources: { cpu: '8' } } };
  const tainted = state.pool('tainted', {}, { taints: [{ key: 'gpu', effect: 'NoSchedule' }] });
  const elsewhere = state.pool('elsewhere', {}, inZones('zone-b'));
  const unready = {
    ...state.pool('unready'),
    status: { conditions: [{ type: 'NodeClassReady', status: 'False', reason: 'r', message: '', lastTransitionTime: '' }] },
  };
  const { verdict, code, summary, fixes, candidates } = why(full, tainted, elsewhere, unready);
  expect([verdict, code]).toEqual(['stuck', 'NoNodePoolFits']);
  expect(summary).toContain('nodepool/full has 8 cpu, and its limit is 8');
  expect(candidates.map(({ refusals }) => refusals.map(({ rule }) => rule))).toEqual([['limits'], ['taint'], ['requirements'], ['nodeClass']]);
  expect(fixes.map(({ text, commands }) => [text, commands[0]])[0]).toEqual(['nodepool/full needs a higher limit of cpu', 'kubectl edit nodepool/full']);
});

test('without a NodePool there is no autoscaler', () => {
  expect(why().code).toBe('NoNodes');
});
