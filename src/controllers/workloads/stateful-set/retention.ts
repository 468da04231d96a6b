/**
 * `persistentVolumeClaimRetentionPolicy` is carried out by the garbage collector: the claim gets the StatefulSet (whenDeleted: Delete) or
 * the pod that is scaled down (whenScaled: Delete) as its owner, and loses them if the policy changes.
 */
import type { OwnerReference, PersistentVolumeClaim, Pod, StatefulSet } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import { controllerReference } from '../../pods/template.ts';
import { isWithin, ordinalsOf, setReference } from './identity.ts';

/** `pod` is undefined if it does not exist yet. */
export interface Member {
  readonly name: string;
  readonly ordinal: number;
  readonly pod: Stored<Pod> | undefined;
}

interface Policy {
  readonly whenDeleted: boolean;
  readonly whenScaled: boolean;
}

/** True: Delete. */
function policyOf({ spec }: StatefulSet): Policy {
  const { whenDeleted, whenScaled } = spec.persistentVolumeClaimRetentionPolicy ?? {};
  return { whenDeleted: whenDeleted === 'Delete', whenScaled: whenScaled === 'Delete' };
}

const names = (reference: OwnerReference, { apiVersion, kind, name }: Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'>): boolean =>
  reference.apiVersion === apiVersion && reference.kind === kind && reference.name === name;

const asOwner = ({ name, pod }: Member): OwnerReference => {
  return controllerReference({ metadata: pod?.metadata ?? { name, uid: '' } }, podKind);
};

/** Owned by an earlier pod of that name: the claim will be deleted with it and must not be used again. */
export function isStale(claim: PersistentVolumeClaim, set: StatefulSet, member: Member): boolean {
  return policyOf(set).whenScaled && hasStaleReference(claim, asOwner(member));
}

function hasStaleReference({ metadata }: PersistentVolumeClaim, owner: OwnerReference): boolean {
  const named = metadata.ownerReferences?.find((reference) => names(reference, owner));
  return named !== undefined && named.uid !== owner.uid;
}

/** The claim has another controller. With policy Retain only, that does not matter. */
export function hasForeignController(claim: PersistentVolumeClaim, set: Stored<StatefulSet>, member: Member): boolean {
  const { whenDeleted, whenScaled } = policyOf(set);
  if (!whenDeleted && !whenScaled) return false;
  const own = [setReference(set), asOwner(member)];
  return (claim.metadata.ownerReferences ?? []).some((reference) => {
    const known = own.find((owner) => names(reference, owner));
    return known === undefined ? reference.controller === true : reference.uid !== known.uid;
  });
}

/** The claim with the owner references of the policy; the same object if nothing changes. */
export function withOwners(claim: PersistentVolumeClaim, set: Stored<StatefulSet>, member: Member): PersistentVolumeClaim {
  const [ofSet, ofPod] = [setReference(set), asOwner(member)];
  // References to an earlier StatefulSet or pod of the same name are left to the garbage collector.
  if (hasStaleReference(claim, ofSet) || hasStaleReference(claim, ofPod)) return claim;
  const current = claim.metadata.ownerReferences ?? [];
  const others = current.filter((reference) => !names(reference, ofSet) && !names(reference, ofPod));
  const wanted = hasForeignController(claim, set, member) ? [] : wantedOwners(set, member.ordinal, { ofSet, ofPod });
  const own = current.filter((reference) => !others.includes(reference));
  const isRight = own.length === wanted.length && wanted.every(({ uid }) => own.some((reference) => reference.uid === uid && reference.controller === true));
  if (isRight) return claim;
  const { ownerReferences: _, ...metadata } = claim.metadata;
  const ownerReferences = [...others, ...wanted];
  return { ...claim, metadata: ownerReferences.length === 0 ? metadata : { ...metadata, ownerReferences } };
}

function wantedOwners(set: Stored<StatefulSet>, ordinal: number, { ofSet, ofPod }: { readonly ofSet: OwnerReference; readonly ofPod: OwnerReference }) {
  const { whenDeleted, whenScaled } = policyOf(set);
  const isScaledAway = !isWithin(ordinalsOf(set), ordinal);
  if (whenScaled && isScaledAway) return [ofPod];
  return whenDeleted ? [ofSet] : [];
}
