/** The conformance suite on this machine, for the types without a server: real mounts, files and devices. */
import { spawnSync } from 'node:child_process';
import { constants, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ConfigMap, Pod, Secret } from '../../src/api/generated/types.ts';
import { configMapNode } from '../../src/drivers/config-map/node.ts';
import { describeNodeDriver, type DriverUnderTest } from '../../src/drivers/conformance.ts';
import type { NodeDriver } from '../../src/drivers/contract.ts';
import { csiNode } from '../../src/drivers/csi/node.ts';
import { downwardApiNode } from '../../src/drivers/downward-api/node.ts';
import { emptyDirNode } from '../../src/drivers/empty-dir/node.ts';
import type { HostWithPrograms } from '../../src/drivers/mount/mount-program.ts';
import { flexDrivers } from '../../src/drivers/flex-volume/node.ts';
import { hostPathNode } from '../../src/drivers/host-path/node.ts';
import { imageNode } from '../../src/drivers/image/node.ts';
import { localNode } from '../../src/drivers/local/node.ts';
import { projectedNode, type ProjectedOptions } from '../../src/drivers/projected/node.ts';
import { secretNode } from '../../src/drivers/secret/node.ts';
import { realHostFiles } from '../../src/host/files.ts';
import { realImageDevices, realImages } from '../../src/host/images.ts';
import { realMounts } from '../../src/host/mounts.ts';
import { realPrograms } from '../../src/host/programs.ts';
import { root as project } from '../moor-process.ts';
import { describeWithMounts } from '../mounts/permitted.ts';
import { blankFile, describeWithLoopDevices, detachBelow, loopDeviceOf, makeFileSystem } from './loop-devices.ts';
import { thisMachine } from './this-machine.ts';

const clock = { now: () => Date.UTC(2026, 0, 1), monotonic: () => 0 };
const pod = { metadata: { namespace: 'default', name: 'web', labels: { app: 'web' } }, spec: { containers: [] }, status: {} } as unknown as Pod;
const configMap = { metadata: {}, data: { 'a.conf': 'level=1' } } as unknown as ConfigMap;
const secret = { metadata: {}, data: { password: 'c2VjcmV0' } } as unknown as Secret;
const around = (host: HostWithPrograms): ProjectedOptions & { readonly allocatableMemory: string } => ({
  ...host,
  clock,
  allocatableMemory: '64Mi',
  configMap: () => configMap,
  secret: () => secret,
  allocatable: () => ({ cpu: '4', memory: '8Gi' }),
  token: async () => ({ ok: true, value: { token: 'token', expires: clock.now() + 3_600_000 } }),
});
const mib = 2 ** 20;

type About = Omit<DriverUnderTest, 'machine' | 'make'>;
type Make = (host: HostWithPrograms) => NodeDriver;

