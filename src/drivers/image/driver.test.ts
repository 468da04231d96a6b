import { expect, test } from 'vitest';
import { SimulatedDirectories } from '../../sim/drivers/simulated-directories.ts';
import { imageDriver } from './driver.ts';
import type { Images } from './images.ts';

const leader = { lease: 'kube-system/moor-controllers', epoch: 5 };
const request = {
  name: 'pvc-1',
  capacity: '1Gi',
  accessModes: ['ReadWriteOnce'],
  volumeMode: 'Filesystem',
  storageClassName: 'standard',
  reclaimPolicy: 'Delete',
};

function setUp(refuses?: string) {
  const sizes = new Map<string, bigint>();
  const calls: string[] = [];
  const images: Images = {
    path: (name) => `/images/${name}.img`,
    create: async (name, bytes, content = 'file system') => {
      calls.push(`make ${name} with ${content}`);
      if (refuses !== undefined) throw Object.assign(new Error('truncate: refused'), { code: refuses });
      if (!sizes.has(name)) sizes.set(name, bytes);
    },
    size: async (name) => sizes.get(name),
    grow: async (name, bytes) => {
      calls.push(`grow ${name} ${bytes}`);
      if ((sizes.get(name) ?? bytes) < bytes) sizes.set(name, bytes);
    },
    remove: async (name) => void sizes.delete(name),
    list: async () => [...sizes.keys()],
  };
  const driver = imageDriver({ images, directories: new SimulatedDirectories(), root: '/images', isHere: (node) => node === 'node-1', machine: 'this' });
  return { driver, sizes, calls };
}

test('a volume has the requested size in whole blocks, and this machine as its topology', async () => {
  const { driver, sizes } = setUp();
  expect(await driver.createVolume(request, leader)).toMatchObject({
    ok: true,
    value: {
      handle: 'pvc-1',
      capacity: '1Gi',
      source: { csi: { driver: 'image.mooring.dev', volumeHandle: 'pvc-1', fsType: 'ext4' } },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'topology.image.mooring.dev/machine', values: ['this'] }] }] } },
    },
  });
  await driver.createVolume({ ...request, name: 'odd', capacity: '3000001' }, leader);
  await driver.createVolume({ ...request, name: 'tiny', capacity: '1' }, leader);
  expect([...sizes]).toEqual([
    ['pvc-1', 1n << 30n],
    ['odd', 3_002_368n],
    ['tiny', 1n << 20n],
  ]);
  expect(await driver.listVolumes()).toEqual({ ok: true, value: ['pvc-1', 'odd', 'tiny'] });
  expect(await driver.deleteVolume('pvc-1', leader)).toMatchObject({ ok: true });
  expect(await driver.deleteVolume('pvc-1', leader)).toMatchObject({ ok: true });
  expect(await driver.listVolumes()).toEqual({ ok: true, value: ['odd', 'tiny'] });
});

test('failures have the code that says whether to retry elsewhere, later or never', async () => {
  const { driver } = setUp();
  expect(await driver.createVolume({ ...request, selectedNode: 'node-2' }, leader)).toMatchObject({ code: 'ResourceExhausted' });
  for (const name of ['../etc/passwd', '.leaders', 'a/b', '']) {
    expect(await driver.createVolume({ ...request, name }, leader)).toMatchObject({ code: 'InvalidArgument' });
    expect(await driver.deleteVolume(name, leader)).toMatchObject({ code: 'InvalidArgument' });
    expect(await driver.controllerExpandVolume?.({ handle: name, capacity: '1Gi' }, leader)).toMatchObject({ code: 'NotFound' });
  }
  expect(await setUp('ENOSPC').driver.createVolume(request, leader)).toMatchObject({ code: 'ResourceExhausted' });
  expect(await setUp('EFBIG').driver.createVolume(request, leader)).toMatchObject({ code: 'OutOfRange' });
  expect(await driver.createVolume({ ...request, capacity: '900Pi' }, leader)).toMatchObject({ code: 'OutOfRange', message: expect.stringContaining('900Pi') });
  expect(await driver.createVolume(request, { ...leader, epoch: 4 })).toMatchObject({ code: 'PermissionDenied' });
});

test('controllerExpandVolume is idempotent, never shrinks, and requires node expansion', async () => {
  const { driver, calls } = setUp();
  await driver.createVolume(request, leader);
  const expand = (capacity: string) => driver.controllerExpandVolume?.({ handle: 'pvc-1', capacity }, leader);
  expect(await expand('2Gi')).toMatchObject({ ok: true, value: { capacity: '2Gi', nodeExpansionRequired: true } });
  expect(await expand('2Gi')).toMatchObject({ ok: true, value: { capacity: '2Gi' } });
  expect(await expand('1Gi')).toMatchObject({ ok: true, value: { capacity: String(2 ** 31) } });
  expect(calls.slice(1)).toEqual([`grow pvc-1 ${2 ** 31}`, `grow pvc-1 ${2 ** 31}`, `grow pvc-1 ${2 ** 30}`]);
});

test('a block volume is blank, without fsType', async () => {
  const { driver, calls } = setUp();
  const made = await driver.createVolume({ ...request, volumeMode: 'Block' }, leader);
  expect(made).toMatchObject({ ok: true, value: { source: { csi: { driver: 'image.mooring.dev', volumeHandle: 'pvc-1' } } } });
  expect(made).not.toHaveProperty('value.source.csi.fsType');
  await driver.createVolume({ ...request, name: 'files' }, leader);
  expect(calls).toEqual(['make pvc-1 with nothing', 'make files with file system']);
});
