/** The lock of a data directory: held by the process that serves its cluster, whatever the store. The kernel releases it when the process ends, however that is. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { realDisk } from '../../host/disk.ts';
import type { DiskLock } from '../../world/disk.ts';

/** Its file in the data directory. */
export const lockFile = 'lock';

/** Another process may look at the lock for a moment. */
const [attempts, everyMs] = [10, 20];

/** Undefined: another process holds it. */
export async function lockCluster(dataDir: string): Promise<DiskLock | undefined> {
  for (let attempt = 1; ; attempt++) {
    const lock = await realDisk.lock(dataDir);
    if (lock !== undefined || attempt === attempts) return lock;
    await new Promise((resolve) => void setTimeout(resolve, everyMs));
  }
}

/** Whether a process serves, starts or removes the cluster. */
export async function isServed(dataDir: string): Promise<boolean> {
  // The lock would create its file, and so a directory that is being removed would stay.
  if (!existsSync(path.join(dataDir, lockFile))) return false;
  try {
    const lock = await realDisk.lock(dataDir);
    await lock?.release();
    return lock === undefined;
  } catch {
    return false; // there is no such directory, or none of this user
  }
}
