import { describe, expect, test } from 'vitest';
import type { ObjectMeta, PersistentVolume, PersistentVolumeSpec } from '../generated/types.ts';
import { csiSourceOf, csiSourceOfInline, migratedPluginOf } from './csi-translation.ts';

const volume = (spec: PersistentVolumeSpec, metadata: ObjectMeta = {}): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'vol', ...metadata },
  spec,
  status: {},
});
const handle = (spec: PersistentVolumeSpec, metadata?: ObjectMeta) => csiSourceOf(volume(spec, metadata))?.handle;
const zone = (value: string) => ({ labels: { 'topology.kubernetes.io/zone': value } });

describe('which CSI driver looks after a volume', () => {
  test.each<[string, PersistentVolumeSpec, string | undefined, string]>([
    ['aws', { awsElasticBlockStore: { volumeID: 'vol-1' } }, 'kubernetes.io/aws-ebs', 'ebs.csi.aws.com vol-1'],
    ['cinder', { cinder: { volumeID: 'id' } }, 'kubernetes.io/cinder', 'cinder.csi.openstack.org id'],
    ['vsphere', { vsphereVolume: { volumePath: '[ds] disk' } }, 'kubernetes.io/vsphere-volume', 'csi.vsphere.vmware.com [ds] disk'],
    ['portworx', { portworxVolume: { volumeID: 'id' } }, 'kubernetes.io/portworx-volume', 'pxd.portworx.com id'],
    ['csi', { csi: { driver: 'driver', volumeHandle: 'handle' } }, undefined, 'driver handle'],
  ])('%s', (_, spec, plugin, source) => {
    const found = csiSourceOf(volume(spec));
    expect(migratedPluginOf(volume(spec))).toBe(plugin);
    expect(`${found?.driver} ${found?.handle}`).toBe(source);
  });

  test('none looks after other kinds', () => {
    for (const spec of [{ hostPath: { path: '/tmp' } }, { nfs: { server: 's', path: '/' } }, { local: { path: '/disk' } }])
      expect(csiSourceOf(volume(spec))).toBeUndefined();
  });

  test.each([
    ['aws://eu-west-1a/vol-1', 'vol-1'],
    ['aws:///vol-1', 'vol-1'],
    ['aws://eu-west-1a/vol-1/', 'vol-1'],
    ['aws://eu-west-1a/disk-1', undefined],
    ['aws://vol-1', undefined],
    ['anything else', 'anything else'],
  ])('EBS volume %s is %s', (volumeID, expected) => expect(handle({ awsElasticBlockStore: { volumeID } })).toBe(expected));

  test.each([
    [{}, 'projects/UNSPECIFIED/zones/UNSPECIFIED/disks/pd'],
    [zone('us-central1-a'), 'projects/UNSPECIFIED/zones/us-central1-a/disks/pd'],
    [{ labels: { 'failure-domain.beta.kubernetes.io/zone': 'b', 'topology.kubernetes.io/zone': 'a' } }, 'projects/UNSPECIFIED/zones/b/disks/pd'],
    [zone('us-central1-a__us-central1-b'), 'projects/UNSPECIFIED/regions/us-central1/disks/pd'],
    [zone('us-central1-a__us-east1-b'), undefined],
    [zone('a__b'), undefined],
  ])('GCE disk with %j is %s', (metadata, expected) => expect(handle({ gcePersistentDisk: { pdName: 'pd' } }, metadata)).toBe(expected));

  test('only managed Azure disks', () => {
    expect(handle({ azureDisk: { diskName: 'd', diskURI: '/disks/d' } })).toBe('/disks/d');
    expect(handle({ azureDisk: { diskName: 'd', diskURI: '/disks/d', kind: 'Managed' } })).toBe('/disks/d');
    expect(handle({ azureDisk: { diskName: 'd', diskURI: '/disks/d', kind: 'Dedicated' } })).toBeUndefined();
  });

  test('Azure shares need a namespace to look for their secret in', () => {
    const azureFile = { secretName: 'azure-storage-account-acc-secret', shareName: 'share', secretNamespace: null };
    expect(handle({ azureFile })).toBeUndefined();
    expect(handle({ azureFile, claimRef: { namespace: 'team' } })).toBe('#acc#share#vol#team');
    const annotations = { 'kubernetes.io/azure-file-resource-group': 'group' };
    expect(handle({ azureFile: { ...azureFile, secretName: 'plain', secretNamespace: 'ns' } }, { annotations })).toBe('group#plain#share#vol#ns');
  });
});

describe('disks that pods name themselves', () => {
  test.each([
    ['EBS', { awsElasticBlockStore: { volumeID: 'aws://zone/vol-1' } }, { driver: 'ebs.csi.aws.com', handle: 'vol-1' }],
    ['GCE', { gcePersistentDisk: { pdName: 'd' } }, { driver: 'pd.csi.storage.gke.io', handle: 'projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d' }],
    ['Azure', { azureDisk: { diskName: 'd', diskURI: 'u', kind: 'Managed' } }, { driver: 'disk.csi.azure.com', handle: 'u' }],
    ['Azure, unmanaged', { azureDisk: { diskName: 'd', diskURI: 'u', kind: 'Dedicated' } }, undefined],
    ['Cinder', { cinder: { volumeID: 'c', secretRef: { name: 's' } } }, { driver: 'cinder.csi.openstack.org', handle: 'c' }],
    ['Portworx', { portworxVolume: { volumeID: 'p' } }, { driver: 'pxd.portworx.com', handle: 'p' }],
    ['no disk', { emptyDir: {} }, undefined],
  ])('%s', (_, source, expected) => {
    expect(csiSourceOfInline({ name: 'disk', ...source })).toEqual(expected);
  });
});
