import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Directories } from '../drivers/directories.ts';

/** Directories of this machine. What goes wrong is said as Kubernetes says it. */
export const realDirectories: Directories = {
  async make(directory) {
    // Its owner and group may look inside; nobody else.
    await mkdir(directory, { recursive: true, mode: 0o750 }).catch(saidAs('mkdir', directory));
  },
  async remove(directory) {
    await rm(directory, { recursive: true, force: true }).catch(saidAs('unlinkat', directory));
  },
  async list(directory) {
    try {
      return await readdir(directory);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      return saidAs('open', directory)(error);
    }
  },
  async readFile(file) {
    try {
      return await readFile(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      return saidAs('open', file)(error);
    }
  },
  async writeFile(file, text) {
    const next = `${file}.${process.pid}`;
    await mkdir(path.dirname(file), { recursive: true, mode: 0o750 }).catch(saidAs('mkdir', path.dirname(file)));
    await writeFile(next, text, { mode: 0o600 }).catch(saidAs('open', next));
    await rename(next, file).catch(saidAs('rename', file));
  },
};

const words: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  ENOSPC: 'no space left on device',
  EDQUOT: 'disk quota exceeded',
  EROFS: 'read-only file system',
  ENOTDIR: 'not a directory',
  EEXIST: 'not a directory',
  EBUSY: 'device or resource busy',
};

const saidAs = (call: string, asked: string) => (error: unknown) => {
  const { code = '', path: found = asked, message } = error as NodeJS.ErrnoException;
  throw new Error(`${call} ${found}: ${words[code] ?? message}`, { cause: error });
};
