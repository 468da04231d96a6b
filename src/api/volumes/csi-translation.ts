/** The CSI driver and the volume handle of a volume, as in Kubernetes' csi-translation-lib. */
import type { PersistentVolume, PersistentVolumeSpec, Volume } from '../generated/types.ts';
import { csiDriverOf } from './csi-migration.ts';

export interface CsiSource {
  readonly driver: string;
  readonly handle: string;
}

/**
 * Volumes of migrated in-tree plugins belong to the plugins' CSI drivers. Undefined: the volume has no CSI driver, or no handle that its
 * driver could know.
 */
export function csiSourceOf(volume: PersistentVolume): CsiSource | undefined {
  const { csi } = volume.spec;
  if (csi !== undefined) return { driver: csi.driver, handle: csi.volumeHandle };
  const plugin = migratedPluginOf(volume);
  if (plugin === undefined) return undefined;
  const [driver, handle] = [csiDriverOf(plugin), handleOf(volume)];
  return driver === undefined || handle === undefined ? undefined : { driver, handle };
}

/** The migrated in-tree plugin of the volume. */
export function migratedPluginOf({ spec }: { readonly spec: { readonly [Field in MigratedField]?: unknown } }): string | undefined {
  // Called for every volume at every change: most belong to none of them.
  for (const [source, plugin] of plugins) if (spec[source] !== undefined) return plugin;
  return undefined;
}

type MigratedField = 'awsElasticBlockStore' | 'gcePersistentDisk' | 'azureDisk' | 'azureFile' | 'cinder' | 'vsphereVolume' | 'portworxVolume';

const plugins: readonly (readonly [MigratedField, string])[] = [
  ['awsElasticBlockStore', 'kubernetes.io/aws-ebs'],
  ['gcePersistentDisk', 'kubernetes.io/gce-pd'],
  ['azureDisk', 'kubernetes.io/azure-disk'],
  ['azureFile', 'kubernetes.io/azure-file'],
  ['cinder', 'kubernetes.io/cinder'],
  ['vsphereVolume', 'kubernetes.io/vsphere-volume'],
  ['portworxVolume', 'kubernetes.io/portworx-volume'],
];

function handleOf(volume: PersistentVolume): string | undefined {
  const { awsElasticBlockStore, gcePersistentDisk, azureDisk, azureFile, cinder, vsphereVolume, portworxVolume } = volume.spec;
  if (awsElasticBlockStore !== undefined) return ebsVolumeId(awsElasticBlockStore.volumeID);
  if (gcePersistentDisk !== undefined) return gceDiskId(volume, gcePersistentDisk.pdName);
  if (azureDisk !== undefined) return azureDisk.kind === undefined || azureDisk.kind.toLowerCase() === 'managed' ? azureDisk.diskURI : undefined;
  if (azureFile !== undefined) return azureShareId(volume, azureFile);
  return cinder?.volumeID ?? vsphereVolume?.volumePath ?? portworxVolume?.volumeID;
}

/** The kubelet's handle of a CSI volume that a pod describes itself. `sha256`: in hexadecimal. */
export const inlineCsiHandle = (podUid: string, volume: string, sha256: (text: string) => string): string => `csi-${sha256(podUid + volume)}`;

/** The same of a disk that a pod names itself, without a PersistentVolume. File shares are not attached to nodes, so they are left out. */
export function csiSourceOfInline({ awsElasticBlockStore, gcePersistentDisk, azureDisk, cinder, portworxVolume }: Volume): CsiSource | undefined {
  const found = [awsElasticBlockStore, gcePersistentDisk, azureDisk, cinder, portworxVolume].some((source) => source !== undefined);
  if (!found) return undefined;
  return csiSourceOf({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {},
    spec: {
      ...(awsElasticBlockStore === undefined ? {} : { awsElasticBlockStore }),
      ...(gcePersistentDisk === undefined ? {} : { gcePersistentDisk }),
      ...(azureDisk === undefined ? {} : { azureDisk }),
      ...(cinder === undefined ? {} : { cinder: { volumeID: cinder.volumeID } }),
      ...(portworxVolume === undefined ? {} : { portworxVolume }),
    },
    status: {},
  });
}

/** 'vol-1', or 'aws://zone/vol-1' as the in-tree plugin wrote it. */
const ebsVolumeId = (written: string): string | undefined => (written.startsWith('aws://') ? /^aws:\/\/[^/]*\/+(vol-[^/]*?)\/*$/.exec(written)?.[1] : written);

/** Zones are in a label, several of them as 'us-central1-a__us-central1-b'. */
function gceDiskId({ metadata: { labels = {} } }: PersistentVolume, disk: string): string | undefined {
  const written = labels['failure-domain.beta.kubernetes.io/zone'] ?? '';
  const zones = (written === '' ? (labels['topology.kubernetes.io/zone'] ?? '') : written).split('__');
  if (zones.length === 1) return `projects/UNSPECIFIED/zones/${zones[0] === '' ? 'UNSPECIFIED' : (zones[0] ?? '')}/disks/${disk}`;
  const regions = new Set(zones.map((zone) => /^([^-]*-[^-]*)-[^-]*$/.exec(zone)?.[1]));
  const [region] = regions;
  return regions.size === 1 && region !== undefined ? `projects/UNSPECIFIED/regions/${region}/disks/${disk}` : undefined;
}

function azureShareId({ metadata, spec }: PersistentVolume, share: NonNullable<PersistentVolumeSpec['azureFile']>): string | undefined {
  const account = /azure-storage-account-(.+)-secret/.exec(share.secretName)?.[1] ?? share.secretName;
  const namespace = share.secretNamespace ?? spec.claimRef?.namespace ?? '';
  const group = metadata.annotations?.['kubernetes.io/azure-file-resource-group'] ?? '';
  return namespace === '' ? undefined : [group, account, share.shareName, metadata.name ?? '', namespace].join('#');
}
