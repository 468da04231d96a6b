import type { PersistentVolume } from '../../api/generated/types.ts';
import { successorOf } from '../../domain/volumes/migration.ts';

/** What there is to attach of a volume: a CSI driver, and the driver's own name for it. */
export interface Attachable {
  readonly driver: string;
  readonly handle: string;
  /** One node at a time. */
  readonly exclusive: boolean;
}

/**
 * Undefined: its kind of volume is never attached by the control plane (hostPath, local, nfs, …), or it names nothing that its
 * driver could know. Volumes of plugins that left Kubernetes' tree are those of the drivers that took over.
 */
export function attachableOf(volume: PersistentVolume): Attachable | undefined {
  const { csi, accessModes = [], gcePersistentDisk } = volume.spec;
  const modes = gcePersistentDisk === undefined ? accessModes : singleWriter(accessModes);
  const source = csi === undefined ? migratedSource(volume) : { driver: csi.driver, handle: csi.volumeHandle };
  return source === undefined ? undefined : { ...source, exclusive: modes.length > 0 && !modes.some((mode) => manyNodes.includes(mode)) };
}

const manyNodes = ['ReadWriteMany', 'ReadOnlyMany'];

/** GCE disks never had several writers; the old plugin took the mode for ReadWriteOnce. */
const singleWriter = (modes: readonly string[]): readonly string[] =>
  modes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadWriteOnce') ? ['ReadWriteOnce'] : modes;

/** The volume as node statuses call it. */
export const uniqueNameOf = ({ driver, handle }: Pick<Attachable, 'driver' | 'handle'>): string => `${csiPrefix}${driver}^${handle}`;

/** Undefined: not a CSI volume. A driver's name has no '^'; a handle may. */
export function parseUniqueName(name: string): { readonly driver: string; readonly handle: string } | undefined {
  if (!name.startsWith(csiPrefix)) return undefined;
  const end = name.indexOf('^', csiPrefix.length);
  return end === -1 ? undefined : { driver: name.slice(csiPrefix.length, end), handle: name.slice(end + 1) };
}

const csiPrefix = 'kubernetes.io/csi/';

type Source = Pick<Attachable, 'driver' | 'handle'>;

function migratedSource(volume: PersistentVolume): Source | undefined {
  const { awsElasticBlockStore, gcePersistentDisk, azureDisk, azureFile, cinder, vsphereVolume, portworxVolume } = volume.spec;
  if (awsElasticBlockStore !== undefined) return successor('kubernetes.io/aws-ebs', ebsVolumeId(awsElasticBlockStore.volumeID));
  if (gcePersistentDisk !== undefined) return successor('kubernetes.io/gce-pd', gceDiskId(volume, gcePersistentDisk.pdName));
  if (azureDisk !== undefined) {
    const isManaged = azureDisk.kind === undefined || azureDisk.kind.toLowerCase() === 'managed';
    return successor('kubernetes.io/azure-disk', isManaged ? azureDisk.diskURI : undefined);
  }
  if (azureFile !== undefined) return successor('kubernetes.io/azure-file', azureShareId(volume, azureFile));
  if (cinder !== undefined) return successor('kubernetes.io/cinder', cinder.volumeID);
  if (vsphereVolume !== undefined) return successor('kubernetes.io/vsphere-volume', vsphereVolume.volumePath);
  if (portworxVolume !== undefined) return successor('kubernetes.io/portworx-volume', portworxVolume.volumeID);
  return undefined;
}

function successor(plugin: string, handle: string | undefined): Source | undefined {
  const driver = successorOf(plugin);
  return driver === undefined || handle === undefined ? undefined : { driver, handle };
}

/** 'vol-1', or 'aws://zone/vol-1' as the old plugin wrote it. */
function ebsVolumeId(written: string): string | undefined {
  if (!written.startsWith('aws://')) return written;
  const id = /^aws:\/\/[^/]*\/+(vol-[^/]*?)\/*$/.exec(written)?.[1];
  return id;
}

/** Zones are in a label, several of them as 'us-central1-a__us-central1-b'. */
function gceDiskId({ metadata: { labels = {} } }: PersistentVolume, disk: string): string | undefined {
  const written = labels['failure-domain.beta.kubernetes.io/zone'] ?? '';
  const zones = (written === '' ? (labels['topology.kubernetes.io/zone'] ?? '') : written).split('__');
  if (zones.length === 1) return `projects/UNSPECIFIED/zones/${zones[0] === '' ? 'UNSPECIFIED' : (zones[0] ?? '')}/disks/${disk}`;
  const regions = new Set(zones.map((zone) => /^([^-]*-[^-]*)-[^-]*$/.exec(zone)?.[1]));
  const [region] = regions;
  return regions.size === 1 && region !== undefined ? `projects/UNSPECIFIED/regions/${region}/disks/${disk}` : undefined;
}

function azureShareId({ metadata, spec }: PersistentVolume, share: NonNullable<PersistentVolume['spec']['azureFile']>): string | undefined {
  const account = /azure-storage-account-(.+)-secret/.exec(share.secretName)?.[1] ?? share.secretName;
  const namespace = share.secretNamespace ?? spec.claimRef?.namespace ?? '';
  const group = metadata.annotations?.['kubernetes.io/azure-file-resource-group'] ?? '';
  return namespace === '' ? undefined : [group, account, share.shareName, metadata.name ?? '', namespace].join('#');
}
