import { constants, type Stats } from 'node:fs';
import fs, { type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { FileStat, HostFiles, OpenedPath, TreeSize, Usage } from '../world/mounts.ts';
import { factsOf } from './file-stat.ts';
import { readMounts } from './mounts.ts';
import { openDirectory, removeName, walkTree } from './trees.ts';

/** The files of this machine. */
export const realHostFiles: HostFiles = {
  async makeDirectory(directory, mode) {
    const first = await fs.mkdir(directory, { recursive: true, mode });
    if (first === undefined) return;
    for (let made = directory; ; made = path.dirname(made)) {
      await fs.chmod(made, mode);
      if (made === first || made === path.dirname(made)) return;
    }
  },

  list: async (directory) => (await fs.readdir(directory)).sort(),

  stat: (file, how) => factsOrNothing(how === 'follow' ? fs.stat(file) : fs.lstat(file)),

  read: (file) => fs.readFile(file),

  async write(file, bytes, mode) {
    const handle = await fs.open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW, mode);
    try {
      await handle.writeFile(bytes);
      await handle.chmod(mode);
    } finally {
      await handle.close();
    }
  },

  makeLink: (file, leadsTo) => fs.symlink(leadsTo, file),
  readLink: (file) => fs.readlink(file),
  rename: (from, to) => fs.rename(from, to),
  removeFile: (file) => fs.unlink(file),
  removeDirectory: (directory) => fs.rmdir(directory),

  async removeTree(directory) {
    const found = await factsOrNothing(fs.lstat(directory));
    if (found === undefined) return;
    // The mount table has paths without links: a link above the directory would hide a mount below it.
    const parent = await fs.realpath(path.dirname(directory));
    const real = path.join(parent, path.basename(directory));
    const mounted = (await readMounts()).find(({ target }) => target === real || target.startsWith(`${real}/`));
    if (mounted !== undefined) throw Object.assign(new Error(`remove ${directory}: ${mounted.target} is mounted`), { code: 'EBUSY' });
    const handle = await openDirectory(parent);
    try {
      await removeName(handle, path.basename(directory));
    } finally {
      await handle.close();
    }
  },

  setOwner: (file, { uid, gid }) => fs.lchown(file, uid, gid),
  walkTree,

  async usage(file) {
    const { mode, rdev } = await fs.stat(file);
    if ((mode & constants.S_IFMT) === constants.S_IFBLK) return usageOfDevice(rdev);
    const { bsize, blocks, bavail, bfree, files, ffree } = await fs.statfs(file);
    return { capacity: blocks * bsize, available: bavail * bsize, used: (blocks - bfree) * bsize, inodes: files, inodesFree: ffree };
  },

  treeSize,

  openBelow,
};

/** `rdev`: as encoded by stat(2) on Linux. */
async function usageOfDevice(rdev: number): Promise<Usage> {
  const major = (rdev >>> 8) & 0xfff;
  const minor = (rdev & 0xff) | ((rdev >>> 12) & 0xfff00);
  const sectors = await fs.readFile(`/sys/dev/block/${major}:${minor}/size`, 'utf8');
  return { capacity: Number(sectors) * bytesOfBlock, available: 0, used: 0, inodes: 0, inodesFree: 0 };
}

/** Files may disappear between listing and reading. */
async function treeSize(directory: string): Promise<TreeSize> {
  const { dev } = await fs.lstat(directory);
  const linked = new Set<number>();
  let [bytes, inodes] = [0, 0];
  const waiting: Buffer[] = [Buffer.from(directory)];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const facts = await fs.lstat(next).catch(() => undefined);
    if (facts === undefined || facts.dev !== dev || linked.has(facts.ino)) continue;
    if (facts.isDirectory()) for (const entry of await entriesOf(next)) waiting.push(entry);
    else if (facts.nlink > 1) linked.add(facts.ino);
    bytes += facts.blocks * bytesOfBlock;
    inodes++;
  }
  return { bytes, inodes };
}

/** By bytes: a name that is no valid text would be left out of the count. */
async function entriesOf(directory: Buffer): Promise<readonly Buffer[]> {
  const names = await fs.readdir(directory, { encoding: 'buffer' }).catch(() => []);
  return names.map((name) => Buffer.concat([directory, Buffer.from('/'), name]));
}

/** The unit of `blocks` in stat(2). */
const bytesOfBlock = 512;

const pathOnly = 0x20_0000;

/**
 * Opens each directory by the descriptor of its parent, so that a container cannot replace one with a link in between (subpath_linux.go). Links that
 * stay inside the base are allowed: they are resolved first, and the result is opened without following any link.
 */
async function openBelow(base: string, relative: string, mode: number): Promise<OpenedPath> {
  const root = await fs.realpath(base);
  const parts = path.relative(root, await resolved(root, relative)).split('/');
  if (parts[0] === '..') throw outside(base, relative);
  let handle = await fs.open(root, pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    for (const part of parts.filter((each) => each !== '')) {
      const next = await step(handle, part, mode);
      await handle.close();
      handle = next;
    }
    const facts = factsOf(await handle.stat());
    const opened = handle;
    return { path: `/proc/self/fd/${handle.fd}`, stat: facts, close: () => opened.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The path without links; the part that does not exist yet is appended as given. */
async function resolved(root: string, relative: string): Promise<string> {
  const wanted = path.join(root, relative);
  const missing: string[] = [];
  for (let known = wanted; ; known = path.dirname(known)) {
    const real = await fs.realpath(known).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (real !== undefined) return path.join(real, ...missing.reverse());
    // A dangling link: creating its target could create it outside the base.
    if ((await factsOrNothing(fs.lstat(known))) !== undefined) throw outside(root, relative);
    missing.push(path.basename(known));
  }
}

async function step(directory: FileHandle, name: string, mode: number): Promise<FileHandle> {
  const child = `/proc/self/fd/${directory.fd}/${name}`;
  const open = () => fs.open(child, pathOnly | constants.O_NOFOLLOW);
  const handle = await open().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    await fs.mkdir(child, { mode }).catch(ignoring('EEXIST'));
    const made = await open();
    if ((await made.stat()).isDirectory()) await fs.chmod(`/proc/self/fd/${made.fd}`, mode);
    return made;
  });
  if (!(await handle.stat()).isSymbolicLink()) return handle;
  await handle.close();
  throw Object.assign(new Error(`unexpected symlink found ${name}`), { code: 'ELOOP' });
}

const outside = (base: string, relative: string): Error =>
  Object.assign(new Error(`subpath ${JSON.stringify(relative)} not within volume path ${JSON.stringify(base)}`), { code: 'EXDEV' });

const ignoring = (code: string) => (error: NodeJS.ErrnoException) => {
  if (error.code !== code) throw error;
};

async function factsOrNothing(looked: Promise<Stats>): Promise<FileStat | undefined> {
  try {
    return factsOf(await looked);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
