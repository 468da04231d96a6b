import { readdir, readFile, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { isHostPathFile } from '../../drivers/host-path/driver.ts';
import { realDirectories } from '../../host/directories.ts';
import { isOurs } from '../apiserver/kubeconfig-file.ts';
import { rootOwnerFile } from '../nodes/node-directory.ts';
import { lockFile } from './cluster-lock.ts';
import { readRecord, realPath, removeRecord } from './cluster-record.ts';
import { joinedNodes, mountsBelow, separateRootsIn, TearDownError } from './tear-down.ts';

/** What Mooring makes in a data directory. A directory that was there before may hold other files, which stay. */
const own = ['store', 'pki', 'images', 'content', 'moor.log', 'manifest.json', 'cluster.json', lockFile];

/**
 * Removes the data of a cluster of which nothing runs. The caller holds its lock.
 * @throws TearDownError if something is still mounted in it
 */
export async function removeData(dataDir: string): Promise<void> {
  const directory = realPath(dataDir);
  // Of a directory of volumes elsewhere (--root-dir) only what the node alone writes: plugins may be other programs'.
  const volumes = separateRootsIn(directory).flatMap((root) => ['pods', 'journal', rootOwnerFile].map((name) => path.join(root, name)));
  const { root, ending } = readRecord(directory)?.hostPathVolumes ?? { root: '', ending: '' };
  const hostPaths = (await namesOf(root)).filter((name) => isHostPathFile(name, ending)).map((name) => path.join(root, name));
  const [mount] = (await Promise.all([directory, ...volumes, ...hostPaths].map(mountsBelow))).flat();
  if (mount !== undefined) throw new TearDownError(`${mount} is still mounted: nothing was deleted`);
  removeRecord(directory);
  const names = await namesOf(directory);
  const copies = names.filter((name) => name.startsWith('before-repair-'));
  const kubeconfig = await readFile(path.join(directory, 'kubeconfig'), 'utf8').catch(() => '');
  const removed = [...own, ...copies, ...(isOurs(kubeconfig) ? ['kubeconfig'] : [])].map((name) => path.join(directory, name));
  const joined = joinedNodes(directory);
  const nodes = path.join(directory, 'nodes');
  const ownNodes = (await namesOf(nodes)).map((name) => path.join(nodes, name)).filter((node) => !joined.includes(node));
  for (const each of [...removed, ...ownNodes, ...volumes]) await rm(each, { recursive: true, force: true });
  // As the driver does: other users may put links into the directory that all clusters share.
  for (const each of hostPaths) await realDirectories.remove(each);
  // Another cluster may just put something into the directory that they share.
  for (const each of [nodes, directory, root]) if (each !== '' && (await namesOf(each)).length === 0) await rmdir(each).catch(() => undefined);
}

const namesOf = (directory: string): Promise<readonly string[]> => readdir(directory).catch(() => []);
