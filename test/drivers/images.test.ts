/** Images on this machine: with real loop devices where it permits them, otherwise the reason why not. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { imageNode } from '../../src/drivers/image/node.ts';
import { realMounts } from '../../src/host/mounts.ts';
import { realHostFiles } from '../../src/host/files.ts';
import { realImageDevices, realImages, whyNoImages } from '../../src/host/images.ts';
import { imageDriverIn, imageVolumes } from '../../src/cluster/nodes/image-volumes.ts';
import { describeWithLoopDevices, devicesBelow, untilNoDevicesBelow } from './loop-devices.ts';
import { unmountBelow } from './this-machine.ts';

const roots: string[] = [];
const mib = 2 ** 20;

function setUp() {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-images-')));
  roots.push(root);
  const images = realImages(root);
  const machine = { mounts: realMounts(), files: realHostFiles };
  const clock = { now: () => 0, monotonic: () => 0 };
  const driver = imageNode({ ...machine, clock, path: images.path, devices: realImageDevices });
  const at = (name: string) => path.join(root, name);
  const volume = {
    name: 'pv',
    source: { csi: { driver: 'image.mooring.dev', volumeHandle: 'pvc-1', fsType: 'ext4' } },
    persistentVolume: undefined,
    readOnly: false,
    mountOptions: [],
    mode: 'Filesystem' as const,
    publishContext: {},
  };
  const stage = (where: string) => driver.nodeStageVolume?.({ volume, stagingPath: at(where) });
  const unstage = (where: string) => driver.nodeUnstageVolume?.({ handle: 'pv', stagingPath: at(where) });
  const expand = (where: string) => driver.nodeExpandVolume?.({ volume, stagingPath: at(where), capacity: '48Mi' });
  const block = {
    stage: (where: string) => driver.nodeStageVolume?.({ volume: { ...volume, mode: 'Block' }, stagingPath: at(where) }),
    expand: (where: string) => driver.nodeExpandVolume?.({ volume: { ...volume, mode: 'Block' }, stagingPath: at(where), capacity: '48Mi' }),
  };
  return { root, images, machine, at, stage, unstage, expand, block };
}

afterEach(async () => {
  for (const root of roots.splice(0)) {
    await unmountBelow(root);
    await untilNoDevicesBelow(root);
    rmSync(root, { recursive: true, force: true });
  }
});

/** Growing a mounted file system requires CAP_SYS_RESOURCE. */
const mayGrowMounted = (BigInt(`0x${/^CapEff:\t(\w+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'}`) >> 24n) % 2n === 1n;

