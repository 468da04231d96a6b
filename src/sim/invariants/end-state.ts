import type { OwnerReference, PersistentVolume, PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts';
import { claimKeyOf, type Facts, isProvisioned, isRunning } from './facts.ts';

/**
 * The end state of a world, without random names and uids. Left out is what may depend on the order: the node of a pod, the names of its
 * replacements, the number of attempts, and claims that a StatefulSet may have left behind, with their volumes.
 */
export function endState(facts: Facts): readonly string[] {
  const leftBehind = new Set(Array.from(facts.claims).flatMap(([key, claim]) => (isLeftBehind(claim, facts) ? [key] : [])));
  const isCompared = (volume: PersistentVolume) => !leftBehind.has(claimKeyOf(volume));
  const claims = Array.from(facts.claims).flatMap(([key, claim]) => (leftBehind.has(key) ? [] : `claim ${key} ${claimState(claim)}`));
  const volumes = Array.from(facts.volumes.values())
    .filter(isCompared)
    .map((volume) => {
      const { spec, status } = volume;
      return `volume of ${claimKeyOf(volume)} ${status.phase} ${spec.persistentVolumeReclaimPolicy} ${spec.capacity?.['storage']} attached ${facts.nodesOf(spec.csi?.volumeHandle ?? '').size} ${metadataMarks(volume)}`;
    });
  const disks = Array.from(facts.disks.keys()).filter((handle) => facts.volumesOf(handle).every(isCompared));
  const pods = Array.from(facts.pods.values())
    .filter(isComparedPod)
    .map((pod) => `pod of ${ownerOf(pod)} ${pod.status.phase} ${isRunning(pod) ? 'running' : ''}`);
  const intents = Array.from(facts.intents.values(), ({ spec }) => `intent to ${spec.operation}`);
  const sets = Array.from(facts.sets, ([key, { spec, status }]) => `set ${key} ${spec.replicas} ready ${status.readyReplicas ?? 0}`);
  return [...claims, ...volumes, ...pods, ...sets, ...intents, `${disks.length} disks`, `${facts.attachments.size} attachments`].sort();
}

const claimState = (claim: PersistentVolumeClaim): string => {
  const { status, metadata, spec } = claim;
  return `${status.phase} ${spec.storageClassName} ${status.capacity?.['storage'] ?? ''} ${metadata.labels?.['touched'] ?? ''} ${metadata.deletionTimestamp === undefined ? '' : 'terminating'} ${metadataMarks(claim)}`;
};

/** Finalizers and annotations: a wrong one misleads a controller later. The attacher's finalizer may differ. */
const metadataMarks = ({ metadata: { finalizers = [], annotations = {} } }: PersistentVolume | PersistentVolumeClaim): string =>
  [...finalizers.filter((each) => !each.startsWith('external-attacher/')), ...Object.keys(annotations)].sort().join(' ');

/**
 * A claim whose ordinal its StatefulSet does not have any more. With whenScaled Delete it is deleted with its pod; if the pod did not exist at that
 * moment (evicted, or not created yet), the claim gets no owner and stays: Kubernetes (v1.36.4, `updateStatefulSet`) looks at condemned pods only.
 */
function isLeftBehind({ metadata }: PersistentVolumeClaim, facts: Facts): boolean {
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === 'StatefulSet');
  const set = owner === undefined ? undefined : facts.sets.get(`${metadata.namespace}/${owner.name}`);
  const ordinal = Number(metadata.name?.slice(metadata.name.lastIndexOf('-') + 1));
  return set !== undefined && set.metadata.uid === owner?.uid && ordinal >= (set.spec.replicas ?? 1);
}

/** Of a DaemonSet there are as many as nodes, of which one may be lost. */
const isComparedPod = ({ metadata }: Pod): boolean => metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet') !== true;

/** 'app-1-5d4f8-xyz12' belongs to app-1. */
const ownerOf = ({ metadata }: { readonly metadata: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> } }): string =>
  metadata.labels?.['app'] ?? metadata.name ?? '';

