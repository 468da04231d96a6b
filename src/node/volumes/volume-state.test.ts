import { expect, test } from 'vitest';
import type { Pod, VolumeAttachment } from '../../api/generated/types.ts';
import { pv, pvc } from '../../../test/storage/objects.ts';
import { volumeStateOf, type VolumeSnapshot } from './volume-state.ts';

const driver = 'd.example.com';
const made = pv('vol', '1Gi');
const volume = { ...made, spec: { ...made.spec, csi: { driver, volumeHandle: 'v-1' }, claimRef: { namespace: 'default', name: 'data', uid: 'uid-data' } } };
const bound = pvc('data', '1Gi');
const claim = {
  ...bound,
  metadata: { ...bound.metadata, uid: 'uid-data', annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
  spec: { ...bound.spec, volumeName: 'vol' },
  status: { phase: 'Bound' },
};
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name: 'web', uid: 'uid' },
  spec: { nodeName: 'n1', containers: [] },
  status: {},
};
const use = { volume: { name: 'a', persistentVolumeClaim: { claimName: 'data' } }, asDevice: false, mounted: true };

const failedWith = (errorCode: number | undefined): VolumeAttachment => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttachment',
  metadata: { name: 'csi-1' },
  spec: { attacher: driver, nodeName: 'n1', source: { persistentVolumeName: 'vol' } },
  status: { attached: false, attachError: { message: 'no', time: '2026-03-01T12:00:00Z', ...(errorCode === undefined ? {} : { errorCode }) } },
});

const given = (object: VolumeAttachment | undefined, changing: boolean): VolumeSnapshot => ({
  node: undefined,
  claim: () => claim,
  volume: () => volume,
  configMap: () => undefined,
  secret: () => undefined,
  attachRequired: () => true,
  hasDriver: () => true,
  hasChangingLimit: (name) => changing && name === driver,
  attachment: () => ({ name: 'csi-1', object }),
  mayMount: () => true,
  isMountedByOtherPod: () => false,
});

test.each<{ what: string; object: VolumeAttachment | undefined; changing: boolean; exhausted: boolean }>([
  { what: 'ResourceExhausted', object: failedWith(8), changing: true, exhausted: true },
  { what: 'another code', object: failedWith(13), changing: true, exhausted: false },
  { what: 'no code', object: failedWith(undefined), changing: true, exhausted: false },
  { what: 'no attachment yet', object: undefined, changing: true, exhausted: false },
  { what: 'ResourceExhausted of a driver without nodeAllocatableUpdatePeriodSeconds', object: failedWith(8), changing: false, exhausted: false },
])('an unattached volume, with $what', ({ object, changing, exhausted }) => {
  expect(volumeStateOf(pod, use, given(object, changing))).toEqual({ state: 'unattached', name: 'a', ...(exhausted ? { exhausted } : {}) });
});
