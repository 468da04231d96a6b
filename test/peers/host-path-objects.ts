/** Objects for csi-driver-host-path. */
import { hostPathName } from './host-path.ts';

export const csiDriver = (spec: object = {}, annotations: Readonly<Record<string, string>> = {}) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: hostPathName, annotations },
  spec: { volumeLifecycleModes: ['Persistent', 'Ephemeral'], podInfoOnMount: true, attachRequired: false, fsGroupPolicy: 'File', ...spec },
});

/** A class of the driver, with volumes that can grow. */
export const storageClass = (name: string, more: object = {}) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner: hostPathName,
  allowVolumeExpansion: true,
  ...more,
});

export const claim = (name: string, storageClassName: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: '1Mi' } }, ...more },
});

/** A pod that runs the script once, with volumes of these sources below /v/<name>; those in `devices` as /dev/<name>. */
export function pod(name: string, script: string, volumes: Readonly<Record<string, object>>, devices: readonly string[] = []) {
  const names = Object.keys(volumes);
  const container = {
    name: 'c',
    image: 'busybox',
    command: ['sh', '-ec', script],
    volumeMounts: names.filter((volume) => !devices.includes(volume)).map((volume) => ({ name: volume, mountPath: `/v/${volume}` })),
    volumeDevices: devices.map((volume) => ({ name: volume, devicePath: `/dev/${volume}` })),
  };
  const spec = {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 1,
    containers: [container],
    volumes: Object.entries(volumes).map(([volume, source]) => ({ name: volume, ...source })),
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec };
}

export const ofClaim = (claimName: string) => ({ persistentVolumeClaim: { claimName } });

export const ofSnapshot = (name: string) => ({ dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name } });

/** An inline volume of the driver. */
export const inline = { csi: { driver: hostPathName, volumeAttributes: { size: '1Mi' } } };

export const snapshotClass = (name: string) => ({
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshotClass',
  metadata: { name },
  driver: hostPathName,
  deletionPolicy: 'Delete',
});

export const snapshot = (name: string, volumeSnapshotClassName: string, persistentVolumeClaimName: string) => ({
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshot',
  metadata: { name },
  spec: { volumeSnapshotClassName, source: { persistentVolumeClaimName } },
});
