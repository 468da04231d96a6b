import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { ImageDevices, Images } from '../drivers/image/images.ts';
import { growMounted, releaseDevice } from './loop-devices.ts';
import { readMounts } from './mounts.ts';

const ending = '.img';

/** Images in one directory; `root` is absolute and without links. */
export function realImages(root: string): Images {
  const at = (name: string) => path.join(root, `${name}${ending}`);
  return {
    path: at,
    async create(name, bytes, content = 'file system') {
      if ((await sizeOf(at(name))) !== undefined) return;
      const next = `${at(name)}.new`;
      // A new file: after a crash, mkfs of the last attempt may still write to the old one.
      await fs.rm(next, { force: true });
      await fs.writeFile(next, '', { mode: 0o600, flag: 'wx' });
      await fs.truncate(next, Number(bytes));
      if (content === 'file system') await makeFileSystem(next);
      await sync(next);
      await fs.rename(next, at(name));
      await sync(root);
    },
    size: (name) => sizeOf(at(name)),
    async grow(name, bytes) {
      const size = await sizeOf(at(name));
      if (size !== undefined && size < bytes) await fs.truncate(at(name), Number(bytes));
    },
    async remove(name) {
      await fs.rm(at(name), { force: true });
      await fs.rm(`${at(name)}.new`, { force: true });
    },
    list: async () => (await fs.readdir(root)).filter((each) => each.endsWith(ending)).map((each) => each.slice(0, -ending.length)),
  };
}

/** Loop devices. */
export const realImageDevices: ImageDevices = {
  grow: (image) => growMounted(image, async (device) => (await readMounts()).find(({ source }) => source === device)?.target),
  release: (image) =>
    releaseDevice(image, async (device) => (await readMounts()).some(({ source, root }) => source === device || root === `/${path.basename(device)}`)),
};

/** Whether this process may resize a mounted file system: ext4 asks for CAP_SYS_RESOURCE, bit 24 of the effective capabilities. */
export function mayResizeMounted(): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${effective}`) >> 24n) & 1n) === 1n;
}

const sizeOf = (file: string): Promise<bigint | undefined> =>
  fs.stat(file, { bigint: true }).then(
    ({ size }) => size,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    },
  );

async function sync(file: string): Promise<void> {
  const handle = await fs.open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const program = 'mkfs.ext4';
const longestMs = 60_000;
const places = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin'];
const found = (): string | undefined => places.map((each) => path.join(each, program)).find((each) => existsSync(each));

/** The kernel initializes the inode tables later, so that a large image takes no longer. No blocks are reserved for root. */
function makeFileSystem(file: string): Promise<void> {
  const options = ['-q', '-F', '-m', '0', '-E', 'lazy_itable_init=1,lazy_journal_init=1,nodiscard', file];
  return new Promise((resolve, reject) => {
    execFile(found() ?? program, options, { timeout: longestMs }, (error, _, said) => {
      if (error === null) resolve();
      else reject(new Error(`${program} ${file}: ${said.trim().slice(0, 500) || error.message}`));
    });
  });
}

/** Why this machine cannot have image volumes; undefined: it can. */
export function whyNoImages(): string | undefined {
  if (found() === undefined) return `there is no ${program}`;
  try {
    if (!/\text4$/m.test(readFileSync('/proc/filesystems', 'utf8'))) return 'the kernel has no ext4';
    accessSync('/dev/loop-control', constants.R_OK | constants.W_OK);
    return undefined;
  } catch (error) {
    return `no loop devices: ${(error as Error).message}`;
  }
}
