/** Mirror pods: what the API server is told of a node's static pods. */
import type { Node, Pod } from '../../api/generated/types.ts';
import { MIRROR_POD } from '../../api/kinds/pod/pod-annotations.ts';
import type { Stored } from '../../api/stored.ts';
import type { Decision } from '../../client/decision.ts';
import type { StaticPod } from './manifest.ts';

export interface StaticPodSnapshot {
  readonly node: Stored<Node>;
  /** Undefined: there is no manifest of it, or not any more. */
  readonly wanted: StaticPod | undefined;
  /** The pod of this name. */
  readonly found: Stored<Pod> | undefined;
}

export type StaticPodAction =
  | { readonly do: 'create-mirror-pod'; readonly pod: Pod }
  /** With its grace period. */
  | { readonly do: 'delete-mirror-pod'; readonly pod: Stored<Pod> };

export function decideStaticPod({ node, wanted, found }: StaticPodSnapshot): Decision<StaticPodAction> {
  const nothing = (code: string, text: string): Decision<StaticPodAction> => ({ actions: [], reasons: [{ code, text }] });
  if (found === undefined) {
    if (wanted === undefined) return nothing('NoManifest', 'there is neither a manifest nor a pod');
    return { actions: [{ do: 'create-mirror-pod', pod: ownedBy(node, wanted.pod) }], reasons: [{ code: 'NewManifest', text: 'the manifest has no pod yet' }] };
  }
  const mirrored = found.metadata.annotations?.[MIRROR_POD];
  if (mirrored === undefined || found.spec.nodeName !== node.metadata.name) return nothing('NameTaken', 'the pod of this name is no static pod of this node');
  if (found.metadata.deletionTimestamp !== undefined) return nothing('Terminating', 'the pod of an earlier manifest has not ended yet');
  if (wanted?.hash === mirrored) return nothing('Mirrored', 'the pod is that of the manifest');
  const text = wanted === undefined ? 'its manifest is gone' : 'its manifest has changed';
  return { actions: [{ do: 'delete-mirror-pod', pod: found }], reasons: [{ code: 'OtherManifest', text }] };
}

/** It goes with the node. */
function ownedBy({ metadata: { name, uid } }: Stored<Node>, pod: Pod): Pod {
  return { ...pod, metadata: { ...pod.metadata, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid, controller: true }] } };
}
