import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { SecretFiles } from '../world/secret-files.ts';

/** A file that others than its owner can read or change is no secret: it is refused. */
export class ExposedSecret extends Error {}

/** Small files that only their owner may read, replaced atomically: a crash leaves the old one or the new one. */
export function secretFiles(directory: string): SecretFiles {
  return {
    read: (name) => readSecret(path.join(directory, name)),
    async write(name, text) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await writeSecret(path.join(directory, name), text);
    },
  };
}

/** undefined: there is no such file. @throws ExposedSecret */
async function readSecret(file: string): Promise<string | undefined> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  try {
    if (handle === undefined) return undefined;
    const { mode, uid } = await handle.stat();
    const own = process.getuid?.();
    if ((mode & 0o077) !== 0) {
      throw new ExposedSecret(
        `${file} can be used by others than its owner: expected mode 0600, found 0${(mode & 0o777).toString(8)}. Replace the key if it may have been read; else run "chmod 600 ${file}"`,
      );
    }
    if (own !== undefined && uid !== own && uid !== 0) throw new ExposedSecret(`${file} belongs to another user: expected uid ${own}, found ${uid}`);
    return await handle.readFile('utf8');
  } finally {
    await handle?.close();
  }
}

export async function writeSecret(file: string, text: string): Promise<void> {
  const unfinished = `${file}.new`;
  const handle = await open(unfinished, 'w', 0o600);
  try {
    // An existing file keeps its mode when it is opened again.
    await handle.chmod(0o600);
    await handle.writeFile(text);
    await handle.datasync();
  } catch (error) {
    // Half a file is of no use, least of all on a full disk.
    await rm(unfinished, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
  const directory = await open(path.dirname(file), 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
