import type { HostFiles, Mounts } from '../../world/mounts.ts';
import { podDirectory } from './pod-volume.ts';
import { unmountAll } from './sub-paths.ts';

interface Host {
  readonly mounts: Mounts;
  readonly files: HostFiles;
}

/** uids of the pods that have a directory on the node. */
export async function podsOnDisk({ files }: Host, root: string): Promise<readonly string[]> {
  return (await files.stat(`${root}/pods`)) === undefined ? [] : files.list(`${root}/pods`);
}

const parts = ['volume-subpaths', 'volumes', 'volumeDevices'];

/**
 * Removes the directories of a pod whose volumes are all unpublished. If something is still mounted below them (the journal was lost), it is
 * unmounted first. The data of a volume is never removed: a directory is removed only when nothing is mounted in it.
 */
export async function cleanPodDirectory(host: Host, root: string, uid: string): Promise<void> {
  const directory = podDirectory(root, uid);
  await unmountAll(host, (target) => parts.some((part) => target.startsWith(`${directory}/${part}/`)));
  for (const part of parts) await host.files.removeTree(`${directory}/${part}`);
  await host.files.removeDirectory(directory).catch((error: { readonly code?: string }) => {
    // Other components may have files of the pod there.
    if (error.code !== 'ENOENT' && error.code !== 'ENOTEMPTY') throw error;
  });
}