describeWithLoopDevices('images', () => {
  test('enforce their size, keep their data, grow while mounted, and leave no device behind', async () => {
    const { root, images, at, stage, unstage, expand } = setUp();
    await images.create('pvc-1', BigInt(16 * mib));
    expect(await stage('one')).toMatchObject({ ok: true });
    const written = Buffer.alloc(8 * mib, 'x');
    writeFileSync(at('one/first'), written);
    expect(() => writeFileSync(at('one/second'), Buffer.alloc(12 * mib))).toThrow(/ENOSPC/);
    rmSync(at('one/second'));

    await images.grow('pvc-1', BigInt(48 * mib));
    if (mayGrowMounted) {
      expect(await expand('one')).toMatchObject({ ok: true });
    } else {
      expect(await expand('one')).toMatchObject({ ok: false, code: 'FailedPrecondition', message: expect.stringContaining('CAP_SYS_RESOURCE') });
      await unstage('one');
      await untilNoDevicesBelow(root);
      await stage('one');
      expect(await expand('one')).toMatchObject({ ok: true });
    }
    writeFileSync(at('one/second'), Buffer.alloc(12 * mib));
    const { blocks, bsize } = await statfs(at('one'));
    expect(blocks * bsize).toBeGreaterThan(40 * mib);

    expect(await unstage('one')).toMatchObject({ ok: true });
    await untilNoDevicesBelow(root);
    expect(await stage('two')).toMatchObject({ ok: true });
    expect(readFileSync(at('two/first')).equals(written)).toBe(true);
    expect(await unstage('two')).toMatchObject({ ok: true });
  });

  test('as block devices: all targets share the bytes, grow at once, and no crash leaves a device behind', async () => {
    const { root, images, at, unstage, block } = setUp();
    await images.create('pvc-1', BigInt(8 * mib), 'nothing');
    expect(await Promise.all([block.stage('one'), block.stage('two')])).toEqual([expect.objectContaining({ ok: true }), expect.objectContaining({ ok: true })]);
    expect(devicesBelow(root)).toHaveLength(1);
    expect(statSync(at('one')).isBlockDevice()).toBe(true);
    writeFileSync(at('one'), 'precious', { flag: 'r+' });
    await images.grow('pvc-1', BigInt(48 * mib));
    expect(await block.expand('one')).toMatchObject({ ok: true });
    expect(await realHostFiles.usage(at('two'))).toMatchObject({ capacity: 48 * mib });
    expect(await unstage('one')).toMatchObject({ ok: true });
    expect(readFileSync(at('two')).toString('utf8', 0, 8)).toBe('precious');
    // A process unmounted it, and crashed before it released the device; then the volume was deleted.
    await realMounts().unmount(at('two'));
    await images.remove('pvc-1');
    expect(devicesBelow(root)).toHaveLength(1);
    expect(await unstage('two')).toMatchObject({ ok: true });
    await untilNoDevicesBelow(root);
    expect(await unstage('two')).toMatchObject({ ok: true });
    expect(existsSync(at('two.image'))).toBe(false);
  });

  test('a file system on a block volume is not expanded: it belongs to the pod', async () => {
    const { images, at, unstage, block } = setUp();
    await images.create('pvc-1', BigInt(8 * mib));
    await images.grow('pvc-1', BigInt(48 * mib));
    await block.stage('one');
    expect(readFileSync(at('one')).readUInt32LE(1024 + 4)).toBe((8 * mib) / 1024);
    await unstage('one');
  });

  test('one that was expanded while unmounted is larger after the next mount', async () => {
    const { images, at, stage, unstage } = setUp();
    await images.create('pvc-1', BigInt(8 * mib));
    await images.grow('pvc-1', BigInt(64 * mib));
    expect(await images.size('pvc-1')).toBe(BigInt(64 * mib));
    await stage('one');
    const { blocks, bsize } = await statfs(at('one'));
    expect(blocks * bsize).toBeGreaterThan(50 * mib);
    await unstage('one');
  });

  test('and so is one that was expanded while a new mount namespace still had a copy of the mount', async () => {
    const { root, images, at, stage, unstage } = setUp();
    await images.create('pvc-1', BigInt(8 * mib));
    await stage('one');
    const holder = spawn('unshare', ['--mount', 'sh', '-c', 'cd "$0" && echo made && exec cat >/dev/null', at('one')], { stdio: ['pipe', 'pipe', 'ignore'] });
    await once(holder.stdout, 'data');
    await unstage('one');
    expect(devicesBelow(root)).toHaveLength(1);
    await images.grow('pvc-1', BigInt(64 * mib));
    const staged = stage('one');
    holder.stdin.end();
    expect(await staged).toMatchObject({ ok: true });
    const { blocks, bsize } = await statfs(at('one'));
    expect(blocks * bsize).toBeGreaterThan(50 * mib);
    await unstage('one');
  });

  test('two nodes that mount one concurrently share one device', async () => {
    const { root, images, at, stage, unstage } = setUp();
    await images.create('pvc-1', BigInt(8 * mib));
    expect(await Promise.all([stage('one'), stage('two'), stage('three')])).toEqual(Array.from({ length: 3 }, () => expect.objectContaining({ ok: true })));
    expect(devicesBelow(root)).toHaveLength(1);
    writeFileSync(at('one/file'), 'hello');
    expect(readFileSync(at('three/file'), 'utf8')).toBe('hello');
    await unstage('one');
    expect(readFileSync(at('two/file'), 'utf8')).toBe('hello');
    await Promise.all([unstage('two'), unstage('three')]);
    await untilNoDevicesBelow(root);
  });

  test('one that is deleted while mounted frees its space after the unmount', async () => {
    const { root, images, at, stage, unstage } = setUp();
    await images.create('pvc-1', BigInt(8 * mib));
    await stage('one');
    await images.remove('pvc-1');
    expect(await images.list()).toEqual([]);
    writeFileSync(at('one/file'), 'still there');
    await unstage('one');
    await untilNoDevicesBelow(root);
    expect(await stage('one')).toMatchObject({ ok: false, code: 'NotFound' });
  });

  test('an incomplete image of a crash is created again, a complete one stays', async () => {
    const { root, images, at, stage, unstage } = setUp();
    writeFileSync(path.join(root, 'pvc-1.img.new'), 'half of it');
    await images.create('pvc-1', BigInt(8 * mib));
    await stage('one');
    writeFileSync(at('one/file'), 'hello');
    await unstage('one');
    await images.create('pvc-1', BigInt(8 * mib));
    await stage('one');
    expect(readFileSync(at('one/file'), 'utf8')).toBe('hello');
    await unstage('one');
    expect(existsSync(path.join(root, 'pvc-1.img.new'))).toBe(false);
  });
});

test('without loop devices the driver is not offered', async () => {
  const { root } = setUp();
  expect(await imageDriverIn(root)).toBeUndefined();
  const volumes = await imageVolumes(path.join(root, 'images'), 2);
  expect((await imageDriverIn(root)) === undefined).toBe(volumes === undefined);
  expect(volumes === undefined).toBe(whyNoImages() !== undefined);
  expect(existsSync(path.join(root, 'images'))).toBe(volumes !== undefined);
});
