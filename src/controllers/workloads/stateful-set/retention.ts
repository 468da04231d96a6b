/**
 * Who a claim goes with. `persistentVolumeClaimRetentionPolicy` is carried out by the garbage collector: the claim gets the set
 * (whenDeleted: Delete) or the pod that is scaled away (whenScaled: Delete) as its owner, and loses them if the policy changes.
 */
import type { OwnerReference, PersistentVolumeClaim, Pod, StatefulSet } from '../../../api/generated/types.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import { controllerReference } from '../../pods/template.ts';
import { isWithin, ordinalsOf, setReference } from './identity.ts';

/** A pod that is not made yet has no uid. */
export interface Member {
  readonly name: string;
  readonly ordinal: number;
  readonly pod: Pod | undefined;
}

interface Policy {
  readonly whenDeleted: boolean;
  readonly whenScaled: boolean;
}

/** True: delete. */
function policyOf({ spec }: StatefulSet): Policy {
  const { whenDeleted, whenScaled } = spec.persistentVolumeClaimRetentionPolicy ?? {};
  return { whenDeleted: whenDeleted === 'Delete', whenScaled: whenScaled === 'Delete' };
}

const names = (reference: OwnerReference, { apiVersion, kind, name }: Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'>): boolean =>
  reference.apiVersion === apiVersion && reference.kind === kind && reference.name === name;

const asOwner = ({ name, pod }: Member): OwnerReference => {
  const of = pod ?? { apiVersion: 'v1', kind: 'Pod', metadata: { name } };
  return controllerReference(of, podKind);
};

/** Owned by a pod of that name which is another one: the claim of a pod that was scaled away goes, and must not be used again. */
export function isStale(claim: PersistentVolumeClaim, set: StatefulSet, member: Member): boolean {
  return policyOf(set).whenScaled && hasStaleReference(claim, asOwner(member));
}

function hasStaleReference({ metadata }: PersistentVolumeClaim, owner: OwnerReference): boolean {
  const named = metadata.ownerReferences?.find((reference) => names(reference, owner));
  return named !== undefined && named.uid !== owner.uid;
}

/** Somebody else manages the claim. With nothing but Retain that is nobody's problem. */
export function hasForeignController(claim: PersistentVolumeClaim, set: StatefulSet, member: Member): boolean {
  const { whenDeleted, whenScaled } = policyOf(set);
  if (!whenDeleted && !whenScaled) return false;
  const own = [setReference(set), asOwner(member)];
  return (claim.metadata.ownerReferences ?? []).some((reference) => {
    const known = own.find((owner) => names(reference, owner));
    return known === undefined ? reference.controller === true : reference.uid !== known.uid;
  });
}

/** The claim with the owners that the policy wants; the same object if it has them. */
export function withOwners(claim: PersistentVolumeClaim, set: StatefulSet, member: Member): PersistentVolumeClaim {
  const [ofSet, ofPod] = [setReference(set), asOwner(member)];
  // From before the set or the pod was made anew: the garbage collector's business.
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

function wantedOwners(set: StatefulSet, ordinal: number, { ofSet, ofPod }: { readonly ofSet: OwnerReference; readonly ofPod: OwnerReference }) {
  const { whenDeleted, whenScaled } = policyOf(set);
  const isScaledAway = !isWithin(ordinalsOf(set), ordinal);
  if (whenScaled && isScaledAway) return [ofPod];
  return whenDeleted ? [ofSet] : [];
}
