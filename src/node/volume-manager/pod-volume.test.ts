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

test('what the node makes of objects is read-only in every container (v1.36.4)', () => {
  const readOnly = (volume: Partial<Volume>) => behind({}, volume).onNode.readOnly;
  expect(readOnly({ configMap: { name: 'a' } })).toBe(true);
  expect(readOnly({ secret: { secretName: 'a' } })).toBe(true);
  expect(readOnly({ downwardAPI: {} })).toBe(true);
  expect(readOnly({ projected: { sources: [] } })).toBe(true);
  expect(readOnly({ emptyDir: {} })).toBe(false);
  expect(readOnly({ hostPath: { path: '/srv' } })).toBe(false);
});

test('a volume that a pod describes is read-only if that says so; behind a claim, only if the pod says so of its claim (v1.36.4)', () => {
  const nfs = { server: 'a', path: '/' };
  const claim = (readOnly: boolean) => ({ persistentVolumeClaim: { claimName: 'c', readOnly } });
  expect(behind({}, { nfs: { ...nfs, readOnly: true } }).onNode.readOnly).toBe(true);
  expect(behind({}, { nfs }).onNode.readOnly).toBe(false);
  expect(behind({ nfs: { ...nfs, readOnly: true } }, claim(false)).onNode.readOnly).toBe(false);
  expect(behind({ nfs }, claim(true)).onNode.readOnly).toBe(true);
});

test('a source without a driver here keeps its plugin’s name, inline and behind a PersistentVolume: it is never an emptyDir', () => {
  const removed = ['rbd', 'cephfs', 'flocker', 'quobyte', 'photonPersistentDisk', 'scaleIO', 'storageos'] as const;
  for (const field of removed) {
    const name = { photonPersistentDisk: 'photon-pd', scaleIO: 'scaleio' }[field as string] ?? field;
    expect(behind({ [field]: {} }).driver).toBe(`kubernetes.io/${name}`);
    expect(behind({}, { [field]: {} }).driver).toBe(`kubernetes.io/${name}`);
  }
  expect(behind({}, { emptyDir: {} }).driver).toBe('kubernetes.io/empty-dir');
  expect(behind({}, {}).driver).toBe('kubernetes.io/empty-dir');
  // A source of a newer API.
  const unknown: object = { hologram: {} };
  expect(behind(unknown).driver).toBe('');
  expect(behind({}, unknown).driver).toBe('');
});
