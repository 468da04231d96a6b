import type { HostFiles, Mounts } from '../../world/mounts.ts';
import { podDirectory } from './pod-volume.ts';
import { unmountAll } from './sub-paths.ts';

interface Host {
  readonly mounts: Mounts;
  readonly files: HostFiles;
}

/** The pods that have a directory on the node. */
export async function podsOnDisk({ files }: Host, root: string): Promise<readonly string[]> {
  return (await files.stat(`${root}/pods`)) === undefined ? [] : files.list(`${root}/pods`);
}

const parts = ['volume-subpaths', 'volumes', 'volumeDevices'];

/**
 * Removes what is left of a pod whose volumes are all unpublished. Should anything be mounted below it all the same (the journal was lost), that
 * is unmounted first. Data behind a mount is never touched: nothing is removed as long as anything is mounted there.
 */
export async function cleanPodDirectory(host: Host, root: string, uid: string): Promise<void> {
  const directory = podDirectory(root, uid);
  await unmountAll(host, (target) => parts.some((part) => target.startsWith(`${directory}/${part}/`)));
  for (const part of parts) await host.files.removeTree(`${directory}/${part}`);
  await host.files.removeDirectory(directory).catch((error: { readonly code?: string }) => {
    // Others may have something of the pod there as well.
    if (error.code !== 'ENOENT' && error.code !== 'ENOTEMPTY') throw error;
  });
}