describeWithMounts(import.meta.url, () => {
  const machine = thisMachine();
  const { at } = machine;
  const describeHere = (name: string, make: Make, about: About) =>
    describeNodeDriver(name, { ...about, machine: machine.empty, make: async (host) => make(host) });

  const scratch = { data: undefined, content: 'as old as its pod', readOnly: 'container' } as const;
  describeHere('emptyDir', (host) => emptyDirNode(around(host)), { volume: { source: { emptyDir: {} } }, ...scratch });
  const memory = { source: { emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } } };
  describeHere('emptyDir in memory', (host) => emptyDirNode(around(host)), { volume: memory, ...scratch });

  const directory = { data: at('srv'), content: 'outlives pods' } as const;
  const hostPath = { source: { hostPath: { path: at('srv'), type: 'Directory' } } };
  describeHere('hostPath', hostPathNode, { volume: hostPath, ...directory, readOnly: 'container' });
  const local = (host: HostWithPrograms) => localNode({ ...host, clock });
  describeHere('local', local, { volume: { source: { local: { path: at('srv') } }, mountOptions: ['noexec'] }, ...directory, readOnly: 'driver' });

  const made = { data: undefined, content: 'made', readOnly: 'container' } as const;
  const fromConfigMap = { source: { configMap: { name: 'settings' } } };
  describeHere('configMap', (host) => configMapNode(around(host)), { volume: fromConfigMap, holds: ['a.conf', 'level=1'], ...made });
  const fromSecret = { source: { secret: { secretName: 'password' } } };
  describeHere('secret', (host) => secretNode(around(host)), { volume: fromSecret, holds: ['password', 'secret'], ...made });
  const items = [{ path: 'about/labels', fieldRef: { fieldPath: 'metadata.labels' } }];
  const labels = { pod, holds: ['about/labels', 'app="web"'], ...made } as const;
  describeHere('downwardAPI', (host) => downwardApiNode(around(host)), { volume: { source: { downwardAPI: { items } } }, ...labels });
  const sources = [{ configMap: { name: 'settings' } }, { downwardAPI: { items } }, { serviceAccountToken: { path: 'token' } }];
  describeHere('projected', (host) => projectedNode(around(host)), { volume: { source: { projected: { sources } } }, ...labels });

  describe('hostPath', () => describeHostPathTypes(machine.at, machine.empty));

  test('a tmpfs has the given size', async () => {
    await machine.empty();
    const driver = emptyDirNode(around({ mounts: realMounts(), files: realHostFiles, programs: realPrograms }));
    const plain = { persistentVolume: undefined, readOnly: false, mountOptions: [], mode: 'Filesystem' as const, publishContext: {} };
    const request = { volume: { name: 'm', ...memory, ...plain }, pod, target: at('pod'), stagingPath: undefined, recordEvent: () => undefined };
    expect(await driver.nodePublishVolume(request)).toMatchObject({ ok: true });
    expect(() => writeFileSync(at('pod/file'), Buffer.alloc(2 * mib))).toThrow(/ENOSPC/);
  });

  describeWithLoopDevices('on loop devices', () => {
    const { at, empty } = thisMachine(detachBelow);
    const describeHere = (name: string, make: Make, about: About) => describeNodeDriver(name, { ...about, machine: empty, make: async (host) => make(host) });
    const disk = { data: undefined, content: 'outlives pods', readOnly: 'driver' } as const;
    const blank = { source: { local: { path: at('disk') } }, mountOptions: ['noatime'] };
    const blankDisk = async () => {
      blankFile(at('blank.img'));
      loopDeviceOf(at('blank.img'), at('disk'));
    };
    // The device has a file system already: formatting it each time would take longer than all the rest.
    const patterns = thisMachine();
    const formatted = async () => {
      if (!existsSync(patterns.at('ext4'))) makeFileSystem(patterns.at('ext4'));
      await copyFile(patterns.at('ext4'), at('disk.img'), constants.COPYFILE_FICLONE);
      loopDeviceOf(at('disk.img'), at('disk'));
    };
    describeHere('local, a device', local, { volume: blank, prepare: formatted, readOnlyPrograms: /^(blkid|fsck) /, ...disk });
    const image = { source: { csi: { driver: 'image.mooring.dev', volumeHandle: 'pvc-1', fsType: 'ext4' } }, mountOptions: ['noatime'] };
    const makeImage = async () => {
      await mkdir(at('images'));
      await realImages(at('images')).create('pvc-1', BigInt(8 * mib));
    };
    const imageOn = (host: HostWithPrograms) => imageNode({ ...host, clock, path: realImages(at('images')).path, devices: realImageDevices });
    describeHere('csi, an image', (host) => csiNode(host, [imageOn(host)]), { volume: image, prepare: makeImage, ...disk });

    const flex = { source: { flexVolume: { driver: 'example.com/disk', fsType: 'ext4', options: { size: '16M' } } } };
    describeHere('flexVolume', (host) => flexOn(host, at), {
      volume: flex,
      prepare: () => installFlex(at),
      readOnlyPrograms: / (init|getvolumename|isattached|waitforattach)\b/,
      ...disk,
    });

    test('a blank device is formatted once, and never if it is read-only', async () => {
      await empty();
      await blankDisk();
      const driver = local({ mounts: realMounts(), files: realHostFiles, programs: realPrograms });
      const plain = { name: 'pv', persistentVolume: undefined, mode: 'Filesystem' as const, publishContext: {} };
      const stage = (readOnly: boolean) => driver.nodeStageVolume?.({ volume: { ...plain, ...blank, readOnly }, stagingPath: at('global/mount') });
      expect(await stage(true)).toMatchObject({
        ok: false,
        message: expect.stringContaining(`cannot mount unformatted disk ${at('disk')} as we are manipulating it in read-only mode`),
      });
      expect(await stage(false)).toEqual({ ok: true, value: undefined });
      writeFileSync(at('global/mount/file'), 'hello');
      expect(await driver.nodeUnstageVolume?.({ handle: 'pv', stagingPath: at('global/mount') })).toEqual({ ok: true, value: undefined });
      expect(await stage(false)).toEqual({ ok: true, value: undefined });
      expect((await realHostFiles.read(at('global/mount/file'))).toString()).toBe('hello');
    });
  });
});