/** What must not be left at the end of any world. */
export function leftUndone(facts: Facts): string | undefined {
  const needed = new Set(
    Array.from(facts.pods.values()).flatMap((pod) =>
      pod.status.phase === 'Running' || pod.status.phase === 'Pending' ? facts.disksOf(pod).map(({ handle }) => `${pod.spec.nodeName} ${handle}`) : [],
    ),
  );
  for (const [handle, nodes] of facts.attached)
    for (const node of nodes) if (!needed.has(`${node} ${handle}`)) return `disk ${handle} is still attached to ${node}, where no pod uses it`;
  for (const [name, node] of facts.nodes)
    if (facts.readySince.has(name) && node.spec.taints?.some(({ key }) => key.startsWith('node.kubernetes.io/') && key !== 'node.kubernetes.io/unschedulable'))
      return `node ${name} is ready, and still has the taint of one that is not`;
  for (const [key, pod] of facts.pods) if (pod.metadata.deletionTimestamp !== undefined) return `pod ${key} is still terminating`;
  for (const [name, { metadata, spec }] of facts.attachments) {
    if (metadata.deletionTimestamp !== undefined) return `attachment ${name} is still terminating`;
    const volume = facts.volumes.get(spec.source.persistentVolumeName ?? '');
    if (!needed.has(`${spec.nodeName} ${volume?.spec.csi?.volumeHandle}`)) return `attachment ${name} to ${spec.nodeName} still exists, where no pod uses it`;
  }
  for (const [key, claim] of facts.claims) {
    if (claim.metadata.deletionTimestamp !== undefined && !isUsed(facts, key) && !isSnapshotted(facts, key) && !isCloned(facts, key))
      return `claim ${key} is still terminating, and no pod uses it`;
    if (claim.metadata.deletionTimestamp === undefined && isOrphan(claim, facts)) return `claim ${key} still exists, and its owner is gone`;
  }
  for (const volume of facts.volumes.values()) {
    const claim = facts.claimByUid(volume.spec.claimRef?.uid, claimKeyOf(volume));
    if (claim?.status.phase === 'Pending' && (claim.spec.volumeName ?? '') === '')
      return `claim ${claim.metadata.name} is still Pending, and volume ${volume.metadata.name} is there for it`;
    const undone = volumeLeftUndone(volume, facts);
    if (undone !== undefined) return undone;
  }
  for (const [name, { spec, status }] of facts.intents)
    if (spec.operation !== 'Scrub' || !((status.attempts ?? 0) >= mostScrubs || cannotRecycle(name, facts)))
      return `there is still an intent to ${spec.operation} ${name}`;
  return undefined;
}

/**
 * A claim waits for a clone of it, which the provisioner does not begin while its source is being deleted: as external-provisioner (v5.1) does, the source
 * stays until the claim of the clone is deleted.
 */
function isCloned(facts: Facts, key: string): boolean {
  const isClone = ({ metadata, spec, status }: PersistentVolumeClaim): boolean =>
    status.phase === 'Pending' && spec.dataSource?.kind === 'PersistentVolumeClaim' && `${metadata.namespace}/${spec.dataSource.name}` === key;
  return Array.from(facts.claims.values()).some(isClone);
}

/** The first pod that does not run. */
export function idlePod(facts: Facts): string | undefined {
  for (const [key, pod] of facts.pods) if (!isRunning(pod)) return `pod ${key} does not run`;
  return undefined;
}

function volumeLeftUndone(volume: PersistentVolume, facts: Facts): string | undefined {
  const { metadata, spec, status } = volume;
  if (facts.claimByUid(spec.claimRef?.uid, claimKeyOf(volume)) !== undefined) return undefined;
  const policy = spec.persistentVolumeReclaimPolicy;
  if (metadata.deletionTimestamp !== undefined) return `volume ${metadata.name} is still terminating, and no claim has it`;
  if (spec.claimRef?.uid !== undefined && status.phase === 'Bound') return `volume ${metadata.name} is still Bound, and its claim is gone`;
  const isDue =
    (policy === 'Recycle' && !waitsForPods(volume, facts) && !cannotRecycle(metadata.name, facts)) || (policy === 'Delete' && isProvisioned(volume));
  return isDue && status.phase === 'Released' ? `volume ${metadata.name} is still Released, and its policy is ${policy}` : undefined;
}

/** A volume is not recycled while a pod names its deleted claim, as in Kubernetes (v1.36.4, `recycleVolumeOperation`). */
const waitsForPods = (volume: PersistentVolume, facts: Facts): boolean => !facts.claims.has(claimKeyOf(volume)) && isUsed(facts, claimKeyOf(volume));

/**
 * A snapshot that is deleted before it is ready stays as long as a claim wants to be restored from it, which it never is; and it holds its source. So it is
 * with external-snapshotter (v8.6, `isPVCBeingUsed`): the user has to delete the claim that waits.
 */
function isSnapshotted(facts: Facts, key: string): boolean {
  const [namespace, name] = key.split('/');
  const isAwaited = (snapshot: string | undefined) =>
    Array.from(facts.claims.values()).some(
      (claim) => claim.status.phase === 'Pending' && claim.metadata.namespace === namespace && claim.spec.dataSource?.name === snapshot,
    );
  return Array.from(facts.snapshots.values()).some(
    ({ metadata, spec, status }) =>
      metadata.namespace === namespace &&
      metadata.deletionTimestamp !== undefined &&
      spec.source.persistentVolumeClaimName === name &&
      status?.readyToUse !== true &&
      isAwaited(metadata.name),
  );
}

/** The owner of a claim, a StatefulSet or a pod that was scaled down, is gone. */
function isOrphan({ metadata }: PersistentVolumeClaim, facts: Facts): boolean {
  const exists = ({ kind, name, uid }: OwnerReference) => {
    const owners: ReadonlyMap<string, Pod | StatefulSet> = kind === 'Pod' ? facts.pods : facts.sets;
    return owners.get(`${metadata.namespace}/${name}`)?.metadata.uid === uid;
  };
  const { ownerReferences = [] } = metadata;
  return ownerReferences.length > 0 && !ownerReferences.some(exists);
}

/** After so many failed recycler pods the volume is left to the administrator: the reclaimer's default. */
const mostScrubs = 3;

/** The recycler pod cannot run: every node is cordoned. */
function cannotRecycle(volume: string | undefined, facts: Facts): boolean {
  const recycler = facts.pods.get(`default/recycler-for-${volume}`);
  if (recycler?.status.phase !== 'Pending' || (recycler.spec.nodeName ?? '') !== '') return false;
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
