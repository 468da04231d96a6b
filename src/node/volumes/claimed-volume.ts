import type { PersistentVolume, PersistentVolumeClaim, Pod, Volume } from '../../api/generated/types.ts';
import { claimKey } from '../../storage/volumes/claim.ts';
import type { VolumeUse } from './used-volumes.ts';

export interface ClaimLookup {
  /** 'namespace/name' */
  claim(key: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
}

export type ClaimedVolume =
  | { readonly type: 'volume'; readonly volume: PersistentVolume; readonly claim: PersistentVolumeClaim }
  /** In the kubelet's words. */
  | { readonly type: 'error'; readonly error: string };

/** The name of the claim behind a pod's volume; undefined: there is none. */
export function claimNameOf({ metadata }: Pod, { name, persistentVolumeClaim, ephemeral }: Volume): string | undefined {
  return persistentVolumeClaim?.claimName ?? (ephemeral === undefined ? undefined : `${metadata.name ?? ''}-${name}`);
}

/** The PersistentVolume behind a pod's volume, or why it cannot be used; undefined: there is no claim behind it. */
export function claimedVolume(pod: Pod, use: VolumeUse, claims: ClaimLookup): ClaimedVolume | undefined {
  const name = claimNameOf(pod, use.volume);
  if (name === undefined) return undefined;
  const key = claimKey(pod.metadata.namespace ?? '', name);
  const found = volumeOfClaim(key, claims);
  if (typeof found === 'string') return { type: 'error', error: `error processing PVC ${key}: ${found}` };
  const isForeign = use.volume.ephemeral !== undefined && !isControlledBy(found.claim, pod);
  const wrong = isForeign ? `PVC ${key} was not created for pod ${podKey(pod)} (pod is not owner)` : wrongMode(use, found.volume);
  return wrong === undefined ? { type: 'volume', ...found } : { type: 'error', error: wrong };
}

const podKey = ({ metadata }: Pod): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

function volumeOfClaim(key: string, claims: ClaimLookup): { readonly volume: PersistentVolume; readonly claim: PersistentVolumeClaim } | string {
  const claim = claims.claim(key);
  if (claim === undefined) return `failed to fetch PVC from API server: persistentvolumeclaims ${JSON.stringify(key.slice(key.indexOf('/') + 1))} not found`;
  const { metadata, spec, status } = claim;
  // The protection finalizer keeps a claim in use until its pods have ended; without it, the claim may be gone any moment.
  if (metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes('kubernetes.io/pvc-protection') !== true) return 'PVC is being deleted';
  if (status.phase !== 'Bound') return 'PVC is not bound';
  const { volumeName: name = '' } = spec;
  if (name === '') return 'PVC has empty pvc.Spec.VolumeName';
  const volume = claims.volume(name);
  if (volume === undefined) return `failed to fetch PV ${name} from API server: persistentvolumes ${JSON.stringify(name)} not found`;
  const { claimRef } = volume.spec;
  if (claimRef === undefined) return `found PV object ${name} but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`;
  if (claimRef.uid !== metadata.uid) {
    return `found PV object ${name} but its pv.Spec.ClaimRef.UID ${claimRef.uid ?? ''} does not point to claim.UID ${metadata.uid ?? ''}`;
  }
  return { volume, claim };
}

const isControlledBy = ({ metadata }: PersistentVolumeClaim, pod: Pod): boolean =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid === pod.metadata.uid;

function wrongMode({ volume: { name }, mounted, asDevice }: VolumeUse, { spec: { volumeMode = 'Filesystem' } }: PersistentVolume): string | undefined {
  if (mounted && volumeMode !== 'Filesystem') return `volume ${name} has volumeMode ${volumeMode}, but is specified in volumeMounts`;
  if (asDevice && volumeMode !== 'Block') return `volume ${name} has volumeMode ${volumeMode}, but is specified in volumeDevices`;
  return undefined;
}
