/** What the slides about volume plugins state, where no other test shows it. */
import { expect, test } from 'vitest';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { storageClassKind } from '../../src/api/kinds/storage/storage-class.ts';
import { refusal } from '../../src/api/kinds/try-kind.ts';
import { pv, pvc, storageClass } from '../storage/objects.ts';
import { scenario } from '../storage/scenario.ts';

const stable = { release: 'stable' };
const selector = { matchLabels: stable, matchExpressions: [{ key: 'environment', operator: 'In', values: ['dev'] }] };

test('the objects of the slides are valid', () => {
  const disk = { capacity: { storage: '50Gi' }, accessModes: ['ReadWriteOnce'], gcePersistentDisk: { fsType: 'ext4', pdName: 'gce-disk-1' } };
  const metadata = { name: 'gce-disk-pv-1', annotations: { 'volume.beta.kubernetes.io/mount-options': 'discard' } };
  expect(refusal(persistentVolumeKind, { apiVersion: 'v1', kind: 'PersistentVolume', metadata, spec: disk })).toEqual([]);
  const asked = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '50Gi' } }, storageClassName: 'slow', selector };
  expect(refusal(persistentVolumeClaimKind, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'gce-disk-pvc-1' }, spec: asked })).toEqual(
    [],
  );
  const parameters = { type: 'io1', zone: 'us-east-1d', iopsPerGB: '10' };
  const slow = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'slow' }, provisioner: 'kubernetes.io/aws-ebs', parameters };
  expect(refusal(storageClassKind, slow)).toEqual([]);
});

const labelled = (name: string, size: string, labels: Record<string, string>) => pv(name, size, { metadata: { name, labels } });

scenario('a claim gets the volume that its selector selects by labels and by expressions, and no smaller one', {
  given: [
    storageClass('class'),
    pv('plain', '50Gi'),
    labelled('canary', '50Gi', { release: 'canary', environment: 'dev' }),
    labelled('production', '50Gi', { ...stable, environment: 'prod' }),
    labelled('selected', '80Gi', { ...stable, environment: 'dev' }),
    pvc('data', '50Gi', { spec: { selector } }),
  ],
  shows: `
    pv/plain      50Gi Available
    pv/canary     50Gi Available
    pv/production 50Gi Available
    pv/selected   80Gi Bound default/data marked
    pvc/data      Bound selected 80Gi marked done`,
});
