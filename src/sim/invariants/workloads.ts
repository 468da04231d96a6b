import type { Node, OwnerReference, Pod } from '../../api/generated/types.ts';
import type { Facts } from './facts.ts';
import { type DisturbedUntil, type Invariant, neverDisturbed, newsMs } from './invariant.ts';

/** A claim goes with a pod that is scaled away if the pod owns it. */
export const retainedClaimsStay: Invariant = {
  name: 'a StatefulSet with policy Retain gives no claim away',
  check: (change, facts) => {
    if (change.type !== 'claim' || change.after === undefined) return undefined;
    const had = new Set(change.before?.metadata.ownerReferences?.map(({ uid }) => uid));
    const added = (change.after.metadata.ownerReferences ?? []).filter(({ kind, uid }) => kind === 'Pod' && !had.has(uid));
    const set = added.map((owner) => retainingSet(facts, owner, change.after?.metadata.namespace ?? '')).find((found) => found !== undefined);
    return set === undefined ? undefined : `claim ${change.key} goes with its pod, and set ${set} retains claims`;
  },
};

/** The set of a pod, if it retains the claims of pods that are scaled away. */
function retainingSet(facts: Facts, { name, uid }: OwnerReference, namespace: string): string | undefined {
  const pod = facts.pods.get(`${namespace}/${name}`);
  const owner = pod?.metadata.uid === uid ? pod.metadata.ownerReferences?.[0] : undefined;
  const set = owner === undefined ? undefined : facts.sets.get(`${namespace}/${owner.name}`);
  if (set === undefined || set.metadata.uid !== owner?.uid) return undefined;
  return set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled === 'Delete' ? undefined : set.metadata.name;
}

/** So long after the last node went, whoever looks after nodes and hears of them must have noticed that it was the last. */
const noticedMs = 8_000;

const drivenOut = (node: Node | undefined): boolean =>
  node?.spec.taints?.some(
    ({ key, effect }) => effect === 'NoExecute' && (key === 'node.kubernetes.io/unreachable' || key === 'node.kubernetes.io/not-ready'),
  ) ?? false;

/** `isUndisturbed`: nothing keeps the one who looks after nodes from doing so; then also what was driven out in a hurry is taken back in time. */
export const staysInOutage = (isUndisturbed: boolean, disturbedUntil: DisturbedUntil = neverDisturbed): Invariant => ({
  name: 'when all nodes are down, nobody is driven out',
  check: (change, facts, now) => {
    if (facts.allDownSince === undefined || now - facts.allDownSince < noticedMs || now - disturbedUntil('controllers') < newsMs) return undefined;
    const isNew = change.type === 'node' && change.before !== undefined && !drivenOut(change.before) && drivenOut(change.after);
    const driving = isNew ? change.key : isUndisturbed ? Array.from(facts.nodes).find(([, node]) => drivenOut(node))?.[0] : undefined;
    return driving === undefined ? undefined : `node ${driving} drives out its pods, and no node is ready to take them`;
  },
});

const isActive = ({ metadata, status }: Pod): boolean => metadata.deletionTimestamp === undefined && status.phase !== 'Succeeded' && status.phase !== 'Failed';

/**
 * Where no answer gets lost, a ReplicaSet knows which pods it has made: their names are drawn, so nothing else keeps it from making them twice. With faults
 * it may, and deletes what is too much, as Kubernetes does.
 */
export const noSurplus = (mostReplicas: ReadonlyMap<string, number>): Invariant => ({
  name: 'without faults, no more pods are made than asked for',
  check: (change, facts) => {
    if (change.type !== 'pod' || change.before !== undefined || change.after === undefined) return undefined;
    const app = change.after.metadata.labels?.['app'] ?? '';
    const [owner, most] = [change.after.metadata.ownerReferences?.[0], mostReplicas.get(app)];
    if (most === undefined || owner?.kind !== 'ReplicaSet') return undefined;
    const count = Array.from(facts.pods.values()).filter((pod) => isActive(pod) && pod.metadata.ownerReferences?.[0]?.uid === owner.uid).length;
    return count <= most ? undefined : `${owner.name} has ${count} pods, and nobody ever asked for more than ${most}`;
  },
});
