import type { MessageInitShape } from '@bufbuild/protobuf';
import { VolumeCapability_AccessMode_Mode as Mode, type VolumeCapabilitySchema } from '../../grpc/generated/csi.ts';
import { type DriverAnswer, failed, succeeded } from '../contract.ts';

export type VolumeCapabilityInit = MessageInitShape<typeof VolumeCapabilitySchema>;

/** How a volume is accessed, in Kubernetes' words. */
export interface VolumeAccess {
  readonly accessModes: readonly string[];
  /** Of the PV; undefined: Filesystem. */
  readonly volumeMode: string | undefined;
  /** '': the driver chooses. */
  readonly fsType?: string | undefined;
  readonly mountOptions?: readonly string[] | undefined;
  /** NodeStage and NodePublish alone, of a driver with VOLUME_MOUNT_GROUP: the pod's fsGroup. */
  readonly volumeMountGroup?: string;
}

/** CSI's capability for one access mode, or for all access modes of a PV, as csi-lib-utils (accessmodes) and the kubelet map them. */
export function volumeCapabilityOf(access: VolumeAccess, options: { readonly singleNodeMultiWriter: boolean }): DriverAnswer<VolumeCapabilityInit> {
  const mode = csiAccessMode(access.accessModes, options.singleNodeMultiWriter);
  if (!mode.ok) return mode;
  const { fsType = '', mountOptions = [], volumeMountGroup = '' } = access;
  const accessMode = { mode: mode.value };
  if (access.volumeMode === 'Block') return succeeded({ accessMode, accessType: { case: 'block', value: {} } });
  return succeeded({ accessMode, accessType: { case: 'mount', value: { fsType, mountFlags: [...mountOptions], volumeMountGroup } } });
}

/**
 * | Kubernetes       | CSI                     | with SINGLE_NODE_MULTI_WRITER |                              |
 * |------------------|-------------------------|-------------------------------|------------------------------|
 * | ReadWriteMany    | MULTI_NODE_MULTI_WRITER | the same                      | decides if there are several |
 * | ReadOnlyMany     | MULTI_NODE_READER_ONLY  | the same                      | not with ReadWriteOnce       |
 * | ReadWriteOnce    | SINGLE_NODE_WRITER      | SINGLE_NODE_MULTI_WRITER      | not with ReadOnlyMany        |
 * | ReadWriteOncePod | SINGLE_NODE_WRITER      | SINGLE_NODE_SINGLE_WRITER     | alone                        |
 */
export function csiAccessMode(accessModes: readonly string[], singleNodeMultiWriter: boolean): DriverAnswer<Mode> {
  const modes = new Set(accessModes);
  if (modes.has('ReadWriteOncePod')) {
    if (modes.size > 1) {
      return failed('InvalidArgument', 'Kubernetes does not support use of ReadWriteOncePod with other access modes on the same PersistentVolume');
    }
    return succeeded(singleNodeMultiWriter ? Mode.SINGLE_NODE_SINGLE_WRITER : Mode.SINGLE_NODE_WRITER);
  }
  if (modes.has('ReadWriteMany')) return succeeded(Mode.MULTI_NODE_MULTI_WRITER);
  if (modes.has('ReadOnlyMany') && modes.has('ReadWriteOnce')) {
    return failed('InvalidArgument', 'CSI does not support ReadOnlyMany and ReadWriteOnce on the same PersistentVolume');
  }
  if (modes.has('ReadOnlyMany')) return succeeded(Mode.MULTI_NODE_READER_ONLY);
  if (modes.has('ReadWriteOnce')) return succeeded(singleNodeMultiWriter ? Mode.SINGLE_NODE_MULTI_WRITER : Mode.SINGLE_NODE_WRITER);
  return failed('InvalidArgument', `unsupported AccessMode combination: [${accessModes.join(' ')}]`);
}
