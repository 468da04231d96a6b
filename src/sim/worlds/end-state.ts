import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts';
import { claimKeyOf, type Facts, isProvisioned, isRunning } from '../invariants/facts.ts';

/**
 * How a world ended, up to names and uids that the cluster chose. Left out is what may depend on who was first: on which node a pod
 * runs, what its replacements are called, how often something was tried.
 */
export function endState(facts: Facts): readonly string[] {
  const claims = Array.from(facts.claims, ([key, claim]) => `claim ${key} ${claimState(claim)}`);
  const volumes = Array.from(facts.volumes.values(), (volume) => {
    const { spec, status } = volume;
    return `volume of ${claimKeyOf(volume)} ${status.phase} ${spec.persistentVolumeReclaimPolicy} ${spec.capacity?.['storage']} attached ${facts.nodesOf(spec.csi?.volumeHandle ?? '').size}`;
  });
  const pods = Array.from(facts.pods.values(), (pod) => `pod of ${ownerOf(pod)} ${pod.status.phase} ${isRunning(pod) ? 'running' : ''}`);
  const intents = Array.from(facts.intents.values(), ({ spec }) => `intent to ${spec.operation}`);
  return [...claims, ...volumes, ...pods, ...intents, `${facts.disks.size} disks`, `${facts.attachments.size} attachments`].sort();
}

const claimState = ({ status, metadata, spec }: PersistentVolumeClaim): string =>
  `${status.phase} ${spec.storageClassName} ${status.capacity?.['storage'] ?? ''} ${metadata.labels?.['touched'] ?? ''} ${metadata.deletionTimestamp === undefined ? '' : 'terminating'}`;

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
  for (const [key, pod] of facts.pods) if (pod.metadata.deletionTimestamp !== undefined) return `pod ${key} is still terminating`;
  for (const [name, { metadata }] of facts.attachments) if (metadata.deletionTimestamp !== undefined) return `attachment ${name} is still terminating`;
  for (const [key, claim] of facts.claims)
    if (claim.metadata.deletionTimestamp !== undefined && !isUsed(facts, key)) return `claim ${key} is still terminating, and nobody uses it`;
  for (const volume of facts.volumes.values()) {
    const claim = facts.claimByUid(volume.spec.claimRef?.uid, claimKeyOf(volume));
    if (claim?.status.phase === 'Pending' && (claim.spec.volumeName ?? '') === '')
      return `claim ${claim.metadata.name} is still Pending, and volume ${volume.metadata.name} is there for it`;
    const undone = undoneOf(volume, facts);
    if (undone !== undefined) return undone;
  }
  for (const [name, { spec }] of facts.intents)
    if (spec.operation !== 'Scrub' || !hasNoScrubber(name, facts)) return `there is still an intent to ${spec.operation} ${name}`;
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
  const isDue = (policy === 'Recycle' && !isAwaited(volume, facts)) || (policy === 'Delete' && isProvisioned(volume));
  return isDue && status.phase === 'Released' ? `volume ${metadata.name} is still Released, and its policy is ${policy}` : undefined;
}

/** As long as a pod names the claim that is gone, nobody scrubs its volume: Kubernetes (v1.36.4) does not either. */
const isAwaited = (volume: PersistentVolume, facts: Facts): boolean => !facts.claims.has(claimKeyOf(volume)) && isUsed(facts, claimKeyOf(volume));

/** People who cordon every node keep scrubbers away as well. */
const hasNoScrubber = (volume: string, facts: Facts): boolean => facts.pods.get(`default/recycler-for-${volume}`)?.status.phase === 'Pending';

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
