/** Objects as tests write them down: short, and otherwise as the server would have completed them. */
import type { ObjectMeta, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../src/api/generated/types.ts';
import { annotations } from '../../src/api/volumes/annotations.ts';

type Spec<T extends { spec: object }> = {
  readonly metadata?: ObjectMeta;
  readonly spec?: Partial<T['spec']>;
  readonly status?: T extends { status: infer S } ? S : never;
};

/** 'uid-of-pvc-data' */
export const uidOf = (kind: string, name: string): string => `uid-of-${kind}-${name}`;

export function pv(name: string, size: string, more: Spec<PersistentVolume> = {}): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, uid: uidOf('pv', name), creationTimestamp: '2025-01-01T00:00:00Z', ...more.metadata },
    spec: {
      capacity: { storage: size },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 'class',
      volumeMode: 'Filesystem',
      hostPath: { path: `/tmp/${name}`, type: '' },
      ...more.spec,
    },
    status: more.status ?? { phase: 'Pending' },
  };
}

export function pvc(name: string, size: string, more: Spec<PersistentVolumeClaim> = {}): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'default', uid: uidOf('pvc', name), creationTimestamp: '2025-01-01T00:00:00Z', ...more.metadata },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: size } },
      storageClassName: 'class',
      volumeMode: 'Filesystem',
      ...more.spec,
    },
    status: more.status ?? { phase: 'Pending' },
  };
}

export function storageClass(name: string, more: Partial<StorageClass> = {}): StorageClass {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    provisioner: 'kubernetes.io/no-provisioner',
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
    ...more,
    metadata: { name, uid: uidOf('sc', name), creationTimestamp: '2025-01-01T00:00:00Z', ...more.metadata },
  };
}

export function pod(name: string, claims: readonly string[], more: Spec<Pod> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: uidOf('pod', name), ...more.metadata },
    spec: {
      containers: [{ name: 'app', resources: {} }],
      volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
      ...more.spec,
    },
    status: more.status ?? { phase: 'Pending' },
  };
}

export const available = { phase: 'Available' };
/** A claimRef without uid: the volume is reserved for whichever claim has that name. */
export const reservedFor = (name: string, namespace = 'default') => ({ namespace, name });
export const defaultClass = { annotations: { [annotations.defaultClass]: 'true' } };
