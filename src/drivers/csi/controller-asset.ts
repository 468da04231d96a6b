import type { VolumeNodeAffinity } from '../../api/generated/types.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import { formatQuantity, quantityOf } from '../../api/quantity.ts';
import type { CreateRequest, TopologySegments } from '../../api/volumes/intent.ts';
import type { Volume, VolumeContentSource } from '../../grpc/generated/csi.ts';
import type { CreatedVolume } from '../contract.ts';

/** The sidecars' name for the process that provisioned a volume. */
const identityAttribute = 'storage.kubernetes.io/csiProvisionerIdentity';

export interface AnsweredVolume {
  readonly driver: string;
  readonly hasTopology: boolean;
  readonly request: CreateRequest;
  readonly requiredBytes: bigint;
  readonly volume: Volume;
}

/** The driver's answer as external-provisioner writes it into a PersistentVolume. */
export function assetOf({ driver, hasTopology, request, requiredBytes, volume }: AnsweredVolume): CreatedVolume {
  const { fsType = '', secrets = {}, readOnly = false } = request.csi ?? {};
  const affinity = hasTopology ? nodeAffinityOf(volume.accessibleTopology.map(({ segments }) => segments)) : undefined;
  const mismatch = mismatchOf(request, volume, requiredBytes);
  return {
    handle: volume.volumeId,
    // 0: the driver does not know it.
    capacity: formatQuantity(quantityOf(volume.capacityBytes === 0n ? requiredBytes : volume.capacityBytes, 'BinarySI')),
    source: {
      csi: {
        driver,
        volumeHandle: volume.volumeId,
        volumeAttributes: { [identityAttribute]: `mooring-${driver}`, ...volume.volumeContext },
        ...(request.volumeMode === 'Block' || fsType === '' ? {} : { fsType }),
        ...(readOnly ? { readOnly } : {}),
        ...(secrets.controllerPublish && { controllerPublishSecretRef: secrets.controllerPublish }),
        ...(secrets.nodeStage && { nodeStageSecretRef: secrets.nodeStage }),
        ...(secrets.nodePublish && { nodePublishSecretRef: secrets.nodePublish }),
        ...(secrets.controllerExpand && { controllerExpandSecretRef: secrets.controllerExpand }),
        ...(secrets.nodeExpand && { nodeExpandSecretRef: secrets.nodeExpand }),
      },
    },
    ...(affinity === undefined ? {} : { nodeAffinity: affinity }),
    annotations: {
      [annotations.deletionSecretName]: secrets.provisioner?.name ?? '',
      [annotations.deletionSecretNamespace]: secrets.provisioner?.namespace ?? '',
      ...(secrets.controllerModify === undefined
        ? {}
        : { [annotations.modifySecretName]: secrets.controllerModify.name, [annotations.modifySecretNamespace]: secrets.controllerModify.namespace }),
    },
    ...(mismatch === undefined ? {} : { mismatch }),
  };
}

/** Why the volume is not what was asked for. */
function mismatchOf({ source, csi }: CreateRequest, volume: Volume, requiredBytes: bigint): string | undefined {
  const { capacityBytes, contentSource, accessibleTopology } = volume;
  if (capacityBytes < 0n || (capacityBytes > 0n && capacityBytes < requiredBytes)) {
    return `created volume capacity ${capacityBytes} less than requested capacity ${requiredBytes}`;
  }
  // An empty volume in the place of the data would look like lost data.
  if (source !== undefined && contentSource?.type.case === undefined) return 'volume content source missing';
  if (source !== undefined && !isFrom(contentSource, source.type, source.handle)) {
    return `volume content source is not the ${source.type} ${JSON.stringify(source.handle)} that was asked for`;
  }
  const requisite = (csi?.accessibilityRequirements?.requisite ?? []).map(({ segments }) => segments);
  const answered = accessibleTopology.map(({ segments }) => segments);
  if (requisite.length > 0 && answered.length > 0 && !answered.some((segments) => requisite.some((term) => agree(segments, term)))) {
    return `created volume is accessible from ${JSON.stringify(answered)}, which is outside of the requisite topology ${JSON.stringify(requisite)}`;
  }
  return undefined;
}

function isFrom(answered: VolumeContentSource | undefined, type: 'volume' | 'snapshot', handle: string): boolean {
  if (answered?.type.case === 'volume') return type === 'volume' && answered.type.value.volumeId === handle;
  return answered?.type.case === 'snapshot' && type === 'snapshot' && answered.type.value.snapshotId === handle;
}

/** No key has different values. A driver may answer with fewer keys, or with more. */
const agree = (a: TopologySegments, b: TopologySegments): boolean => Object.entries(a).every(([key, value]) => b[key] === undefined || b[key] === value);

/** GenerateVolumeNodeAffinity of external-provisioner. */
export function nodeAffinityOf(topologies: readonly TopologySegments[]): VolumeNodeAffinity | undefined {
  if (topologies.length === 0) return undefined;
  const terms = topologies.flatMap((segments) => {
    const keys = Object.keys(segments).sort();
    return keys.length === 0 ? [] : [{ matchExpressions: keys.map((key) => ({ key, operator: 'In', values: [segments[key] ?? ''] })) }];
  });
  return terms.length === 0 ? undefined : { required: { nodeSelectorTerms: terms } };
}
