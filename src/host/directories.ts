import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Directories } from '../drivers/directories.ts';
import { realDisk } from './disk.ts';
import { errorTexts } from './error-texts.ts';
import { openWithoutLinks, removeName } from './trees.ts';

/** Directories of this machine. Errors have the text of Go's os package, as in Kubernetes' events. Written files outlive a power loss. */
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
    const directory = path.dirname(file);
    // Synced before it gets its name: a power loss must not leave the name without the text.
    await replace(file, text, { flush: true });
    await realDisk.syncDirectory(directory).catch(throwAsGo('fsync', directory));
  },
};

/** The same for files that need not outlive a power loss, such as records of volumes without data: a sync costs more than all else of such a volume. */
export const unsyncedDirectories: Directories = { ...realDirectories, writeFile: (file, text) => replace(file, text, { flush: false }) };

async function replace(file: string, text: string, { flush }: { readonly flush: boolean }): Promise<void> {
  const next = `${file}.${process.pid}`;
  await mkdir(path.dirname(file), { recursive: true, mode: 0o750 }).catch(throwAsGo('mkdir', path.dirname(file)));
  await writeFile(next, text, { mode: 0o600, flush }).catch(throwAsGo('open', next));
  await rename(next, file).catch(throwAsGo('rename', file));
}

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
