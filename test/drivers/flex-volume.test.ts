/** The example driver with real mounts, on loop devices where the machine has them; and the limits of programs. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Pod } from '../../src/api/generated/types.ts';
import { flexDrivers } from '../../src/drivers/flex-volume/node.ts';
import { realHostFiles } from '../../src/host/files.ts';
import { readMounts, realMounts } from '../../src/host/mounts.ts';
import { realPrograms } from '../../src/host/programs.ts';
import { describeWithMounts } from '../mounts/permitted.ts';
import { root as project } from '../moor-process.ts';
import { detachBelow, devicesBelow } from './loop-devices.ts';
import { unmountBelow } from './this-machine.ts';

const pod = { metadata: { namespace: 'default', name: 'web', uid: 'uid' }, spec: { containers: [] } } as unknown as Pod;
const roots: string[] = [];
const mountsBelow = async (root: string) => (await readMounts()).filter(({ target }) => target.startsWith(`${root}/`));

function setUp(disks: Readonly<Record<string, string>>) {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-flex-')));
  roots.push(root);
  const at = (name: string) => path.join(root, name);
  mkdirSync(at('exec/example.com~disk'), { recursive: true });
  copyFileSync(path.join(project, 'examples/flex-volume/disk'), at('exec/example.com~disk/disk'));
  const variables = { FLEX_DISKS: at('disks'), ...disks };
  const programs: typeof realPrograms = { run: (file, args, options) => realPrograms.run(file, args, { ...options, variables }) };
  const host = { mounts: realMounts(), files: realHostFiles };
  const clock = { now: () => 0, monotonic: () => 0 };
  const options = { ...host, clock, programs, nodeName: 'node-1', secret: () => undefined, directory: at('exec') };
  const driver = () => flexDrivers(options)('example.com/disk');
  const flexVolume = { driver: 'example.com/disk', fsType: 'ext4', options: { size: '16M' } };
  const plain = { persistentVolume: undefined, mountOptions: [], mode: 'Filesystem' as const, publishContext: {} };
  const volume = { name: 'pv-1', source: { flexVolume }, readOnly: false, ...plain };
  const undo = async () => {
    await driver()?.nodeUnpublishVolume({ target: at('pod'), name: 'pv-1', podUid: 'uid' });
    return driver()?.nodeUnstageVolume?.({ handle: 'pv-1', stagingPath: at('global') });
  };
  const up = async () => {
    const staged = await driver()?.nodeStageVolume?.({ volume, stagingPath: at('global') });
    expect(staged).toEqual({ ok: true, value: undefined });
    return driver()?.nodePublishVolume({ volume, pod, target: at('pod'), stagingPath: at('global'), recordEvent: () => undefined });
  };
  return { root, at, up, undo };
}

afterEach(async () => {
  for (const root of roots.splice(0)) {
    await unmountBelow(root);
    await detachBelow(root);
    rmSync(root, { recursive: true, force: true });
  }
});

describeWithMounts(import.meta.url, () => {
  test('a disk is attached, mounted, kept, unmounted and detached', async () => {
    const { root, at, up, undo } = setUp({});
    expect(await up()).toMatchObject({ ok: true, value: { path: at('pod') } });
    writeFileSync(at('pod/file'), 'hello');
    // As after a restart: new processes, the same paths.
    const before = await mountsBelow(root);
    expect(await up()).toMatchObject({ ok: true });
    expect(await mountsBelow(root)).toEqual(before);
    expect(await undo()).toEqual({ ok: true, value: undefined });
    expect(existsSync(at('pod')) || existsSync(at('global'))).toBe(false);
    expect(await mountsBelow(root)).toEqual([]);
    expect(devicesBelow(root)).toEqual([]);
    await up();
    expect(readFileSync(at('pod/file'), 'utf8')).toBe('hello');
    expect(await undo()).toEqual({ ok: true, value: undefined });
  });
});

test('a program that does not end is killed with its child processes, and its output is limited', async () => {
  // The program and its child would run far longer than the test.
  expect(await realPrograms.run('sh', ['-c', 'sleep 3600 & wait'], { timeoutMs: 200 })).toEqual({ type: 'timeout' });
  expect(await realPrograms.run('/nowhere/program', [], { timeoutMs: 60_000 })).toMatchObject({ type: 'failed' });
  expect(await realPrograms.run('sh', ['-c', 'echo out; echo err >&2; exit 7'], { timeoutMs: 60_000 })).toEqual({
    type: 'exited',
    code: 7,
    output: 'out\nerr\n',
  });
  const much = await realPrograms.run('sh', ['-c', 'head -c 3000000 /dev/zero'], { timeoutMs: 60_000 });
  expect(much.type === 'exited' && much.output.length).toBe(1 << 20);
});
