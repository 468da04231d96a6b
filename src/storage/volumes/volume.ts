import type { PersistentVolume } from '../../api/generated/types.ts';
import type { Quantity } from '../../api/quantity.ts';
import type { Labels } from '../../api/selectors/label-selector.ts';
import { type AccessModes, offeredModes } from './access-modes.ts';
import { annotations, finalizers } from '../../api/volumes/annotations.ts';
import { storageAmount } from '../../api/volumes/capacity.ts';
import { type Claim, claimKey, type VolumeMode } from './claim.ts';
import { selectorOfClaims, type WrittenSelector } from './selectors.ts';
import { classNameOfVolume } from '../../api/volumes/storage-class.ts';
import { type NodeTerms, nodeTermsOf } from './topology.ts';

/** A volume's claimRef. */
export interface ClaimRef {
  /** 'namespace/name' */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** '': the volume is reserved for any claim of that name. */
  readonly uid: string;
}

/** A PersistentVolume, parsed once: its fields and annotations by name. */
export interface Volume {
  readonly object: PersistentVolume;
  readonly name: string;
  readonly uid: string;
  readonly labels: Labels | undefined;
  readonly phase: string;
  readonly deleting: boolean;

  /** '' if it has none. */
  readonly className: string;
  readonly volumeMode: VolumeMode;
  readonly accessModes: AccessModes;
  /** Undefined if it is missing or no quantity. */
  readonly capacity: Quantity | undefined;
  /** '' if unset. */
  readonly attributesClass: string;
  /** The claims that may take the volume. */
  readonly claimSelector: WrittenSelector;
  /** The node affinity; undefined: every node can reach the volume. */
  readonly nodes: NodeTerms | undefined;

  readonly claim: ClaimRef | undefined;
  /** The controller set the claimRef, not a user. */
  readonly boundByController: boolean;
  /** The provisioner; undefined for a volume that a user created. */
  readonly provisionedBy: string | undefined;
  readonly migratedTo: string | undefined;
  readonly reclaimPolicy: string;
}

export function readVolume(object: PersistentVolume): Volume {
  const { metadata, spec, status } = object;
  const given = metadata.annotations ?? {};
  const required = spec.nodeAffinity?.required;
  return {
    object,
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    labels: metadata.labels,
    phase: status.phase ?? '',
    deleting: metadata.deletionTimestamp !== undefined,
    className: classNameOfVolume(object),
    volumeMode: spec.volumeMode === 'Block' ? 'Block' : 'Filesystem',
    accessModes: offeredModes(spec.accessModes),
    capacity: storageAmount(spec.capacity),
    attributesClass: spec.volumeAttributesClassName ?? '',
    claimSelector: selectorOfClaims(given[annotations.claimSelector]),
    nodes: required === undefined ? undefined : nodeTermsOf(required),
    claim: readClaimRef(spec.claimRef),
    boundByController: Object.hasOwn(given, annotations.boundByController),
    provisionedBy: given[annotations.provisionedBy],
    migratedTo: given[annotations.migratedTo],
    reclaimPolicy: spec.persistentVolumeReclaimPolicy ?? '',
  };
}

function readClaimRef(ref: PersistentVolume['spec']['claimRef']): ClaimRef | undefined {
  if (ref === undefined) return undefined;
  const [namespace, name] = [ref.namespace ?? '', ref.name ?? ''];
  return { key: claimKey(namespace, name), namespace, name, uid: ref.uid ?? '' };
}

/** The claimRef names this claim, by uid or by name alone. Kubernetes' IsVolumeBoundToClaim. */
export function isVolumeBoundToClaim({ claim: pointer }: Volume, claim: Claim): boolean {
  return pointer !== undefined && pointer.key === claim.key && (pointer.uid === '' || pointer.uid === claim.uid);
}

/**
 * The volume's side of the binding is done, or it was provisioned for this claim and its provisioner's finalizer keeps it. If a user
 * deletes such a volume before the claim has taken it, it stays as long as the claim exists. If the claim did not take it, both would
 * wait for ever, as in Kubernetes (v1.36.4).
 */
export const isHalfBound = (volume: Volume, claim: Claim): boolean =>
  (volume.phase === 'Bound' || isKeptByProvisioner(volume)) && volume.claim?.key === claim.key && volume.claim.uid === claim.uid;

/** Its provisioner's finalizer keeps it until its data is deleted, which has not begun. */
export const isKeptByProvisioner = ({ object, phase }: Volume): boolean =>
  phase !== 'Released' &&
  phase !== 'Failed' &&
  (object.metadata.finalizers?.some((each) => each === finalizers.externalProvisioner || each === finalizers.inTreeProvisioner) ?? false);

/** The volume has no claim and is not reserved: a claim that fits may take it. */
export const isFree = (volume: Volume): boolean => volume.claim === undefined && volume.phase === 'Available' && !volume.deleting;
