/** Where the volumes of a pod can be: what its node has to satisfy because of them (Karpenter's volumetopology.go). */
import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, TopologySelectorTerm } from '../../api/generated/types.ts';
import { nameOfClass, classOfClaim, waitsForConsumer } from '../../api/volumes/storage-class.ts';
import { claimKey, readClaim } from '../../storage/volumes/claim.ts';
import { combined, expressionsOf, haveCommonNodes, noRequirements, type Requirements, requirementsOf } from '../requirements/requirements.ts';

export interface VolumeViews {
  readonly claim: { getKey(key: string): PersistentVolumeClaim | undefined };
  readonly volume: { getKey(key: string): PersistentVolume | undefined };
  readonly storageClass: { getKey(key: string): StorageClass | undefined };
}

export type VolumeTopology =
  /** The node has to satisfy one of them. */
  | { readonly type: 'alternatives'; readonly alternatives: readonly Requirements[] }
  /** A new node does not help. */
  | { readonly type: 'refused'; readonly message: string };

/** More than that is a mistake in the objects, not a place. */
const mostAlternatives = 64;

export function volumeTopologyOf(pod: Pod, views: VolumeViews): VolumeTopology {
  let alternatives: readonly Requirements[] = [noRequirements];
  for (const { name, ephemeral } of usedClaims(pod)) {
    const found = termsOfClaim(name, views.claim.getKey(claimKey(pod.metadata.namespace ?? '', name)), views);
    if (typeof found === 'string') return { type: 'refused', message: ephemeral ? `ephemeral volume: ${found}` : found };
    if (found.length === 0) continue;
    const both = distinct(alternatives.flatMap((one) => found.filter((other) => haveCommonNodes(one, other)).map((other) => combined(one, other))));
    if (both.length === 0)
      return { type: 'refused', message: `the volume of persistentvolumeclaim "${name}" and the pod's other volumes are in different places` };
    if (both.length > mostAlternatives) return { type: 'refused', message: `the volumes of the pod have more than ${mostAlternatives} combinations of places` };
    alternatives = both;
  }
  return { type: 'alternatives', alternatives };
}

/** Volumes of one class have the same places: their combinations are the same few again and again. */
function distinct(alternatives: readonly Requirements[]): readonly Requirements[] {
  if (alternatives.length < 2) return alternatives;
  return [...new Map(alternatives.map((each) => [JSON.stringify(expressionsOf(each)), each])).values()];
}

function usedClaims({ metadata, spec }: Pod): readonly { readonly name: string; readonly ephemeral: boolean }[] {
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim === undefined && ephemeral === undefined) return [];
    return [{ name: persistentVolumeClaim?.claimName ?? `${metadata.name ?? ''}-${name}`, ephemeral: persistentVolumeClaim === undefined }];
  });
}

/** Its places, one of which the node must be in; none: anywhere. Or why a new node does not help: Karpenter's texts. */
function termsOfClaim(name: string, object: PersistentVolumeClaim | undefined, views: VolumeViews): readonly Requirements[] | string {
  if (object === undefined) return `persistentvolumeclaim "${name}" not found`;
  const claim = readClaim(object);
  if (object.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim "${name}" is being deleted`;
  if (claim.phase === 'Lost') return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.volumeName}"`;
  if (claim.volumeName !== '') {
    if (!claim.everBound) return `persistentvolumeclaim "${name}" is not bound yet`;
    const volume = views.volume.getKey(claim.volumeName);
    return volume === undefined ? `persistentvolume "${claim.volumeName}" not found` : termsOfVolume(volume);
  }
  const className = nameOfClass(classOfClaim(object));
  if (className === '') return `unbound pvc must define a storage class`;
  const storageClass = views.storageClass.getKey(className);
  if (storageClass === undefined) return `storageclass "${className}" not found`;
  if (!waitsForConsumer(storageClass)) return 'pvc with immediate volume binding mode must be bound';
  return termsOfClass(storageClass.allowedTopologies ?? []);
}

/** An empty term selects no node. */
const termsOfVolume = ({ spec }: PersistentVolume): readonly Requirements[] =>
  (spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).flatMap(({ matchExpressions = [] }) =>
    matchExpressions.length === 0 ? [] : [requirementsOf(matchExpressions)],
  );

const termsOfClass = (allowed: readonly TopologySelectorTerm[]): readonly Requirements[] =>
  allowed.map(({ matchLabelExpressions = [] }) =>
    requirementsOf(matchLabelExpressions.map(({ key, values }) => ({ key, operator: 'In', values: values ?? [] }))),
  );
