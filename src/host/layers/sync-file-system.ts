import { open } from 'node:fs/promises';
import koffi from 'koffi';
import { systemCall } from '../mounts.ts';

const syncfs = systemCall('syncfs', koffi.load(null).func('int syncfs(int fd)'));

/** Resolves once all that was written to the file system of a directory outlives a loss of power. */
export async function syncFileSystem(directory: string): Promise<void> {
  const opened = await open(directory);
  try {
    await syncfs(opened.fd);
  } finally {
    await opened.close();
  }
}
