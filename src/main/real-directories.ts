import { mkdir, readdir, rm } from 'node:fs/promises';
import type { Directories } from '../drivers/host-path/directories.ts';

/** Directories of this machine. What goes wrong is said as Kubernetes says it. */
export const realDirectories: Directories = {
  async make(path) {
    // Its owner and group may look inside; nobody else.
    await mkdir(path, { recursive: true, mode: 0o750 }).catch(saidAs('mkdir', path));
  },
  async remove(path) {
    await rm(path, { recursive: true, force: true }).catch(saidAs('unlinkat', path));
  },
  async list(path) {
    try {
      return await readdir(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      return saidAs('open', path)(error);
    }
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
  const { code = '', path = asked, message } = error as NodeJS.ErrnoException;
  throw new Error(`${call} ${path}: ${words[code] ?? message}`, { cause: error });
};
