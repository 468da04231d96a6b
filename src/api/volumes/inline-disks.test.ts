import { describe, expect, test } from 'vitest';
import type { Volume } from '../generated/types.ts';
import { inlineDisksOf } from './inline-disks.ts';

const of = (volume: Omit<Volume, 'name'>) =>
  inlineDisksOf({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'team', name: 'web' },
    spec: { containers: [], volumes: [{ name: 'data', ...volume }] },
    status: {},
  }).map(({ metadata, spec }) => ({ name: metadata.name, ...spec }));

describe('a volume that a pod names itself', () => {
  test.each([
    [
      'EBS',
      { awsElasticBlockStore: { volumeID: 'aws://us-east-1a/vol-1', fsType: 'ext4', readOnly: true } },
      {
        name: 'ebs.csi.aws.com-vol-1',
        csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-1', readOnly: true, fsType: 'ext4', volumeAttributes: { partition: '0' } },
        accessModes: ['ReadWriteOnce'],
      },
    ],
    [
      'GCE',
      { gcePersistentDisk: { pdName: 'disk', partition: 3, readOnly: true } },
      {
        name: 'pd.csi.storage.gke.io-disk',
        csi: {
          driver: 'pd.csi.storage.gke.io',
          volumeHandle: 'projects/UNSPECIFIED/zones/UNSPECIFIED/disks/disk',
          readOnly: true,
          volumeAttributes: { partition: '3' },
        },
        accessModes: ['ReadOnlyMany'],
        volumeMode: 'Filesystem',
      },
    ],
    [
      'Azure disk',
      { azureDisk: { diskName: 'd', diskURI: '/uri', kind: 'Managed', cachingMode: 'ReadOnly', fsType: 'xfs' } },
      {
        name: '/uri',
        csi: {
          driver: 'disk.csi.azure.com',
          volumeHandle: '/uri',
          fsType: 'xfs',
          volumeAttributes: { kind: 'Managed', cachingMode: 'ReadOnly', fsType: 'xfs' },
        },
        accessModes: ['ReadWriteOnce'],
      },
    ],
    [
      'Azure share',
      { azureFile: { secretName: 'azure-storage-account-acme-secret', shareName: 'share' } },
      {
        name: '#acme#share#data#team',
        csi: {
          driver: 'file.csi.azure.com',
          volumeHandle: '#acme#share#data#team',
          volumeAttributes: { shareName: 'share' },
          nodeStageSecretRef: { name: 'azure-storage-account-acme-secret', namespace: 'team' },
        },
        accessModes: ['ReadWriteMany'],
      },
    ],
    [
      'Cinder',
      { cinder: { volumeID: 'c-1', secretRef: { name: 's' } } },
      { name: 'cinder.csi.openstack.org-c-1', csi: { driver: 'cinder.csi.openstack.org', volumeHandle: 'c-1' }, accessModes: ['ReadWriteOnce'] },
    ],
    [
      'vSphere',
      { vsphereVolume: { volumePath: '[ds] v', fsType: 'ext4' } },
      {
        name: 'csi.vsphere.vmware.com-[ds] v',
        csi: { driver: 'csi.vsphere.vmware.com', volumeHandle: '[ds] v', fsType: 'ext4' },
        accessModes: ['ReadWriteOnce'],
      },
    ],
    [
      'Portworx',
      { portworxVolume: { volumeID: 'p-1', readOnly: true } },
      { name: 'pxd.portworx.com-p-1', csi: { driver: 'pxd.portworx.com', volumeHandle: 'p-1' }, accessModes: ['ReadOnlyMany'] },
    ],
  ] satisfies [string, Omit<Volume, 'name'>, object][])('%s is what its new driver knows', (_, volume, expected) => {
    expect(of(volume)).toEqual([expected]);
  });

  test.each([
    ['a claim', { persistentVolumeClaim: { claimName: 'c' } }],
    ['a disk that its driver cannot have', { azureDisk: { diskName: 'd', diskURI: '/uri', kind: 'Shared' } }],
    ['an EBS volume of a strange name', { awsElasticBlockStore: { volumeID: 'aws://nonsense' } }],
    ['nothing to attach', { emptyDir: {} }],
    ['a volume of CSI, which lives with the pod', { csi: { driver: 'd' } }],
  ] satisfies [string, Omit<Volume, 'name'>][])('is none if it is %s', (_, volume) => {
    expect(of(volume)).toEqual([]);
  });
});
