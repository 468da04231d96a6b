import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { shareMount, unshareMount } from '../../host/shared-mount.ts';
import { NodeSettingsError } from './node-settings.ts';

/** Creates a directory that only root can list, since it holds Secrets. Resolves with its path without links. */
export async function nodeDirectory(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o711 });
  return realpath(directory);
}

/** A file in the node's directory: where its volumes are, if not there. */
const rootFile = 'root-dir';

/** A file in the node's directory: the directory of volumes, if the node has mounted it onto itself. */
const sharedFile = 'shared-root';

/** A file in the directory of volumes: whose it is. */
export const rootOwnerFile = '.mooring-node';

/**
 * The directory of volumes and plugins (--root-dir) of a node whose other files are in `directory`: recorded there, so that its mounts are found.
 * @throws NodeSettingsError if it has pods of a kubelet or of another node: they would be unmounted and deleted as those of this node
 */
export async function separateRoot(directory: string, rootDir: string): Promise<string> {
  const root = await nodeDirectory(rootDir);
  const ownerFile = path.join(root, rootOwnerFile);
  const owner = existsSync(ownerFile) ? readFileSync(ownerFile, 'utf8').trim() : undefined;
  if (owner !== undefined && owner !== directory && existsSync(owner))
    throw new NodeSettingsError(`--root-dir ${root} has the volumes of the node in ${owner}: choose another directory`);
  if (owner === undefined && (await readdir(path.join(root, 'pods')).catch(() => [])).length > 0)
    throw new NodeSettingsError(`--root-dir ${root} has pods of another kubelet: choose another directory, such as /var/lib/mooring/kubelet`);
  await writeFile(ownerFile, `${directory}\n`, { mode: 0o600 });
  await writeFile(path.join(directory, rootFile), `${root}\n`, { mode: 0o600 });
  const record = path.join(directory, sharedFile);
  const isRecorded = existsSync(record);
  // The record comes first: a mount without one would never be removed.
  await writeFile(record, `${root}\n`, { mode: 0o600 });
  const isMade = await shareMount(root);
  if (!isMade && !isRecorded) await rm(record);
  return root;
}

/** Removes the mount by which the node shares its directory of volumes, unless pods use it. */
export async function releaseRoot(directory: string): Promise<void> {
  const record = path.join(directory, sharedFile);
  if (existsSync(record) && (await unshareMount(readFileSync(record, 'utf8').trim()))) await rm(record, { force: true });
}

/** Undefined: the node's volumes are in its directory. */
export function separateRootOf(directory: string): string | undefined {
  const file = path.join(directory, rootFile);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}
