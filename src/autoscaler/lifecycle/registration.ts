import type { Node, Taint } from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import { isSameTaint } from '../../api/taints.ts';
import { labels, terminationFinalizer, unregisteredTaint } from '../labels.ts';

const hasTaint = ({ spec }: Node, taint: Taint): boolean => spec.taints?.some((each) => isSameTaint(each, taint)) ?? false;

/** Pods may have come to the node before its labels and taints were complete. */
export const isUnregisteredTaintMissing = (node: Node): boolean => node.metadata.labels?.[labels.registered] !== 'true' && !hasTaint(node, unregisteredTaint);

/** The Node with what its claim says: labels, annotations, taints, finalizer, owner; without the taint that kept pods off. */
export function registered(claim: NodeClaim, node: Node): Node {
  const { metadata, spec } = node;
  const claimed = [...(claim.spec.taints ?? []), ...(claim.spec.startupTaints ?? [])];
  const kept = (spec.taints ?? []).filter((taint) => !isSameTaint(taint, unregisteredTaint));
  const taints = [...kept, ...claimed.filter((taint) => !kept.some((each) => isSameTaint(each, taint)))];
  const owner = { apiVersion: claim.apiVersion, kind: claim.kind, name: claim.metadata.name ?? '', uid: claim.metadata.uid ?? '', blockOwnerDeletion: true };
  const owners = metadata.ownerReferences ?? [];
  const finalizers = metadata.finalizers ?? [];
  return {
    ...node,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...claim.metadata.labels, [labels.registered]: 'true' },
      annotations: { ...metadata.annotations, ...claim.metadata.annotations },
      finalizers: finalizers.includes(terminationFinalizer) ? finalizers : [...finalizers, terminationFinalizer],
      ownerReferences: owners.some(({ uid }) => uid === owner.uid) ? owners : [...owners, owner],
    },
    spec: { ...spec, taints },
  };
}
