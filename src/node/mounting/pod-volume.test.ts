import { expect, test } from 'vitest';
import type { PersistentVolume, Pod, Volume } from '../../api/generated/types.ts';
import { podVolume } from './pod-volume.ts';

const pod = { metadata: { namespace: 'default', name: 'web', uid: 'uid' }, spec: { containers: [] } } as unknown as Pod;
const places = { root: '/node', sha256: (text: string) => `<${text}>`, stages: (driver: string) => driver === 'kubernetes.io/csi' };
const behind = (spec: Partial<PersistentVolume['spec']>, volume: Partial<Volume> = {}) => {
  const use = { volume: { name: 'data', ...volume }, mounted: true, asDevice: false };
  const persistentVolume = Object.keys(spec).length === 0 ? undefined : ({ metadata: { name: 'pv' }, spec } as PersistentVolume);
  return podVolume(pod, use, persistentVolume, places);
};

test('disks of plugins that left Kubernetes’ tree are their CSI drivers’', () => {
  expect(behind({ awsElasticBlockStore: { volumeID: 'aws://us-west-2b/vol-1', fsType: 'xfs' } })).toMatchObject({
    driver: 'kubernetes.io/csi',
    uniqueName: 'kubernetes.io/csi/ebs.csi.aws.com^vol-1',
    stagingPath: '/node/plugins/kubernetes.io/csi/ebs.csi.aws.com/<vol-1>/globalmount',
    onNode: { source: { csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-1', fsType: 'xfs' } } },
  });
  expect(behind({}, { awsElasticBlockStore: { volumeID: 'vol-2' } })).toMatchObject({
    uniqueName: 'kubernetes.io/csi/ebs.csi.aws.com^vol-2',
    onNode: { source: { csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-2' } } },
  });
});

test('volumes of two CSI drivers with one handle have two places; one that a pod describes has none for the node', () => {
  const of = (driver: string) => behind({ csi: { driver, volumeHandle: 'one' } }).stagingPath;
  expect(of('a.example.com')).not.toBe(of('b.example.com'));
  expect(behind({}, { csi: { driver: 'a.example.com' } })).toMatchObject({ driver: 'kubernetes.io/csi', stagingPath: undefined });
});
