import type { Pod, StorageClass } from '../../api/generated/types.ts';
import { type Claim, claimKey } from '../../storage/volumes/claim.ts';
import { waitsForConsumer } from '../../api/volumes/storage-class.ts';
import type { PodInfo, RejectionDetail, RejectionReason } from '../framework.ts';

export interface ClaimsSnapshot {
  /** By 'namespace/name', without assumptions. */
  apiClaim(key: string): Claim | undefined;
  /** With assumptions. */
  claim(key: string): Claim | undefined;
  storageClass(name: string): StorageClass | undefined;
}

/**
 * The claims of a pod, each of them once.
 * - `none`:    the pod has none
 * - `refused`: the pod cannot run on any node
 * - `known`:   the claims are bound, or their binding is delayed until the pod has a node
 */
export type PodClaims =
  | { readonly type: 'none' }
  | { readonly type: 'refused'; readonly reason: RejectionReason }
  | { readonly type: 'known'; readonly bound: readonly Claim[]; readonly delayed: readonly DelayedClaim[] };

/** A claim whose class waits for the first consumer. */
export interface DelayedClaim {
  readonly claim: Claim;
  readonly storageClass: StorageClass;
}

export function claimsOf(pod: PodInfo, snapshot: ClaimsSnapshot): PodClaims {
  const used = usedClaims(pod.pod);
  if (used.length === 0) return { type: 'none' };
  for (const each of used) {
    const reason = whyUnusable(each, pod, snapshot.apiClaim(each.key));
    if (reason !== undefined) return { type: 'refused', reason };
  }
  const bound: Claim[] = [];
  const delayed: DelayedClaim[] = [];
  for (const key of new Set(used.map((each) => each.key))) {
    const claim = snapshot.claim(key);
    // Cannot happen: it was looked up above.
    if (claim === undefined) continue;
    const storageClass = claim.className === '' ? undefined : snapshot.storageClass(claim.className);
    if (isBound(claim)) bound.push(claim);
    else if (storageClass !== undefined && waitsForConsumer(storageClass) && claim.volumeName === '') delayed.push({ claim, storageClass });
    else return { type: 'refused', reason: unboundImmediate(claim) };
  }
  return { type: 'known', bound, delayed };
}

/** The claim names its PV, and the binding is complete. */
export const isBound = ({ volumeName, everBound }: Claim): boolean => volumeName !== '' && everBound;

interface UsedClaim {
  readonly key: string;
  readonly name: string;
  /** A generic ephemeral volume's claim. */
  readonly ephemeral: boolean;
}

function usedClaims({ metadata: { namespace = '', name: podName = '' }, spec }: Pod): readonly UsedClaim[] {
  return (spec.volumes ?? []).flatMap(({ name: volumeName, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim === undefined && ephemeral === undefined) return [];
    const name = persistentVolumeClaim?.claimName ?? `${podName}-${volumeName}`;
    return [{ key: claimKey(namespace, name), name, ephemeral: persistentVolumeClaim === undefined }];
  });
}

function whyUnusable({ name, key, ephemeral }: UsedClaim, pod: PodInfo, claim: Claim | undefined): RejectionReason | undefined {
  if (claim === undefined) return ephemeral ? notMadeYet(name) : claimMissing(name);
  if (claim.phase === 'Lost') {
    return reason('claimLost', `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.volumeName}"`, {
      found: `uses claim "${name}", whose volume "${claim.volumeName}" does not exist`,
      wanted: `volume "${claim.volumeName}" created again, or another claim`,
      object: `pvc/${name}`,
    });
  }
  if (claim.object.metadata.deletionTimestamp !== undefined) {
    return reason('claimDeleting', `persistentvolumeclaim "${name}" is being deleted`, {
      found: `uses claim "${name}", which is being deleted`,
      wanted: 'a new claim of that name',
      object: `pvc/${name}`,
    });
  }
  if (!ephemeral || isOwnedBy(claim, pod)) return undefined;
  return reason('claimNotOwned', `PVC ${key} was not created for pod ${pod.key} (pod is not owner)`, {
    found: `needs an ephemeral claim "${name}", but a claim of that name belongs to another owner`,
    wanted: 'the other claim deleted',
    object: `pvc/${name}`,
  });
}

export const isOwnedBy = ({ object }: Claim, { uid }: PodInfo): boolean =>
  object.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid === uid;

export function claimMissing(name: string): RejectionReason {
  const detail = { found: `uses claim "${name}", which does not exist`, wanted: `a claim "${name}"`, object: `pvc/${name}` };
  return reason('claimMissing', `persistentvolumeclaim "${name}" not found`, detail);
}

function notMadeYet(name: string): RejectionReason {
  const detail = { found: `waits for its ephemeral claim "${name}"`, wanted: `the ephemeral volume controller to create it`, object: `pvc/${name}` };
  return reason('claimMissing', `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`, detail);
}

function unboundImmediate({ name, volumeName }: Claim): RejectionReason {
  return reason('claimUnbound', 'pod has unbound immediate PersistentVolumeClaims', {
    found: `uses claim "${name}", which has no volume yet`,
    wanted: volumeName === '' ? `a volume for claim "${name}"` : `claim "${name}" to be bound to volume "${volumeName}"`,
    object: `pvc/${name}`,
  });
}

const reason = (rule: string, text: string, detail: RejectionDetail): RejectionReason => ({ rule, text, detail: () => detail });
