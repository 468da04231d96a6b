import { readdir, readFile, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { isHostPathFile } from '../../drivers/host-path/driver.ts';
import { realDirectories } from '../../host/directories.ts';
import { isOfOneCluster } from '../../client/kubeconfig.ts';
import { removeKubeconfig } from '../apiserver/kubeconfig-file.ts';
import { rootOwnerFile } from '../nodes/node-directory.ts';
import { lockFile } from './cluster-lock.ts';
import { type ClusterRecord, readRecord, realPath, removeRecord, saveRecord } from './cluster-record.ts';
import { joinedNodes, mountsBelow, separateRootsIn, TearDownError } from './tear-down.ts';

/** What Mooring makes in a data directory, besides its record and its lock. A directory that was there before may hold other files, which stay. */
const own = ['store', 'pki', 'images', 'content', 'cloud', 'moor.log', 'manifest.json'];
/** Files that were being written when a process was killed or the disk became full. */
const unfinished = /^(kubeconfig|manifest\.json)\.new$|^cluster\.json\.\d+$/;

/**
 * Removes the data of a cluster of which nothing runs. The caller holds its lock. Killed on the way, the next `moor` finishes it: the record says so from the
 * beginning, and goes last.
 * @throws TearDownError if something is still mounted in it
 */
export async function removeData(dataDir: string): Promise<void> {
  const directory = realPath(dataDir);
  // Of a directory of volumes elsewhere (--root-dir) only what the node alone writes: plugins may be other programs'.
  const volumes = separateRootsIn(directory).flatMap((root) => ['pods', 'journal', rootOwnerFile].map((name) => path.join(root, name)));
  const record = readRecord(directory);
  const { root, ending } = record?.hostPathVolumes ?? { root: '', ending: '' };
  const hostPaths = (await namesOf(root)).filter((name) => isHostPathFile(name, ending)).map((name) => path.join(root, name));
  const [mount] = (await Promise.all([directory, ...volumes, ...hostPaths].map(mountsBelow))).flat();
  if (mount !== undefined) throw new TearDownError(`${mount} is still mounted: nothing was deleted`);
  if (record !== undefined) markForRemoval(record);
  if (record !== undefined) await removeKubeconfigElsewhere(record);
  const names = await namesOf(directory);
  const copies = names.filter((name) => name.startsWith('before-repair-') || unfinished.test(name));
  const kubeconfig = await readFile(path.join(directory, 'kubeconfig'), 'utf8').catch(() => '');
  const removed = [...own, ...copies, ...(isOfOneCluster(kubeconfig) ? ['kubeconfig'] : [])].map((name) => path.join(directory, name));
  const joined = joinedNodes(directory);
  const nodes = path.join(directory, 'nodes');
  const ownNodes = (await namesOf(nodes)).map((name) => path.join(nodes, name)).filter((node) => !joined.includes(node));
  for (const each of [...removed, ...ownNodes, ...volumes]) await removeTree(each);
  // As the driver does: other users may put links into the directory that all clusters share.
  for (const each of hostPaths) await realDirectories.remove(each);
  removeRecord(directory);
  await removeTree(path.join(directory, lockFile));
  // Another cluster may just put something into the directory that they share.
  for (const each of [nodes, directory, root]) if (each !== '' && (await namesOf(each)).length === 0) await rmdir(each).catch(() => undefined);
}

/** The file of --kubeconfig. One that can no longer be read or written is its owner's to change. */
async function removeKubeconfigElsewhere({ dataDir, kubeconfig }: ClusterRecord): Promise<void> {
  if (kubeconfig === path.join(dataDir, 'kubeconfig')) return;
  const authority = await readFile(path.join(dataDir, 'pki', 'ca.crt'), 'utf8').catch(() => undefined);
  if (authority !== undefined) await removeKubeconfig(kubeconfig, authority).catch(() => undefined);
}

function markForRemoval(record: ClusterRecord): void {
  try {
    saveRecord({ ...record, ephemeral: true });
  } catch {
    // A full disk has no room for the mark, and is about to have room.
  }
}

/** Others may write into it for a moment, as the log of a process that ends. @throws TearDownError */
const removeTree = (tree: string): Promise<void> =>
  rm(tree, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }).catch((error: Error) => {
    throw new TearDownError(`${tree} cannot be removed: ${error.message}; run the command again`, { cause: error });
  });

const namesOf = (directory: string): Promise<readonly string[]> => readdir(directory).catch(() => []);
