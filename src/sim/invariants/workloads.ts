import type { Node, OwnerReference, Pod } from '../../api/generated/types.ts';
import type { Facts } from './facts.ts';
import { type DisturbedUntil, type Invariant, neverDisturbed, cachesCurrentMs } from './invariant.ts';

/** A claim is deleted with a pod that is scaled down if the pod owns it. */
export const retainedClaimsStay: Invariant = {
  name: 'a StatefulSet with policy Retain makes no pod the owner of a claim',
  check: (change, facts) => {
    if (change.type !== 'claim' || change.after === undefined) return undefined;
    const had = new Set(change.before?.metadata.ownerReferences?.map(({ uid }) => uid));
    const added = (change.after.metadata.ownerReferences ?? []).filter(({ kind, uid }) => kind === 'Pod' && !had.has(uid));
    const set = added.map((owner) => retainingSet(facts, owner, change.after?.metadata.namespace ?? '')).find((found) => found !== undefined);
    return set === undefined ? undefined : `claim ${change.key} is owned by its pod, and StatefulSet ${set} retains claims`;
  },
};

/** The StatefulSet of a pod, if it retains the claims of pods that are scaled down. */
function retainingSet(facts: Facts, { name, uid }: OwnerReference, namespace: string): string | undefined {
  const pod = facts.pods.get(`${namespace}/${name}`);
  const owner = pod?.metadata.uid === uid ? pod.metadata.ownerReferences?.[0] : undefined;
  const set = owner === undefined ? undefined : facts.sets.get(`${namespace}/${owner.name}`);
  if (set === undefined || set.metadata.uid !== owner?.uid) return undefined;
  return set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled === 'Delete' ? undefined : set.metadata.name;
}

/** So long after the last node failed, the node lifecycle controller must have noticed that all nodes are down. */
const noticedMs = 8_000;

const isEvicting = (node: Node | undefined): boolean =>
  node?.spec.taints?.some(
    ({ key, effect }) => effect === 'NoExecute' && (key === 'node.kubernetes.io/unreachable' || key === 'node.kubernetes.io/not-ready'),
  ) ?? false;

/** `isUndisturbed`: no fault disturbs the node lifecycle controller; then it also takes back, in time, the taints that it has set. */
export const staysInOutage = (isUndisturbed: boolean, disturbedUntil: DisturbedUntil = neverDisturbed): Invariant => ({
  name: 'when all nodes are down, no pod is evicted',
  check: (change, facts, now) => {
    if (facts.allDownSince === undefined || now - facts.allDownSince < noticedMs || now - disturbedUntil('controllers') < cachesCurrentMs) return undefined;
    const isNew = change.type === 'node' && change.before !== undefined && !isEvicting(change.before) && isEvicting(change.after);
    const evicting = isNew ? change.key : isUndisturbed ? Array.from(facts.nodes).find(([, node]) => isEvicting(node))?.[0] : undefined;
    return evicting === undefined ? undefined : `node ${evicting} has a NoExecute taint, and no node is ready to take its pods`;
  },
});

const isActive = ({ metadata, status }: Pod): boolean => metadata.deletionTimestamp === undefined && status.phase !== 'Succeeded' && status.phase !== 'Failed';

/**
 * Without lost answers, a ReplicaSet knows which pods it has created. Their names are random, so only that keeps it from creating too many. With faults it
 * may, and deletes the surplus, as Kubernetes does.
 */
export const noSurplus = (mostReplicas: ReadonlyMap<string, number>): Invariant => ({
  name: 'without faults, no more pods are created than asked for',
  check: (change, facts) => {
    if (change.type !== 'pod' || change.before !== undefined || change.after === undefined) return undefined;
    const app = change.after.metadata.labels?.['app'] ?? '';
    const [owner, most] = [change.after.metadata.ownerReferences?.[0], mostReplicas.get(app)];
    if (most === undefined || owner?.kind !== 'ReplicaSet') return undefined;
    const count = Array.from(facts.pods.values()).filter((pod) => isActive(pod) && pod.metadata.ownerReferences?.[0]?.uid === owner.uid).length;
    return count <= most ? undefined : `${owner.name} has ${count} pods, and the highest replicas was ${most}`;
  },
});
