import { expect, test } from 'vitest';
import { failed, succeeded, type VolumeDriver } from '../contract.ts';
import { imageAsset } from './driver.ts';
import { answerImageRequest, clusterImageDriver } from './remote.ts';

const leader = { lease: 'kube-system/moor-controllers', epoch: 5 };
const request = {
  name: 'pvc-1',
  capacity: '1Gi',
  accessModes: ['ReadWriteOnce'],
  volumeMode: 'Filesystem',
  storageClassName: 'standard',
  reclaimPolicy: 'Delete',
  selectedNode: 'node-a',
};
const own: VolumeDriver = {
  capabilities: { name: 'image.mooring.dev', provisions: true, deletes: true, mountOptions: true, block: true, expands: 'always', attaches: false },
  handleFor: () => undefined,
  handleOf: () => undefined,
  createVolume: () => Promise.resolve(failed('Internal', 'of this machine')),
  deleteVolume: () => Promise.resolve(failed('Internal', 'of this machine')),
  listVolumes: () => Promise.resolve(succeeded([])),
};
const answering = (value: unknown): VolumeDriver =>
  clusterImageDriver(
    own,
    () => false,
    () => Promise.resolve({ ok: true, value }),
  );
const asset = imageAsset({ handle: 'node-a/pvc-1', capacity: '1Gi', volumeMode: 'Filesystem', machine: 'node.node-a' });

test('a node makes a volume of its own image only, whatever it answers', async () => {
  expect(await answering(succeeded(asset)).createVolume(request, leader)).toEqual(succeeded(asset));
  const hostile = { ...asset, source: { hostPath: { path: '/' } }, annotations: { a: 'b' }, capacity: '1Ei' };
  expect(await answering(succeeded(hostile)).createVolume(request, leader)).toEqual(succeeded(asset));
});

test.each([null, {}, 'text', succeeded(undefined), succeeded({ ...asset, handle: 'pvc-1' }), succeeded({ ...asset, handle: 'node-b/pvc-1' })])(
  'the answer %j is none: the image may exist',
  async (value) => {
    expect(await answering(value).createVolume(request, leader)).toMatchObject({ ok: false, code: 'Unavailable' });
  },
);

test('an expansion without a size is none', async () => {
  const expand = { handle: 'node-a/pvc-1', capacity: '2Gi' };
  expect(await answering(succeeded({ capacity: 'much', nodeExpansionRequired: true })).controllerExpandVolume?.(expand, leader)).toMatchObject({ ok: false });
  const answer = succeeded({ capacity: '2Gi', nodeExpansionRequired: true });
  expect(await answering(answer).controllerExpandVolume?.(expand, leader)).toEqual(answer);
});

test('a request that is no JSON is refused', async () => {
  const query = new URLSearchParams({ request: '{', lease: leader.lease, epoch: '5' });
  expect(await answerImageRequest(own, 'node-a', { method: 'POST', path: '/imageVolumes/pvc-1', query })).toMatchObject({ ok: false, code: 'InvalidArgument' });
});
