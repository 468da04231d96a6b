import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import type { Claim } from '../volumes/claim.ts';
import { matchVolume } from '../volumes/match.ts';
import { isHalfBound, type Volume } from '../volumes/volume.ts';

/** The claims that a pod uses, as 'namespace/name'; those of generic ephemeral volumes included. */
export function claimKeysOf(pod: Pod): string[] {
  const keys: string[] = [];
  for (const volume of pod.spec.volumes ?? []) {
    if (volume.persistentVolumeClaim !== undefined) keys.push(`${pod.metadata.namespace}/${volume.persistentVolumeClaim.claimName}`);
    else if (volume.ephemeral !== undefined) keys.push(`${pod.metadata.namespace}/${pod.metadata.name}-${volume.name}`);
  }
  return keys;
}

/**
 * A pod protects its claims once it has a node, until the pod object is gone: a finished pod still does, since its volumes may
 * still be mounted. The claim of a generic ephemeral volume counts only if this pod owns it, and not once the kubelet is done with the
 * pod: in a foreground deletion, pod and claim would wait for each other.
 */
export function usesClaim(pod: Pod, claim: PersistentVolumeClaim): boolean {
  if ((pod.spec.nodeName ?? '') === '' || pod.metadata.namespace !== claim.metadata.namespace) return false;
  return (pod.spec.volumes ?? []).some((volume) => {
    if (volume.persistentVolumeClaim !== undefined) return volume.persistentVolumeClaim.claimName === claim.metadata.name;
    return volume.ephemeral !== undefined && !isShutDown(pod) && `${pod.metadata.name}-${volume.name}` === claim.metadata.name && isOwnedBy(claim, pod);
  });
}

/** The kubelet has ended the pod, or there is none to ask: only finalizers keep the object. */
const isShutDown = ({ metadata: { deletionTimestamp, deletionGracePeriodSeconds } }: Pod): boolean =>
  deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0;

function isOwnedBy(claim: PersistentVolumeClaim, pod: Pod): boolean {
  return claim.metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === pod.metadata.uid) ?? false;
}

/** The volume is bound, or about to be. `claim`: the one that its claimRef names, if it exists. */
export const isUsedBy = (volume: Volume, claim: Claim | undefined): boolean => volume.phase === 'Bound' || isAwaitedBy(volume, claim);

/**
 * The claim will take the volume that was provisioned for it, although a user deleted the volume meanwhile. Kubernetes (v1.36.4) removes
 * its protection; but the provisioner's finalizer keeps the volume, and the claim waits for ever.
 */
export function isAwaitedBy(volume: Volume, claim: Claim | undefined): boolean {
  if (claim === undefined || !isHalfBound(volume, claim)) return false;
  return claim.volumeName === '' ? !claim.everBound && matchVolume(claim, volume) === 'fits' : claim.volumeName === volume.name;
}

/** The attributes classes that a claim has, requests, or is being changed to. */
export function attributesClassesOfClaim({ spec, status }: PersistentVolumeClaim): string[] {
  const { currentVolumeAttributesClassName, modifyVolumeStatus } = status;
  return present([spec.volumeAttributesClassName, currentVolumeAttributesClassName, modifyVolumeStatus?.targetVolumeAttributesClassName]);
}

export function attributesClassesOfVolume({ spec }: PersistentVolume): string[] {
  return present([spec.volumeAttributesClassName]);
}

const present = (names: readonly (string | undefined)[]) => [...new Set(names.filter((name) => name !== undefined && name !== ''))] as string[];
