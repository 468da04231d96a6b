/** Objects with one thing changed; the same object if nothing changes, so that no-ops can be dropped. */
import type { ObjectMeta, PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimStatus } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import { compareQuantities, formatQuantity } from '../../api/quantity.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import { readQuantity } from '../../api/volumes/capacity.ts';
import type { Claim } from './claim.ts';
import { isVolumeBoundToClaim, type Volume } from './volume.ts';

/** `undefined` removes an annotation. */
export function withAnnotations<T extends KubeObject>(object: T, changes: Readonly<Record<string, string | undefined>>): T {
  const before = object.metadata.annotations ?? {};
  const changed = Object.entries(changes).filter(([key, value]) => before[key] !== value);
  if (changed.length === 0) return object;
  const after = { ...before };
  for (const [key, value] of changed) {
    if (value === undefined) delete after[key];
    else after[key] = value;
  }
  return { ...object, metadata: withoutEmpty(object.metadata, 'annotations', after, Object.keys(after).length === 0) };
}

export function withFinalizers<T extends KubeObject>(object: T, wanted: readonly string[]): T {
  const before = object.metadata.finalizers ?? [];
  if (before.length === wanted.length && before.every((name, i) => name === wanted[i])) return object;
  return { ...object, metadata: withoutEmpty(object.metadata, 'finalizers', [...wanted], wanted.length === 0) };
}

function withoutEmpty<K extends keyof ObjectMeta>(metadata: ObjectMeta, key: K, value: NonNullable<ObjectMeta[K]>, isEmpty: boolean): ObjectMeta {
  if (!isEmpty) return { ...metadata, [key]: value };
  const { [key]: _, ...rest } = metadata;
  return rest;
}

/** Sets the volume's claimRef. Unless a user had set it, bound-by-controller is set as well. */
export function linkVolume(volume: Volume, claim: Claim): PersistentVolume {
  const { object, claim: pointer } = volume;
  const isLinked = pointer?.key === claim.key && pointer.uid === claim.uid;
  const linked = isLinked ? object : { ...object, spec: { ...object.spec, claimRef: referenceTo(claim.object) } };
  return isVolumeBoundToClaim(volume, claim) || volume.boundByController ? linked : withAnnotations(linked, { [annotations.boundByController]: 'yes' });
}

export function referenceTo({ apiVersion, kind, metadata }: KubeObject): NonNullable<PersistentVolume['spec']['claimRef']> {
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(uid === undefined ? {} : { uid }),
    apiVersion,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

/** Removes the claimRef that the controller set. One that a user set loses its uid: it stays a reservation for a claim of that name. */
export function unlinkVolume({ object, boundByController }: Volume): PersistentVolume {
  const { claimRef, ...spec } = object.spec;
  if (claimRef === undefined) return object;
  if (boundByController) return withAnnotations({ ...object, spec }, { [annotations.boundByController]: undefined });
  const { uid, ...reservation } = claimRef;
  return uid === undefined ? object : { ...object, spec: { ...spec, claimRef: reservation } };
}

export function volumeInPhase(volume: PersistentVolume, phase: string, message = ''): PersistentVolume {
  if (volume.status.phase === phase) return volume;
  if (volume.status.message === undefined && message === '') return { ...volume, status: { ...volume.status, phase } };
  const { message: _, ...status } = volume.status;
  return { ...volume, status: { ...status, phase, ...(message === '' ? {} : { message }) } };
}

/** Sets the claim's volumeName and bind-completed. */
export function linkClaim({ object }: Claim, volumeName: string): PersistentVolumeClaim {
  const named = object.spec.volumeName === volumeName ? object : { ...object, spec: { ...object.spec, volumeName } };
  const given = object.metadata.annotations ?? {};
  return withAnnotations(named, {
    ...(named === object ? {} : { [annotations.boundByController]: given[annotations.boundByController] ?? 'yes' }),
    [annotations.bindCompleted]: given[annotations.bindCompleted] ?? 'yes',
  });
}

export function withClass(claim: PersistentVolumeClaim, storageClassName: string): PersistentVolumeClaim {
  return { ...claim, spec: { ...claim.spec, storageClassName } };
}

/** The status of a claim without a volume. */
export function claimWithoutVolume(claim: PersistentVolumeClaim, phase: 'Pending' | 'Lost'): PersistentVolumeClaim {
  const { accessModes, capacity, currentVolumeAttributesClassName, ...rest } = claim.status;
  if (claim.status.phase === phase && accessModes === undefined && capacity === undefined && currentVolumeAttributesClassName === undefined) return claim;
  return { ...claim, status: { ...rest, phase } };
}

/**
 * The status of a claim that is bound to the volume. The capacity is set only when the claim becomes Bound: later it may differ while a
 * file system is resized. Likewise the attributes class, which the resizer sets from then on.
 */
export function claimBoundTo(claim: PersistentVolumeClaim, volume: PersistentVolume): PersistentVolumeClaim {
  const { status } = claim;
  const accessModes = volume.spec.accessModes ?? [];
  const wasBound = status.phase === 'Bound';
  const current = volume.spec.volumeAttributesClassName;
  const isNewClass = status.phase === 'Pending' && status.currentVolumeAttributesClassName !== current;
  if (wasBound && sameList(status.accessModes ?? [], accessModes)) return claim;
  const { currentVolumeAttributesClassName: previous, ...rest } = status;
  const attributesClass = isNewClass ? current : previous;
  return {
    ...claim,
    status: {
      ...rest,
      phase: 'Bound',
      accessModes: [...accessModes],
      ...(wasBound ? {} : capacityFrom(volume, status)),
      ...(attributesClass === undefined ? {} : { currentVolumeAttributesClassName: attributesClass }),
    },
  };
}

/** The two, bound to each other, in spec and status. `volume`: its claimRef names the claim already. */
export function boundPair(volume: PersistentVolume, claim: Claim): { readonly volume: PersistentVolume; readonly claim: PersistentVolumeClaim } {
  const bound = volumeInPhase(volume, 'Bound');
  return { volume: bound, claim: claimBoundTo(linkClaim(claim, volume.metadata.name ?? ''), bound) };
}

export const sameList = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((item, i) => item === b[i]);

function capacityFrom(volume: PersistentVolume, { capacity: known }: PersistentVolumeClaimStatus): Pick<PersistentVolumeClaimStatus, 'capacity'> {
  const offered = volume.spec.capacity ?? {};
  const beforeResize = volume.metadata.annotations?.[annotations.preResizeCapacity];
  if (beforeResize !== undefined) {
    const amount = readQuantity(beforeResize);
    return { capacity: { ...known, storage: amount === undefined ? (offered['storage'] ?? '0') : formatQuantity(amount) } };
  }
  const isSame = known?.['storage'] !== undefined && compareQuantities(known['storage'], offered['storage'] ?? '0') === 0;
  return { capacity: isSame ? known : { ...offered } };
}
