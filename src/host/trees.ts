/**
 * Trees of files that containers may change meanwhile. Every name is opened by the descriptor of its directory, and no link is followed: a directory that is replaced by
 * a link, between a look and a change, leads nowhere.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import fs, { type FileHandle } from 'node:fs/promises';
import type { TreeEntry } from '../world/mounts.ts';
import { factsOf } from './file-stat.ts';

/** Open directories, one in the other. More are not a tree that a program made for use. */
const deepest = 500;

const pathOnly = 0x20_0000;
const { O_DIRECTORY, O_NOFOLLOW } = constants;

const pathOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

/** Containers choose names: any bytes, in any encoding or none. */
type Name = string | Buffer;
const pathIn = (directory: FileHandle, name: Name): Buffer => Buffer.concat([Buffer.from(`${pathOf(directory)}/`), Buffer.from(name)]);

/** Calls with every file; with a directory after all that is in it. Files that disappear meanwhile are left out. */
export async function walkTree(directory: string, visit: (entry: TreeEntry) => Promise<void>): Promise<void> {
  const root = await fs.open(directory, pathOnly | O_NOFOLLOW);
  try {
    await visitTree(root, visit, 0);
  } finally {
    await root.close();
  }
}

async function visitTree(handle: FileHandle, visit: (entry: TreeEntry) => Promise<void>, depth: number): Promise<void> {
  const stat = factsOf(await handle.stat());
  if (stat.type === 'directory') {
    refuseDepth(depth);
    for (const name of (await fs.readdir(pathOf(handle), { encoding: 'buffer' })).sort((a, b) => a.compare(b))) {
      const child = await openIn(handle, name, 0);
      if (child === undefined) continue;
      try {
        await visitTree(child, visit, depth + 1);
      } finally {
        await child.close();
      }
    }
  }
  await visit({
    stat,
    setGroup: (gid) => fs.chown(pathOf(handle), stat.uid, gid),
    setMode: (mode) => fs.chmod(pathOf(handle), mode),
  });
}

/** Undefined: there is no such name any more; with O_DIRECTORY, no such directory. */
async function openIn(directory: FileHandle, name: Name, flags: number): Promise<FileHandle | undefined> {
  try {
    return await fs.open(pathIn(directory, name), pathOnly | O_NOFOLLOW | flags);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

function refuseDepth(depth: number): void {
  if (depth > deepest) throw Object.assign(new Error(`directories are nested more than ${deepest} deep`), { code: 'ELOOP' });
}

/** Removes a name of a directory with all that is in it, however deep. A mount below it is never entered: EBUSY. */
export async function removeName(directory: FileHandle, name: string): Promise<void> {
  const moved: Buffer[] = [];
  await removeIn(directory, Buffer.from(name), { depth: 0, top: undefined, moved });
}

interface Removal {
  readonly depth: number;
  /** The uppermost directory that is removed. */
  readonly top: FileHandle | undefined;
  /** Names that were moved there, from too deep below. */
  readonly moved: Buffer[];
}

async function removeIn(directory: FileHandle, name: Buffer, { depth, top, moved }: Removal): Promise<void> {
  const found = await openIn(directory, name, O_DIRECTORY);
  if (found === undefined) return ignoreMissing(fs.unlink(pathIn(directory, name)));
  try {
    if ((await mountOf(found)) !== (await mountOf(directory))) throw Object.assign(new Error(`remove ${name.toString()}: it is mounted`), { code: 'EBUSY' });
    if (top !== undefined && depth > deepest) return await moveTo(top, moved, pathIn(directory, name));
    for (const entry of await fs.readdir(pathOf(found), { withFileTypes: true, encoding: 'buffer' })) {
      if (entry.isDirectory()) await removeIn(found, entry.name, { depth: depth + 1, top: top ?? found, moved });
      else await ignoreMissing(fs.unlink(pathIn(found, entry.name)));
    }
    if (top === undefined) for (let next = moved.pop(); next !== undefined; next = moved.pop()) await removeIn(found, next, { depth: 1, top: found, moved });
  } finally {
    await found.close();
  }
  await ignoreMissing(fs.rmdir(pathIn(directory, name)));
}

async function moveTo(top: FileHandle, moved: Buffer[], file: Buffer): Promise<void> {
  const name = Buffer.from(`removed-${randomBytes(12).toString('hex')}`);
  await fs.rename(file, pathIn(top, name));
  moved.push(name);
}

export const openDirectory = (directory: string): Promise<FileHandle> => fs.open(directory, pathOnly | O_DIRECTORY);

/** A directory below another. @throws ELOOP if a link is on the way */
export async function openWithoutLinks(base: string, relative: string): Promise<FileHandle | undefined> {
  let handle = await openDirectory(base);
  for (const part of relative.split('/').filter((each) => each !== '')) {
    let next: FileHandle | undefined;
    try {
      next = await openIn(handle, part, 0);
    } finally {
      await handle.close();
    }
    if (next === undefined) return undefined;
    handle = next;
    if (!(await handle.stat()).isSymbolicLink()) continue;
    await handle.close();
    throw Object.assign(new Error(`unexpected symlink found ${part}`), { code: 'ELOOP' });
  }
  return handle;
}

/** The id of the mount that an open directory is in. */
async function mountOf({ fd }: FileHandle): Promise<string | undefined> {
  return /^mnt_id:\s*(\d+)$/m.exec(await fs.readFile(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
}

async function ignoreMissing(removal: Promise<void>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
