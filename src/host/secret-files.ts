import { mkdir, open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import type { SecretFiles } from '../world/secret-files.ts';

/** Small files that only their owner may read, replaced atomically: a crash leaves the old one or the new one. */
export function secretFiles(directory: string): SecretFiles {
  return {
    async read(name) {
      try {
        return await readFile(path.join(directory, name), 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    async write(name, text) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await writeSecret(path.join(directory, name), text);
    },
  };
}

export async function writeSecret(file: string, text: string): Promise<void> {
  const unfinished = `${file}.new`;
  const handle = await open(unfinished, 'w', 0o600);
  try {
    // An existing file keeps its mode when it is opened again.
    await handle.chmod(0o600);
    await handle.writeFile(text);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
}
