/** Disks for tests: loop devices of files. */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, symlinkSync, truncateSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { whyNoImages } from '../../src/host/images.ts';
import { canSandbox } from '../../src/node/runtimes/sandbox/detect.ts';

const size = 16 * 2 ** 20;

/** On a machine without loop devices, the only test is that the reason fits on one line. */
export function describeWithLoopDevices(name: string, tests: () => void): void {
  const ability = canSandbox();
  const why = whyNoImages() ?? (ability.can ? undefined : ability.why);
  if (why === undefined) describe(name, tests);
  else test(`${name}: one line says why there are none`, () => expect(why).toMatch(/^\S.+$/));
}

export function blankFile(file: string): void {
  closeSync(openSync(file, 'w', 0o600));
  truncateSync(file, size);
}

export function makeFileSystem(file: string): void {
  blankFile(file);
  execFileSync('mkfs.ext4', ['-q', '-F', '-m0', file]);
}

/** A loop device of a file, by a stable name. */
export function loopDeviceOf(file: string, name: string): void {
  symlinkSync(execFileSync('losetup', ['--show', '-f', file], { encoding: 'utf8' }).trim(), name);
}

/** The loop devices of files in the directory. */
export const devicesBelow = (root: string): readonly string[] =>
  readdirSync('/sys/block').flatMap((name) => (fileBehind(name)?.startsWith(`${root}/`) === true ? `/dev/${name}` : []));

/** A device stays while another mount namespace, such as that of a starting container, has it mounted. */
export const untilNoDevicesBelow = (root: string): Promise<void> => expect.poll(() => devicesBelow(root)).toEqual([]);

/**
 * Devices come and go by themselves, and their names with them: another process may have its own device by the same name a moment later. One that is
 * held open stays what it is.
 */
export async function detachBelow(root: string): Promise<void> {
  for (const device of devicesBelow(root)) {
    const held = openUnlessGone(device);
    if (held === undefined) continue;
    try {
      if (devicesBelow(root).includes(device)) execFileSync('losetup', ['-d', device]);
    } finally {
      closeSync(held);
    }
  }
}

function openUnlessGone(device: string): number | undefined {
  try {
    return openSync(device, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENXIO') return undefined;
    throw error;
  }
}

function fileBehind(name: string): string | undefined {
  try {
    return readFileSync(`/sys/block/${name}/loop/backing_file`, 'utf8');
  } catch {
    return undefined;
  }
}
