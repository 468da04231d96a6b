import type { AzureDiskVolumeSource, PersistentVolumeClaimSpec, ProjectedVolumeSource, RBDVolumeSource, Volume } from '../../../generated/types.ts';
import { defaultFieldSelector } from '../containers/container-defaults.ts';
import { defaultPullPolicy } from '../image-name.ts';
import { roundUpResources } from '../resource-amounts.ts';

/** 0644: what the files of a volume that Kubernetes writes itself may be used for. */
const FILE_MODE = 0o644;
const TOKEN_LIFETIME_SECONDS = 3600;

export function defaultVolume(volume: Volume): void {
  if (hasNoSource(volume)) volume.emptyDir = {};
  if (volume.image) volume.image.pullPolicy ??= defaultPullPolicy(volume.image.reference ?? '');
  if (volume.hostPath) volume.hostPath.type ??= '';
  if (volume.iscsi) volume.iscsi.iscsiInterface ??= 'default';
  if (volume.rbd) defaultRbd(volume.rbd);
  if (volume.azureDisk) defaultAzureDisk(volume.azureDisk);
  if (volume.scaleIO) {
    volume.scaleIO.storageMode ??= 'ThinProvisioned';
    volume.scaleIO.fsType ??= 'xfs';
  }
  if (volume.secret) volume.secret.defaultMode ??= FILE_MODE;
  if (volume.configMap) volume.configMap.defaultMode ??= FILE_MODE;
  if (volume.downwardAPI) {
    volume.downwardAPI.defaultMode ??= FILE_MODE;
    for (const file of volume.downwardAPI.items ?? []) if (file.fieldRef) defaultFieldSelector(file.fieldRef);
  }
  if (volume.projected) defaultProjected(volume.projected);
  if (volume.ephemeral?.volumeClaimTemplate) defaultClaimSpec(volume.ephemeral.volumeClaimTemplate.spec);
}

/** All that a volume has beside its name is its source. */
const hasNoSource = (volume: Volume): boolean => Object.entries(volume).every(([key, value]) => key === 'name' || value === undefined);

function defaultRbd(source: RBDVolumeSource): void {
  source.pool ??= 'rbd';
  source.user ??= 'admin';
  source.keyring ??= '/etc/ceph/keyring';
}

function defaultAzureDisk(source: AzureDiskVolumeSource): void {
  source.cachingMode ??= 'ReadWrite';
  source.fsType ??= 'ext4';
  source.readOnly ??= false;
  source.kind ??= 'Shared';
}

function defaultProjected(source: ProjectedVolumeSource): void {
  source.defaultMode ??= FILE_MODE;
  for (const projection of source.sources ?? []) {
    for (const file of projection.downwardAPI?.items ?? []) if (file.fieldRef) defaultFieldSelector(file.fieldRef);
    if (projection.serviceAccountToken) projection.serviceAccountToken.expirationSeconds ??= TOKEN_LIFETIME_SECONDS;
  }
}

/** Claims in templates get what claims get. */
export function defaultClaimSpec(spec: PersistentVolumeClaimSpec): void {
  spec.volumeMode ??= 'Filesystem';
  roundUpResources(spec.resources);
}
