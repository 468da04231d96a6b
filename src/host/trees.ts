/**
 * Trees of files that containers may change meanwhile. Every name is opened by the descriptor of its directory, and no link is followed: a directory that is replaced by
 * a link, between a look and a change, leads nowhere.
 */
import { constants, type Stats } from 'node:fs';
import fs, { type FileHandle } from 'node:fs/promises';
import type { TreeEntry } from '../world/mounts.ts';
import { factsOf } from './file-stat.ts';

/** So many directories on the way to a file stay open. Those further down are opened again from the one below: a tree of any depth needs no more. */
const mostOpen = 100;

const pathOnly = 0x20_0000;
const { O_DIRECTORY, O_NOFOLLOW } = constants;

const pathOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

/** Containers choose names: any bytes, in any encoding or none. */
type Name = string | Buffer;
const pathIn = (directory: FileHandle, name: Name): Buffer => Buffer.concat([Buffer.from(`${pathOf(directory)}/`), Buffer.from(name)]);

/** A file, and where it was found. */
interface Found {
  readonly handle: FileHandle;
  readonly stat: Stats;
  readonly parent: FileHandle;
  readonly name: Name;
}

interface Steps {
  /** The names in a directory that are to be looked at. */
  readonly list: (directory: Found) => Promise<Name[]>;
  /** A file; a directory after all that is in it. */
  readonly visit: (found: Found) => Promise<void>;
}

/** A directory on the way. */
interface Level {
  /** Undefined: closed meanwhile. */
  handle: FileHandle | undefined;
  readonly stat: Stats;
  readonly name: Name;
  /** Not looked at yet, the next one last. */
  readonly names: Name[];
}

/** Goes through the names of a directory and all that is below them. What disappears meanwhile is left out. */
async function descend(base: FileHandle, names: readonly Name[], { list, visit }: Steps): Promise<void> {
  const levels: Level[] = [{ handle: base, stat: await base.stat(), name: '', names: names.toReversed() }];
  try {
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const { handle: parent } = level;
      const name = level.names.pop();
      if (parent === undefined) await leave(levels);
      else if (name === undefined) await leave(levels, visit);
      else {
        const next = await look({ parent, name }, { list, visit });
        if (next === undefined) continue;
        if (levels.length > mostOpen) await close(level);
        levels.push(next);
      }
    }
  } finally {
    for (const level of levels.slice(1)) await close(level);
  }
}

/** A directory is returned open; anything else is visited. */
async function look({ parent, name }: Pick<Found, 'parent' | 'name'>, { list, visit }: Steps): Promise<Level | undefined> {
  const handle = await openIn(parent, name);
  if (handle === undefined) return undefined;
  let isEntered = false;
  try {
    const found = { handle, stat: await handle.stat(), parent, name };
    if (!found.stat.isDirectory()) {
      await visit(found);
      return undefined;
    }
    const names = await list(found);
    isEntered = true;
    return { handle, stat: found.stat, name, names: names.reverse() };
  } finally {
    if (!isEntered) await handle.close();
  }
}

/** Goes back to the directory above. One that was moved out of it meanwhile is left out: what is above it then is another directory. */
async function leave(levels: Level[], visit?: Steps['visit']): Promise<void> {
  const level = levels.pop();
  const above = levels.at(-1);
  if (level === undefined || above === undefined) return;
  try {
    if (level.handle === undefined || visit === undefined) return;
    above.handle ??= await openAbove(level.handle, above.stat);
    if (above.handle !== undefined) await visit({ handle: level.handle, stat: level.stat, parent: above.handle, name: level.name });
  } finally {
    await close(level);
  }
}

async function close(level: Level): Promise<void> {
  const { handle } = level;
  level.handle = undefined;
  await handle?.close();
}

async function openAbove(directory: FileHandle, expected: Stats): Promise<FileHandle | undefined> {
  const above = await openIn(directory, '..');
  const stat = await above?.stat();
  if (stat?.dev === expected.dev && stat.ino === expected.ino) return above;
  await above?.close();
  return undefined;
}

/** Calls with every file; with a directory after all that is in it. Files that disappear meanwhile are left out. */
export async function walkTree(directory: string, visit: (entry: TreeEntry) => Promise<void>): Promise<void> {
  const root = await fs.open(directory, pathOnly | O_NOFOLLOW);
  const list = async (handle: FileHandle) => (await fs.readdir(pathOf(handle), { encoding: 'buffer' })).sort((a, b) => a.compare(b));
  const enter = ({ handle, stat }: Pick<Found, 'handle' | 'stat'>) => {
    const facts = factsOf(stat);
    return visit({ stat: facts, setGroup: (gid) => fs.chown(pathOf(handle), facts.uid, gid), setMode: (mode) => fs.chmod(pathOf(handle), mode) });
  };
  try {
    const stat = await root.stat();
    if (stat.isDirectory()) await descend(root, await list(root), { list: ({ handle }) => list(handle), visit: enter });
    await enter({ handle: root, stat });
  } finally {
    await root.close();
  }
}

/** Undefined: there is no such name any more. */
async function openIn(directory: FileHandle, name: Name): Promise<FileHandle | undefined> {
  try {
    return await fs.open(pathIn(directory, name), pathOnly | O_NOFOLLOW);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** Removes a name of a directory with all that is in it. A mount below it is never entered: EBUSY. */
export async function removeName(directory: FileHandle, name: string): Promise<void> {
  const mount = await mountOf(directory);
  await descend(directory, [name], {
    list: async (found) => {
      if ((await mountOf(found.handle)) !== mount) throw Object.assign(new Error(`remove ${found.name.toString()}: it is mounted`), { code: 'EBUSY' });
      const entries = await fs.readdir(pathOf(found.handle), { withFileTypes: true, encoding: 'buffer' });
      for (const entry of entries) if (!entry.isDirectory()) await ignoreMissing(fs.unlink(pathIn(found.handle, entry.name)));
      return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
    },
    visit: ({ stat, parent, name: removed }) => {
      const path = pathIn(parent, removed);
      return ignoreMissing(stat.isDirectory() ? fs.rmdir(path) : fs.unlink(path));
    },
  });
}

export const openDirectory = (directory: string): Promise<FileHandle> => fs.open(directory, pathOnly | O_DIRECTORY);

/** A directory below another. @throws ELOOP if a link is on the way */
export async function openWithoutLinks(base: string, relative: string): Promise<FileHandle | undefined> {
  let handle = await openDirectory(base);
  for (const part of relative.split('/').filter((each) => each !== '')) {
    let next: FileHandle | undefined;
    try {
      next = await openIn(handle, part);
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
