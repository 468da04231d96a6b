import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Directories } from '../drivers/directories.ts';
import { errorTexts } from './error-texts.ts';
import { openWithoutLinks, removeName } from './trees.ts';

/** Directories of this machine. Errors have the text of Go's os package, as in Kubernetes' events. */
export const realDirectories: Directories = {
  async make(directory) {
    // Readable by its owner and group only.
    await mkdir(directory, { recursive: true, mode: 0o750 }).catch(throwAsGo('mkdir', directory));
  },
  async remove(directory) {
    await removeWithoutLinks(directory).catch(throwAsGo('unlinkat', directory));
  },
  async list(directory) {
    try {
      return await readdir(directory);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      return throwAsGo('open', directory)(error);
    }
  },
  async readFile(file) {
    try {
      return await readFile(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      return throwAsGo('open', file)(error);
    }
  },
  async writeFile(file, text) {
    const next = `${file}.${process.pid}`;
    await mkdir(path.dirname(file), { recursive: true, mode: 0o750 }).catch(throwAsGo('mkdir', path.dirname(file)));
    await writeFile(next, text, { mode: 0o600 }).catch(throwAsGo('open', next));
    await rename(next, file).catch(throwAsGo('rename', file));
  },
};

/** Pods may have written to every directory on the way. */
async function removeWithoutLinks(directory: string): Promise<void> {
  const [first = '', ...between] = path.dirname(directory).split('/').slice(1);
  const parent = await openWithoutLinks(`/${first}`, between.join('/'));
  if (parent === undefined) return;
  try {
    await removeName(parent, path.basename(directory));
  } finally {
    await parent.close();
  }
}

const throwAsGo = (call: string, asked: string) => (error: unknown) => {
  const { code = '', path: found = asked, message } = error as NodeJS.ErrnoException;
  throw new Error(`${call} ${found}: ${code === 'EEXIST' ? errorTexts['ENOTDIR'] : (errorTexts[code] ?? message)}`, { cause: error });
};
