import type { PersistentVolumeSpec } from '../../generated/types.ts';
import { roundUpResourceList } from '../resource-list.ts';

/** What sources of persistent volumes get if it was left out, in place. */
export function defaultVolumeSources(spec: PersistentVolumeSpec): void {
  roundUpResourceList(spec.capacity);
  if (spec.hostPath) spec.hostPath.type ??= '';
  if (spec.iscsi) spec.iscsi.iscsiInterface ??= 'default';
  if (spec.rbd) {
    spec.rbd.pool ??= 'rbd';
    spec.rbd.user ??= 'admin';
    spec.rbd.keyring ??= '/etc/ceph/keyring';
  }
  if (spec.azureDisk) {
    spec.azureDisk.cachingMode ??= 'ReadWrite';
    spec.azureDisk.fsType ??= 'ext4';
    spec.azureDisk.readOnly ??= false;
    spec.azureDisk.kind ??= 'Shared';
  }
  if (spec.scaleIO) {
    spec.scaleIO.storageMode ??= 'ThinProvisioned';
    spec.scaleIO.fsType ??= 'xfs';
  }
}
