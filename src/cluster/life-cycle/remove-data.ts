import { readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { removeRecord } from './cluster-record.ts';
import { leftoversIn, TearDownError } from './tear-down.ts';

/** What Mooring makes in a data directory. A directory that was there before may hold other files, which stay. */
const own = ['store', 'pki', 'nodes', 'images', 'volumes', 'kubeconfig', 'moor.log', 'manifest.json', 'cluster.json'];

/**
 * Removes the data of a cluster of which nothing runs.
 * @throws TearDownError if something is still mounted in it
 */
export async function removeData(dataDir: string): Promise<void> {
  const { mounts } = await leftoversIn(dataDir);
  if (mounts.length > 0) throw new TearDownError(`${mounts[0]} is still mounted: nothing was deleted`);
  removeRecord(dataDir);
  const copies = (await readdir(dataDir).catch(() => [])).filter((name) => name.startsWith('before-repair-'));
  for (const name of [...own, ...copies]) await rm(path.join(dataDir, name), { recursive: true, force: true });
  const others = await readdir(dataDir).catch(() => undefined);
  if (others?.length === 0) await rmdir(dataDir);
}
