import { expect, test } from 'vitest';
import { SimulatedHost } from '../../sim/host/simulated-host.ts';
import type { FileStat } from '../../world/mounts.ts';
import type { ProgramResult } from '../../world/programs.ts';
import type { NodeExpandVolumeRequest } from '../contract.ts';
import { localNode } from './node.ts';

/** What an expansion answers, and the programs that it ran. `format`: of the device; undefined: the volume is a directory. */
async function expand(format: string | undefined, { code = 0, mode = 'Filesystem' }: { readonly code?: number; readonly mode?: 'Filesystem' | 'Block' } = {}) {
  const host = new SimulatedHost();
  const ran: string[] = [];
  const run = async (file: string, args: readonly string[]): Promise<ProgramResult> => {
    ran.push([file, ...args].join(' '));
    return file === 'blkid' ? { type: 'exited', code: 0, output: `TYPE=${format ?? ''}\n` } : { type: 'exited', code, output: 'no room' };
  };
  host.stat = async (): Promise<FileStat> => ({ type: format === undefined ? 'directory' : 'block-device', mode: 0o755, uid: 0, gid: 0, size: 0 });
  const driver = localNode({ mounts: host, files: host, programs: { run }, clock: { now: () => 0, monotonic: () => 0 } });
  const volume = { name: 'v', source: { local: { path: '/dev/vdb' } }, mode, readOnly: false, mountOptions: [], publishContext: {} };
  const answer = await driver.nodeExpandVolume?.({ volume, stagingPath: '/staged', capacity: '2Gi' } as unknown as NodeExpandVolumeRequest);
  return { answer, ran: ran.filter((each) => !each.startsWith('blkid')) };
}

test('a directory or raw device has nothing to grow: the expansion finishes', async () => {
  for (const { answer, ran } of [await expand(undefined), await expand('ext4', { mode: 'Block' })]) {
    expect(answer).toMatchObject({ ok: true });
    expect(ran).toEqual([]);
  }
});

test.each([
  ['ext4', 'resize2fs /dev/vdb'],
  ['xfs', 'xfs_growfs -d /staged'],
  ['btrfs', 'btrfs filesystem resize max /staged'],
])('a file system %s takes all of its device', async (format, program) => {
  expect(await expand(format)).toMatchObject({ answer: { ok: true }, ran: [program] });
});

test('a program that fails, and a format that no program grows, are told', async () => {
  const failure = 'resize of device /dev/vdb failed: exit status 1. resize2fs output: no room';
  expect((await expand('ext4', { code: 1 })).answer).toMatchObject({ ok: false, code: 'Internal', message: failure });
  const unknown = 'resize of format vfat is not supported for device /dev/vdb mounted at /staged';
  expect((await expand('vfat')).answer).toMatchObject({ ok: false, code: 'InvalidArgument', message: unknown });
});
