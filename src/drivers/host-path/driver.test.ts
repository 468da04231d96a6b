import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { SimulatedDirectories } from '../../sim/drivers/simulated-directories.ts';
import { hostPathDriver } from './driver.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const request = {
  name: 'pvc-5ac53d26-6ba9-4dbf-a6b1-6ec12e83c3ef',
  capacity: '1Gi',
  accessModes: ['ReadWriteOnce'],
  volumeMode: 'Filesystem',
  storageClassName: 'fast',
  reclaimPolicy: 'Delete',
};

const leader = { lease: 'kube-system/moor-controllers', epoch: 5 };

function setUp(cluster = 'here') {
  const directories = new SimulatedDirectories();
  return { directories, driver: hostPathDriver({ directories, sha256, cluster }) };
}

describe('createVolume', () => {
  test('creates a directory with a UUID that is not the claim’s', async () => {
    const { directories, driver } = setUp();
    const made = await driver.createVolume(request, leader);
    expect(made).toMatchObject({ ok: true, value: { capacity: '1Gi', annotations: { 'kubernetes.io/createdby': 'hostpath-dynamic-provisioner' } } });
    const [path = ''] = directories.paths;
    expect(path).toMatch(/^\/tmp\/hostpath_pv\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(path).not.toContain('5ac53d26');
    expect(made).toMatchObject({ value: { handle: path, source: { hostPath: { path } } } });
  });

  test('is idempotent by name', async () => {
    const { directories, driver } = setUp();
    const first = await driver.createVolume(request, leader);
    expect(await driver.createVolume(request, leader)).toEqual(first);
    expect(directories.paths.size).toBe(1);
    await driver.createVolume({ ...request, name: 'pvc-other' }, leader);
    expect(directories.paths.size).toBe(2);
  });

  test('returns a final failure with the reason', async () => {
    const { directories, driver } = setUp();
    await driver.createVolume({ ...request, name: 'pvc-before' }, leader);
    directories.failures.push('mkdir /tmp/hostpath_pv: permission denied');
    expect(await driver.createVolume(request, leader)).toEqual({ ok: false, code: 'Internal', message: 'mkdir /tmp/hostpath_pv: permission denied' });
    expect(directories.paths.size).toBe(1);
  });
});

describe('deleteVolume', () => {
  test('removes the content, and is idempotent', async () => {
    const { directories, driver } = setUp();
    directories.paths.add('/tmp/by-hand').add('/tmp/by-hand/file').add('/tmp/by-hand-too');
    expect(await driver.deleteVolume('/tmp/by-hand', leader)).toEqual({ ok: true, value: undefined });
    expect(await driver.deleteVolume('/tmp/by-hand', leader)).toEqual({ ok: true, value: undefined });
    expect([...directories.paths]).toEqual(['/tmp/by-hand-too']);
  });

  test.each(['/srv/data', '/tmp', '/tmp/', '/tmp//', '/srv/tmp/data', '/tmp/../etc', '/tmp/a/../../etc', '/tmp/./', 'tmp/data', '/tmpdata/x', ''])(
    'refuses %j',
    async (path) => {
      const { directories, driver } = setUp();
      directories.paths.add(path);
      const message = `host_path deleter only supports /tmp/.+ but received provided ${path}`;
      expect(await driver.deleteVolume(path, leader)).toEqual({ ok: false, code: 'InvalidArgument', message });
      expect([...directories.paths]).toEqual([path]);
    },
  );
});

test('listVolumes returns only directories of this cluster', async () => {
  const { directories, driver } = setUp();
  await driver.createVolume(request, leader);
  const [own = ''] = directories.paths;
  await hostPathDriver({ directories, sha256, cluster: 'elsewhere' }).createVolume(request, leader);
  directories.paths.add('/tmp/hostpath_pv/notes').add(`/tmp/hostpath_pv/5ac53d26-6ba9-4dbf-a6b1-6ec12e83c3ef`);
  expect(directories.paths.size).toBe(4);
  expect(await driver.listVolumes()).toEqual({ ok: true, value: [own] });
  expect(driver.handleFor(request.name)).toBe(own);
});

describe('a leader that was deposed', () => {
  const refused = { ok: false, code: 'PermissionDenied', message: 'epoch 5 of lease kube-system/moor-controllers is outdated: the latest is 8' };

  test('is refused for every call, by other processes and after a restart too', async () => {
    const { directories, driver } = setUp();
    await driver.createVolume(request, leader);
    await hostPathDriver({ directories, sha256, cluster: 'here' }).createVolume({ ...request, name: 'pvc-new' }, { ...leader, epoch: 8 });
    const paths = [...directories.paths];
    for (const one of [driver, hostPathDriver({ directories, sha256, cluster: 'here' })]) {
      expect(await one.createVolume({ ...request, name: 'pvc-late' }, leader)).toEqual(refused);
      expect(await one.deleteVolume(paths[0] ?? '', leader)).toEqual(refused);
      expect(await one.controllerExpandVolume?.({ handle: paths[0] ?? '', capacity: '2Gi' }, leader)).toEqual(refused);
    }
    expect([...directories.paths]).toEqual(paths);
  });

  test('is not confused with leaders of another lease or cluster', async () => {
    const { directories, driver } = setUp();
    await driver.createVolume(request, { ...leader, epoch: 8 });
    expect(await driver.createVolume(request, { lease: 'team/own', epoch: 1 })).toMatchObject({ ok: true });
    expect(await hostPathDriver({ directories, sha256, cluster: 'elsewhere' }).createVolume(request, leader)).toMatchObject({ ok: true });
  });

  test('is not detected, and does not block, if the epochs file cannot be read or written', async () => {
    const { directories, driver } = setUp();
    await driver.createVolume(request, leader);
    for (const note of directories.notes.keys()) directories.notes.set(note, 'nonsense');
    directories.failures.push('no space left on device');
    const [handle = ''] = directories.paths;
    expect(await driver.deleteVolume(handle, { ...leader, epoch: 9 })).toEqual({ ok: true, value: undefined });
  });
});

describe('controllerExpandVolume', () => {
  test('stores the size, and never shrinks', async () => {
    const { directories, driver } = setUp();
    await driver.createVolume(request, leader);
    const [handle = ''] = directories.paths;
    const to = (capacity: string) => driver.controllerExpandVolume?.({ handle, capacity }, leader);
    expect(await to('2Gi')).toEqual({ ok: true, value: { capacity: '2Gi', nodeExpansionRequired: false } });
    expect(await to('1Gi')).toEqual({ ok: true, value: { capacity: '2Gi', nodeExpansionRequired: false } });
    expect(await to('3Gi')).toMatchObject({ value: { capacity: '3Gi' } });
    expect(directories.notes.get(`${handle}.size`)).toBe('3Gi');
    await driver.deleteVolume(handle, leader);
    expect(directories.notes.has(`${handle}.size`)).toBe(false);
  });

  test('writes no file beside a foreign directory', async () => {
    const { directories, driver } = setUp();
    expect(await driver.controllerExpandVolume?.({ handle: '/tmp/by-hand', capacity: '2Gi' }, leader)).toMatchObject({ ok: true });
    expect(Array.from(directories.notes.keys()).filter((note) => note.endsWith('.size'))).toEqual([]);
  });

  test('fails if the size cannot be stored', async () => {
    const { directories, driver } = setUp();
    await driver.createVolume(request, leader);
    const [handle = ''] = directories.paths;
    directories.failures.push('disk quota exceeded');
    expect(await driver.controllerExpandVolume?.({ handle, capacity: '2Gi' }, leader)).toEqual({ ok: false, code: 'Internal', message: 'disk quota exceeded' });
    expect(directories.notes.has(`${handle}.size`)).toBe(false);
  });
});

test('another root below /tmp works the same', async () => {
  const directories = new SimulatedDirectories();
  const driver = hostPathDriver({ directories, sha256, cluster: 'here', root: '/tmp/hostpath_pv-1000' });
  const made = await driver.createVolume(request, leader);
  const handle = made.ok ? made.value.handle : '';
  expect(handle).toMatch(/^\/tmp\/hostpath_pv-1000\/[0-9a-f-]{36}$/);
  expect(await driver.listVolumes?.()).toEqual({ ok: true, value: [handle] });
  expect(await driver.deleteVolume(handle, leader)).toMatchObject({ ok: true });
  expect(await driver.listVolumes?.()).toEqual({ ok: true, value: [] });
});
