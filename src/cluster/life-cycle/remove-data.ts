import { readdir, readFile, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { isOurs } from '../apiserver/kubeconfig-file.ts';
import { lockFile } from './cluster-lock.ts';
import { realPath, removeRecord } from './cluster-record.ts';
import { joinedNodes, mountsBelow, TearDownError } from './tear-down.ts';

/** What Mooring makes in a data directory. A directory that was there before may hold other files, which stay. */
const own = ['store', 'pki', 'images', 'moor.log', 'manifest.json', 'cluster.json', lockFile];

/**
 * Removes the data of a cluster of which nothing runs. The caller holds its lock.
 * @throws TearDownError if something is still mounted in it
 */
export async function removeData(dataDir: string): Promise<void> {
  const directory = realPath(dataDir);
  const [mount] = await mountsBelow(directory);
  if (mount !== undefined) throw new TearDownError(`${mount} is still mounted: nothing was deleted`);
  removeRecord(directory);
  const names = await readdir(directory).catch(() => []);
  const copies = names.filter((name) => name.startsWith('before-repair-'));
  const kubeconfig = await readFile(path.join(directory, 'kubeconfig'), 'utf8').catch(() => '');
  const removed = [...own, ...copies, ...(isOurs(kubeconfig) ? ['kubeconfig'] : [])].map((name) => path.join(directory, name));
  const joined = joinedNodes(directory);
  const nodes = path.join(directory, 'nodes');
  const ownNodes = (await readdir(nodes).catch(() => [])).map((name) => path.join(nodes, name)).filter((node) => !joined.includes(node));
  for (const each of [...removed, ...ownNodes]) await rm(each, { recursive: true, force: true });
  for (const each of [nodes, directory]) if ((await readdir(each).catch(() => undefined))?.length === 0) await rmdir(each);
}
