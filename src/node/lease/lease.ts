import type { Lease, Node } from '../../api/generated/types.ts';
import { ownedBy } from '../registration/objects.ts';

export const leaseNamespace = 'kube-node-lease';

/** The kubelet's: the node lifecycle controller gives up on a node whose lease is older. */
const durationSeconds = 40;
export const renewEveryMs = 10_000;

/** The node's heartbeat. `now`: milliseconds since 1970. */
export function renewedLease(latest: Lease | undefined, node: Node, now: number): Lease {
  const { name = '' } = node.metadata;
  const { metadata, spec } = latest ?? { metadata: { name, namespace: leaseNamespace }, spec: { holderIdentity: name } };
  // A lease that an earlier Node of the same name owns is garbage.
  const ownerReferences = metadata.ownerReferences?.some(({ uid }) => uid === node.metadata.uid) ? metadata.ownerReferences : [ownedBy(node)];
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...metadata, ownerReferences },
    spec: { ...spec, leaseDurationSeconds: durationSeconds, renewTime: microTime(now) },
  };
}

/** '2026-01-31T12:00:00.000000Z' */
const microTime = (now: number): string => `${new Date(now).toISOString().slice(0, 23)}000Z`;
