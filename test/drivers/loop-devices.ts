/** Disks for tests: files that are block devices. */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, symlinkSync, truncateSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { whyNoImages } from '../../src/main/real-images.ts';
import { canSandbox } from '../../src/node/sandbox/detect.ts';

const size = 16 * 2 ** 20;

/** Where the machine has no loop devices, that it says why in one line is all there is to test. */
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

/** A disk whose content is in a file, by a name of its own. */
export function loopDeviceOf(file: string, name: string): void {
  symlinkSync(execFileSync('losetup', ['--show', '-f', file], { encoding: 'utf8' }).trim(), name);
}

/** Devices of files in the directory. */
export const devicesBelow = (root: string): readonly string[] =>
  execFileSync('losetup', ['-n', '-O', 'NAME,BACK-FILE'], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => {
      const [device = '', file = ''] = line.trim().split(/\s+/);
      return file.startsWith(`${root}/`) ? [device] : [];
    });

export async function detachBelow(root: string): Promise<void> {
  for (const device of devicesBelow(root)) execFileSync('losetup', ['-d', device]);
}
