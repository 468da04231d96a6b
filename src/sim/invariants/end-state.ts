import type { OwnerReference, PersistentVolume, PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts';
import { claimKeyOf, type Facts, isProvisioned, isRunning } from './facts.ts';

/**
 * How a world ended, up to names and uids that the cluster chose. Left out is what may depend on who was first: on which node a pod
 * runs, what its replacements are called, how often something was tried, and claims that a set may have left behind, with all that is theirs.
 */
export function endState(facts: Facts): readonly string[] {
  const leftBehind = new Set(Array.from(facts.claims).flatMap(([key, claim]) => (isLeftBehind(claim, facts) ? [key] : [])));
  const isCompared = (volume: PersistentVolume) => !leftBehind.has(claimKeyOf(volume));
  const claims = Array.from(facts.claims).flatMap(([key, claim]) => (leftBehind.has(key) ? [] : `claim ${key} ${claimState(claim)}`));
  const volumes = Array.from(facts.volumes.values())
    .filter(isCompared)
    .map((volume) => {
      const { spec, status } = volume;
      return `volume of ${claimKeyOf(volume)} ${status.phase} ${spec.persistentVolumeReclaimPolicy} ${spec.capacity?.['storage']} attached ${facts.nodesOf(spec.csi?.volumeHandle ?? '').size} ${marksOf(volume)}`;
    });
  const disks = Array.from(facts.disks.keys()).filter((handle) => facts.volumesOf(handle).every(isCompared));
  const pods = Array.from(facts.pods.values(), (pod) => `pod of ${ownerOf(pod)} ${pod.status.phase} ${isRunning(pod) ? 'running' : ''}`);
  const intents = Array.from(facts.intents.values(), ({ spec }) => `intent to ${spec.operation}`);
  const sets = Array.from(facts.sets, ([key, { spec, status }]) => `set ${key} ${spec.replicas} ready ${status.readyReplicas ?? 0}`);
  return [...claims, ...volumes, ...pods, ...sets, ...intents, `${disks.length} disks`, `${facts.attachments.size} attachments`].sort();
}

const claimState = (claim: PersistentVolumeClaim): string => {
  const { status, metadata, spec } = claim;
  return `${status.phase} ${spec.storageClassName} ${status.capacity?.['storage'] ?? ''} ${metadata.labels?.['touched'] ?? ''} ${metadata.deletionTimestamp === undefined ? '' : 'terminating'} ${marksOf(claim)}`;
};

/** What controllers leave on an object: a mark too many, or one that is missing, misleads whoever looks next. Whether it was ever attached may differ. */
const marksOf = ({ metadata: { finalizers = [], annotations = {} } }: PersistentVolume | PersistentVolumeClaim): string =>
  [...finalizers.filter((each) => !each.startsWith('external-attacher/')), ...Object.keys(annotations)].sort().join(' ');

/**
 * A claim of a number that its set has no more. With whenScaled Delete it goes with its pod; if there was no pod at that moment (a drain had driven it
 * out, or it was not made yet) nobody gives it to one, and it stays: Kubernetes (v1.36.4, `updateStatefulSet`) looks at condemned pods only.
 */
function isLeftBehind({ metadata }: PersistentVolumeClaim, facts: Facts): boolean {
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === 'StatefulSet');
  const set = owner === undefined ? undefined : facts.sets.get(`${metadata.namespace}/${owner.name}`);
  const ordinal = Number(metadata.name?.slice(metadata.name.lastIndexOf('-') + 1));
  return set !== undefined && set.metadata.uid === owner?.uid && ordinal >= (set.spec.replicas ?? 1);
}

/** 'app-1-5d4f8-xyz12' belongs to app-1. */
const ownerOf = ({ metadata }: { readonly metadata: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> } }): string =>
  metadata.labels?.['app'] ?? metadata.name ?? '';

