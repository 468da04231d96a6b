import { lstat, mkdir, readdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import type { Stats } from 'node:fs';
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
  async own(directory) {
    const parent = await realpath(path.dirname(directory)).catch(throwAsGo('lstat', path.dirname(directory)));
    for (let above = parent; ; above = path.dirname(above)) {
      const { uid, mode } = await lstat(above);
      if (!isTrusted(uid) || ((mode & writableByOthers) !== 0 && (mode & sticky) === 0))
        throw new Error(`${directory} is not used: other users may change ${above}`);
      if (above === '/') break;
    }
    await mkdir(directory, { mode: 0o750 }).catch((error: NodeJS.ErrnoException) =>
      error.code === 'EEXIST' ? undefined : throwAsGo('mkdir', directory)(error),
    );
    const problem = sharedBy(await lstat(directory));
    if (problem !== undefined) throw new Error(`${directory} is not used: ${problem}. Remove it, or give it to the user that runs the cluster, with mode 0750`);
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

const [writableByOthers, sticky] = [0o022, 0o1000];

/** Root, and the user of this process. */
const isTrusted = (uid: number): boolean => uid === 0 || uid === process.geteuid?.();

/** How other users can change what is in it; undefined: they cannot. */
function sharedBy(facts: Stats): string | undefined {
  if (!facts.isDirectory()) return 'it is not a directory';
  if (!isTrusted(facts.uid)) return `it belongs to user ${facts.uid}`;
  return (facts.mode & writableByOthers) === 0 ? undefined : 'other users may write to it';
}

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
