import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { SimulatedDirectories } from '../../sim/directories.ts';
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

function setUp(cluster = 'here') {
  const directories = new SimulatedDirectories();
  return { directories, driver: hostPathDriver({ directories, sha256, cluster }) };
}

describe('making', () => {
  test('gives a directory with a UUID that is not the claim’s', async () => {
    const { directories, driver } = setUp();
    const made = await driver.create(request);
    expect(made).toMatchObject({ ok: true, value: { capacity: '1Gi', annotations: { 'kubernetes.io/createdby': 'hostpath-dynamic-provisioner' } } });
    const [path = ''] = directories.paths;
    expect(path).toMatch(/^\/tmp\/hostpath_pv\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(path).not.toContain('5ac53d26');
    expect(made).toMatchObject({ value: { handle: path, source: { hostPath: { path } } } });
  });

  test('twice is making once; another name is another directory', async () => {
    const { directories, driver } = setUp();
    const first = await driver.create(request);
    expect(await driver.create(request)).toEqual(first);
    expect(directories.paths.size).toBe(1);
    await driver.create({ ...request, name: 'pvc-other' });
    expect(directories.paths.size).toBe(2);
  });

  test('that fails left nothing behind, and says why', async () => {
    const { directories, driver } = setUp();
    directories.failures.push('mkdir /tmp/hostpath_pv: permission denied');
    expect(await driver.create(request)).toEqual({ ok: false, code: 'Internal', message: 'mkdir /tmp/hostpath_pv: permission denied' });
  });
});

describe('deleting', () => {
  test('removes what is in it, and what is gone is deleted', async () => {
    const { directories, driver } = setUp();
    directories.paths.add('/tmp/by-hand').add('/tmp/by-hand/file').add('/tmp/by-hand-too');
    expect(await driver.delete('/tmp/by-hand')).toEqual({ ok: true, value: undefined });
    expect(await driver.delete('/tmp/by-hand')).toEqual({ ok: true, value: undefined });
    expect([...directories.paths]).toEqual(['/tmp/by-hand-too']);
  });

  test.each(['/srv/data', '/tmp', '/tmp/', '/tmp//', '/srv/tmp/data', '/tmp/../etc', '/tmp/a/../../etc', '/tmp/./', 'tmp/data', '/tmpdata/x', ''])(
    'refuses %j',
    async (path) => {
      const { directories, driver } = setUp();
      directories.paths.add(path);
      const message = `host_path deleter only supports /tmp/.+ but received provided ${path}`;
      expect(await driver.delete(path)).toEqual({ ok: false, code: 'InvalidArgument', message });
      expect([...directories.paths]).toEqual([path]);
    },
  );
});

test('listing shows what this cluster made, and nothing of others or of people', async () => {
  const { directories, driver } = setUp();
  await driver.create(request);
  const [own = ''] = directories.paths;
  await hostPathDriver({ directories, sha256, cluster: 'elsewhere' }).create(request);
  directories.paths.add('/tmp/hostpath_pv/notes').add(`/tmp/hostpath_pv/5ac53d26-6ba9-4dbf-a6b1-6ec12e83c3ef`);
  expect(directories.paths.size).toBe(4);
  expect(await driver.list()).toEqual({ ok: true, value: [own] });
  expect(driver.handleFor(request.name)).toBe(own);
});
