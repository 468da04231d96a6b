import { expect, test } from 'vitest';
import { TestState } from '../../../test/autoscaler/cluster-state.ts';
import type { Pod, VolumeAttachment } from '../../api/generated/types.ts';
import { disruptedTaint, terminationFinalizer } from '../labels.ts';
import { decideTermination, type TerminationSnapshot } from './decide.ts';

const created = Date.parse('2026-01-01T00:00:00Z');

function leavingNode(): Pick<TerminationSnapshot, 'node' | 'claim'> {
  const state = new TestState();
  const claim = state.node('n1', {});
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', uid: 'n1', finalizers: [terminationFinalizer], deletionTimestamp: '2026-01-01T00:00:00Z' },
    spec: { providerID: claim.status?.providerID ?? '', taints: [disruptedTaint] },
    status: {},
  } as TerminationSnapshot['node'];
  return { node, claim: { ...claim, metadata: { ...claim.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } } };
}

const decide = (snapshot: Partial<TerminationSnapshot>, now: number) =>
  decideTermination(
    {
      ...leavingNode(),
      pods: [],
      attachments: [],
      volumeOfClaim: () => undefined,
      instance: 'there',
      isReady: true,
      lastEvent: () => undefined,
      ...snapshot,
    },
    now,
  );

/** Deleted at the beginning, and still running. */
const overdue = {
  metadata: { namespace: 'default', name: 'db', uid: 'db', deletionTimestamp: '2026-01-01T00:00:00Z' },
  spec: { nodeName: 'n1', containers: [] },
  status: { phase: 'Running', containerStatuses: [{ name: 'c', state: { running: {} } }] },
} as unknown as Pod;

test('a pod that is long overdue is waited for on a node that answers, and not on one that does not', () => {
  const later = created + 10 * 60_000;
  expect(decide({ pods: [overdue] }, later).reasons).toMatchObject([{ code: 'Draining' }]);
  const drained = [{ type: 'Drained', status: 'True', reason: 'Drained', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }];
  const { node, claim } = leavingNode();
  const withoutPods = { ...claim, status: { ...claim?.status, conditions: drained } } as NonNullable<TerminationSnapshot['claim']>;
  expect(decide({ node, claim: withoutPods, pods: [overdue], isReady: false }, later).reasons).toMatchObject([{ code: 'InstanceTerminating' }]);
});

test('volumes are detached before the instance ends', () => {
  const drained = [{ type: 'Drained', status: 'True', reason: 'Drained', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }];
  const { node, claim } = leavingNode();
  const known = { node, claim: { ...claim, status: { ...claim?.status, conditions: drained } } as NonNullable<TerminationSnapshot['claim']> };
  const attachment = { metadata: { name: 'csi-1' }, spec: { nodeName: 'n1', source: { persistentVolumeName: 'pv' } } } as unknown as VolumeAttachment;
  expect(decide({ ...known, attachments: [attachment] }, created + 60_000).reasons).toMatchObject([{ code: 'AwaitingVolumeDetachment' }]);
  expect(decide(known, created + 60_000).reasons).toMatchObject([{ code: 'InstanceTerminating' }]);
});
