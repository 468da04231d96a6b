import type { Pod, ProjectedVolumeSource, Volume } from '../../../../api/generated/types.ts';
import { podConfigMaps, podSecrets } from '../../../authorization/node/pod-references.ts';

const named = (names: readonly (string | undefined)[]): boolean => names.some((name) => (name ?? '') !== '');

/** The first API object that a pod references, if any (v1.36: pkg/api/pod, HasAPIObjectReference). */
export function apiReference(pod: Pod): string | undefined {
  const { spec } = pod;
  if ((spec.serviceAccountName ?? '') !== '') return 'serviceaccounts';
  if (named(podSecrets(pod))) return 'secrets';
  if (named(podConfigMaps(pod))) return 'configmaps';
  if ((spec.resourceClaims ?? []).length > 0) return 'resourceclaims';
  for (const volume of spec.volumes ?? []) {
    const found = ofVolume(volume);
    if (found !== undefined) return found;
  }
  return undefined;
}

function ofVolume(volume: Volume): string | undefined {
  if (volume.configMap !== undefined) return 'configmaps (via configmap volumes)';
  if (volume.secret !== undefined) return 'secrets (via secret volumes)';
  if (volume.csi !== undefined) return 'csidrivers (via CSI volumes)';
  if (volume.glusterfs !== undefined) return 'endpoints (via glusterFS volumes)';
  if (volume.persistentVolumeClaim !== undefined) return 'persistentvolumeclaims';
  if (volume.ephemeral !== undefined) return 'persistentvolumeclaims (via ephemeral volumes)';
  if (volume.azureFile !== undefined) return 'secrets (via azureFile volumes)';
  return volume.projected === undefined ? undefined : ofProjection(volume.projected);
}

function ofProjection({ sources }: ProjectedVolumeSource): string | undefined {
  for (const source of sources ?? []) {
    if (source.configMap !== undefined) return 'configmaps (via projected volumes)';
    if (source.secret !== undefined) return 'secrets (via projected volumes)';
    if (source.serviceAccountToken !== undefined) return 'serviceaccounts (via projected volumes)';
    if (source.clusterTrustBundle !== undefined) return 'clustertrustbundles';
    if (source.podCertificate !== undefined) return 'podcertificates';
  }
  return undefined;
}
