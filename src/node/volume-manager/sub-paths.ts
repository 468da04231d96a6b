import type { HostFiles, Mounts } from '../../world/mounts.ts';
import { podDirectory } from './pod-volume.ts';

interface Host {
  readonly mounts: Mounts;
  readonly files: HostFiles;
}

export interface SubPath {
  /** Of the node. */
  readonly root: string;
  readonly uid: string;
  /** The volume's name in the pod. */
  readonly volume: string;
  readonly container: string;
  /** Of the mount in its container. */
  readonly index: number;
  /** Where the volume is. */
  readonly hostPath: string;
  readonly subPath: string;
}

/**
 * Binds a sub-path of a volume to a mount point of its own, and resolves with that: the container gets what was there at this moment, whatever
 * a process that can write to the volume makes of the path later. A missing directory is made, with the permissions of the volume's root.
 */
export async function bindSubPath(host: Host, { root, uid, volume, container, index, hostPath, subPath }: SubPath): Promise<string> {
  const target = `${podDirectory(root, uid)}/volume-subpaths/${volume}/${container}/${index}`;
  const facts = await host.files.stat(hostPath, 'follow');
  const opened = await host.files.openBelow(hostPath, subPath, facts?.mode ?? 0o750);
  try {
    await unmountAll(host, (mounted) => mounted === target);
    if (opened.stat.type === 'directory') await host.files.makeDirectory(target, 0o750);
    else await makeFile(host.files, target);
    await host.mounts.mount({ type: 'bind', source: opened.path, target, recursive: false });
  } finally {
    await opened.close();
  }
  return target;
}

async function makeFile(files: HostFiles, target: string): Promise<void> {
  await files.makeDirectory(target.slice(0, target.lastIndexOf('/')), 0o750);
  if ((await files.stat(target))?.type !== 'file') await files.write(target, new Uint8Array(), 0o640);
}

/** Unmounts the sub-paths of a volume that were bound for a pod's containers. */
export async function unmountSubPaths(host: Host, { root, uid, volume }: Pick<SubPath, 'root' | 'uid' | 'volume'>): Promise<void> {
  const directory = `${podDirectory(root, uid)}/volume-subpaths/${volume}`;
  if ((await host.files.stat(directory)) === undefined) return;
  await unmountAll(host, (target) => target.startsWith(`${directory}/`));
  await host.files.removeTree(directory);
}

/** Deepest first: a mount that holds another cannot be unmounted. */
export async function unmountAll({ mounts }: Pick<Host, 'mounts'>, which: (target: string) => boolean): Promise<void> {
  const targets = (await mounts.table()).map(({ target }) => target).filter(which);
  for (const target of targets.sort((a, b) => b.length - a.length)) await mounts.unmount(target);
}
