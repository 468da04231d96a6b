import { mkdir, realpath } from 'node:fs/promises';

/** Creates a directory that only root can list, since it holds Secrets. Resolves with its path without links. */
export async function nodeDirectory(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o711 });
  return realpath(directory);
}