/** With directories as disks: flex-volume.test.ts tests real devices, once instead of a hundred times. */
function flexOn(host: HostWithPrograms, at: (relative: string) => string): NodeDriver {
  const programs: typeof realPrograms = {
    run: (file, args, options) => host.programs.run(file, args, { ...options, variables: { FLEX_DISKS: at('disks'), FLEX_DIRECTORIES: '1' } }),
  };
  const driver = flexDrivers({ ...host, clock, programs, nodeName: 'node-1', secret: () => undefined, directory: at('exec') })('example.com/disk');
  if (driver === undefined) throw new Error('the driver does not exist');
  return driver;
}

async function installFlex(at: (relative: string) => string): Promise<void> {
  await mkdir(at('exec/example.com~disk'), { recursive: true });
  await copyFile(path.join(project, 'examples/flex-volume/disk'), at('exec/example.com~disk/disk'));
}

/** All hostPath types. */
function describeHostPathTypes(at: (relative: string) => string, empty: () => Promise<unknown>): void {
  const types = ['Directory', 'File', 'Socket', 'CharDevice', 'BlockDevice'] as const;
  test('accepts each path for its own type, and for no other', async () => {
    await empty();
    mkdirSync(at('Directory'));
    writeFileSync(at('File'), '');
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(at('Socket'), resolve));
    // The device is never opened: only its type matters here.
    expect(spawnSync('mknod', [at('BlockDevice'), 'b', '7', '0']).status).toBe(0);
    expect(spawnSync('mknod', [at('CharDevice'), 'c', '1', '3']).status).toBe(0);
    const driver = hostPathNode({ mounts: realMounts(), files: realHostFiles });
    const plain = { name: 'v', persistentVolume: undefined, readOnly: false, mountOptions: [], mode: 'Filesystem' as const, publishContext: {} };
    const publish = (name: string, type: string) =>
      driver.nodePublishVolume({
        volume: { ...plain, source: { hostPath: { path: at(name), type } } },
        pod,
        target: at('t'),
        stagingPath: undefined,
        recordEvent: () => undefined,
      });
    for (const name of types) for (const type of types) expect((await publish(name, type)).ok, `${name} as ${type}`).toBe(name === type);
    for (const [type, as] of [
      ['DirectoryOrCreate', 'Directory'],
      ['FileOrCreate', 'File'],
    ] as const) {
      expect(await publish(`new-${as}`, type)).toMatchObject({ ok: true });
      expect(await publish(`new-${as}`, as)).toMatchObject({ ok: true });
    }
    await new Promise((resolve) => void server.close(resolve));
  });
}