/** What may not be at the end of any world, whatever was done in it. */
export function leftUndone(facts: Facts): string | undefined {
  const needed = new Set(
    Array.from(facts.pods.values()).flatMap((pod) =>
      pod.status.phase === 'Running' || pod.status.phase === 'Pending' ? facts.disksOf(pod).map(({ handle }) => `${pod.spec.nodeName} ${handle}`) : [],
    ),
  );
  for (const [handle, nodes] of facts.attached)
    for (const node of nodes) if (!needed.has(`${node} ${handle}`)) return `disk ${handle} is still attached to ${node}, where nobody needs it`;
  for (const [name, node] of facts.nodes)
    if (facts.readySince.has(name) && node.spec.taints?.some(({ key }) => key.startsWith('node.kubernetes.io/') && key !== 'node.kubernetes.io/unschedulable'))
      return `node ${name} is ready, and still marked as one that is not`;
  for (const [key, pod] of facts.pods) if (pod.metadata.deletionTimestamp !== undefined) return `pod ${key} is still terminating`;
  for (const [name, { metadata, spec }] of facts.attachments) {
    if (metadata.deletionTimestamp !== undefined) return `attachment ${name} is still terminating`;
    const volume = facts.volumes.get(spec.source.persistentVolumeName ?? '');
    if (!needed.has(`${spec.nodeName} ${volume?.spec.csi?.volumeHandle}`))
      return `attachment ${name} to ${spec.nodeName} is still there, where nobody needs it`;
  }
  for (const [key, claim] of facts.claims) {
    if (claim.metadata.deletionTimestamp !== undefined && !isUsed(facts, key)) return `claim ${key} is still terminating, and nobody uses it`;
    if (claim.metadata.deletionTimestamp === undefined && isOrphan(claim, facts)) return `claim ${key} is still there, and whoever owned it is gone`;
  }
  for (const volume of facts.volumes.values()) {
    const claim = facts.claimByUid(volume.spec.claimRef?.uid, claimKeyOf(volume));
    if (claim?.status.phase === 'Pending' && (claim.spec.volumeName ?? '') === '')
      return `claim ${claim.metadata.name} is still Pending, and volume ${volume.metadata.name} is there for it`;
    const undone = undoneOf(volume, facts);
    if (undone !== undefined) return undone;
  }
  for (const [name, { spec }] of facts.intents)
    if (spec.operation !== 'Scrub' || !hasNoPlaceToScrub(name, facts)) return `there is still an intent to ${spec.operation} ${name}`;
  return undefined;
}

/** A pod that does not run. */
export function idlePod(facts: Facts): string | undefined {
  for (const [key, pod] of facts.pods) if (!isRunning(pod)) return `pod ${key} does not run`;
  return undefined;
}

function undoneOf(volume: PersistentVolume, facts: Facts): string | undefined {
  const { metadata, spec, status } = volume;
  if (facts.claimByUid(spec.claimRef?.uid, claimKeyOf(volume)) !== undefined) return undefined;
  const policy = spec.persistentVolumeReclaimPolicy;
  if (metadata.deletionTimestamp !== undefined) return `volume ${metadata.name} is still terminating, and no claim has it`;
  if (spec.claimRef?.uid !== undefined && status.phase === 'Bound') return `volume ${metadata.name} is still Bound, and its claim is gone`;
  const isDue =
    (policy === 'Recycle' && !isAwaited(volume, facts) && !hasNoPlaceToScrub(metadata.name, facts)) || (policy === 'Delete' && isProvisioned(volume));
  return isDue && status.phase === 'Released' ? `volume ${metadata.name} is still Released, and its policy is ${policy}` : undefined;
}

/** As long as a pod names the claim that is gone, nobody scrubs its volume: Kubernetes (v1.36.4) does not either. */
const isAwaited = (volume: PersistentVolume, facts: Facts): boolean => !facts.claims.has(claimKeyOf(volume)) && isUsed(facts, claimKeyOf(volume));

/** Claims of sets go with their set, or with the pod that was scaled away. */
function isOrphan({ metadata }: PersistentVolumeClaim, facts: Facts): boolean {
  const exists = ({ kind, name, uid }: OwnerReference) => {
    const owners: ReadonlyMap<string, Pod | StatefulSet> = kind === 'Pod' ? facts.pods : facts.sets;
    return owners.get(`${metadata.namespace}/${name}`)?.metadata.uid === uid;
  };
  const { ownerReferences = [] } = metadata;
  return ownerReferences.length > 0 && !ownerReferences.some(exists);
}

/** People who cordon every node keep scrubbers away as well. */
function hasNoPlaceToScrub(volume: string | undefined, facts: Facts): boolean {
  const scrubber = facts.pods.get(`default/recycler-for-${volume}`);
  if (scrubber?.status.phase !== 'Pending' || (scrubber.spec.nodeName ?? '') !== '') return false;
  return Array.from(facts.nodes.values()).every(({ spec }) => spec.unschedulable === true);
}

function isUsed(facts: Facts, key: string): boolean {
  const [namespace, name] = key.split('/');
  return Array.from(facts.pods.values()).some(
    ({ metadata, spec, status }) =>
      metadata.namespace === namespace &&
      status.phase !== 'Succeeded' &&
      status.phase !== 'Failed' &&
      (spec.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name),
  );
}
