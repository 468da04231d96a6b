import { expect, test } from 'vitest';
import type { Node } from '../../api/generated/types.ts';
import { renewedLease } from './lease.ts';

const node = (uid: string) => ({ metadata: { name: 'node-1', uid } }) as Node;
const now = Date.UTC(2026, 0, 1, 0, 0, 0, 123);

test('a new lease belongs to its node', () =>
  expect(renewedLease(undefined, node('a'), now)).toEqual({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'node-1', namespace: 'kube-node-lease', ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'a' }] },
    spec: { holderIdentity: 'node-1', leaseDurationSeconds: 40, renewTime: '2026-01-01T00:00:00.123000Z' },
  }));

test('one that exists keeps what others made of it, and belongs to the node that there is now', () => {
  const first = renewedLease(undefined, node('a'), now);
  const changed = { ...first, metadata: { ...first.metadata, labels: { seen: 'yes' }, resourceVersion: '7' }, spec: { ...first.spec, leaseTransitions: 3 } };
  expect(renewedLease(changed, node('a'), now + 1000)).toEqual({ ...changed, spec: { ...changed.spec, renewTime: '2026-01-01T00:00:01.123000Z' } });
  expect(renewedLease(changed, node('b'), now).metadata.ownerReferences).toEqual([{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'b' }]);
});
