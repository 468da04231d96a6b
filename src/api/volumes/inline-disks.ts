import type { CSIPersistentVolumeSource, PersistentVolume, PersistentVolumeSpec, Pod, Volume } from '../generated/types.ts';
import { csiSourceOf } from './csi-translation.ts';

/**
 * A pod's inline volumes of migrated in-tree plugins, each as the PersistentVolume that Kubernetes' csi-translation-lib makes of it.
 * Those without a handle that the driver could know are left out.
 */
export function inlineDisksOf({ metadata, spec }: Pod): readonly PersistentVolume[] {
  return (spec.volumes ?? []).flatMap((volume) => translated(volume, metadata.namespace ?? '') ?? []);
}

function translated(volume: Volume, namespace: string): PersistentVolume | undefined {
  const { awsElasticBlockStore: ebs, gcePersistentDisk: gce, azureDisk, azureFile, cinder, vsphereVolume: vsphere, portworxVolume: portworx } = volume;
  if (ebs !== undefined) return disk({ awsElasticBlockStore: ebs }, { ...ebs, attributes: { partition: String(ebs.partition ?? 0) } });
  if (gce !== undefined) {
    const attributes = { partition: (gce.partition ?? 0) === 0 ? '' : String(gce.partition) };
    const named = disk({ gcePersistentDisk: gce }, { ...gce, attributes, name: gce.pdName, manyReaders: true });
    return named === undefined ? undefined : { ...named, spec: { ...named.spec, volumeMode: 'Filesystem' } };
  }
  if (azureDisk !== undefined) {
    const { cachingMode = '', fsType } = azureDisk;
    const attributes = { kind: 'Managed', ...(cachingMode === '' ? {} : { cachingMode }), ...(fsType === undefined ? {} : { fsType }) };
    return disk({ azureDisk }, { ...azureDisk, attributes, fullName: azureDisk.diskURI });
  }
  if (azureFile !== undefined) return share(volume.name, azureFile, namespace);
  if (cinder !== undefined) return disk({ cinder: { volumeID: cinder.volumeID } }, cinder);
  if (vsphere !== undefined) return disk({ vsphereVolume: vsphere }, vsphere);
  return portworx === undefined
    ? undefined
    : disk({ portworxVolume: portworx }, { fsType: portworx.fsType, readOnly: portworx.readOnly, manyReaders: true, isWritten: true });
}

interface Details {
  readonly fsType?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly attributes?: Readonly<Record<string, string>>;
  /** Its name behind that of the driver; the handle by default. */
  readonly name?: string;
  readonly fullName?: string;
  /** A read-only volume may be on many nodes. */
  readonly manyReaders?: boolean;
  /** `readOnly` is not passed to the driver. */
  readonly isWritten?: boolean;
}

function disk(
  source: PersistentVolumeSpec,
  { fsType = '', readOnly = false, attributes = {}, name, fullName, ...more }: Details,
): PersistentVolume | undefined {
  const known = csiSourceOf({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: {}, spec: source, status: {} });
  if (known === undefined) return undefined;
  const csi: CSIPersistentVolumeSource = {
    driver: known.driver,
    volumeHandle: known.handle,
    ...(readOnly && more.isWritten !== true ? { readOnly } : {}),
    ...(fsType === '' ? {} : { fsType }),
    ...(Object.keys(attributes).length === 0 ? {} : { volumeAttributes: { ...attributes } }),
  };
  return named(fullName ?? `${known.driver}-${name ?? known.handle}`, {
    csi,
    accessModes: [readOnly && more.manyReaders === true ? 'ReadOnlyMany' : 'ReadWriteOnce'],
  });
}

/** A share may be on every node. */
function share(volumeName: string, { secretName, shareName, readOnly = false }: NonNullable<Volume['azureFile']>, namespace: string): PersistentVolume {
  const account = /azure-storage-account-(.+)-secret/.exec(secretName)?.[1] ?? secretName;
  const handle = ['', account, shareName, volumeName, namespace].join('#');
  const csi: CSIPersistentVolumeSource = {
    driver: 'file.csi.azure.com',
    volumeHandle: handle,
    ...(readOnly ? { readOnly } : {}),
    volumeAttributes: { shareName },
    nodeStageSecretRef: { name: secretName, namespace },
  };
  return named(handle, { csi, accessModes: ['ReadWriteMany'] });
}

const named = (name: string, spec: PersistentVolumeSpec): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec,
  status: {},
});
