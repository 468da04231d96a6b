import type { Lease, Node } from '../../api/generated/types.ts';
import { ownedBy } from '../registration/objects.ts';

export const leaseNamespace = 'kube-node-lease';

/** As kubelets have it: a node that has not been heard of for this long counts as lost. */
const durationSeconds = 40;
export const renewEveryMs = 10_000;

/** The lease by which a node shows that it is alive. `now`: milliseconds since 1970. */
export function renewedLease(latest: Lease | undefined, node: Node, now: number): Lease {
  const { name = '' } = node.metadata;
  const { metadata, spec } = latest ?? { metadata: { name, namespace: leaseNamespace }, spec: { holderIdentity: name } };
  // A node of the same name may have been there before: what it owned is garbage.
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
