import type { HostFiles, MountEntry, Mounts, Usage } from '../../world/mounts.ts';
import { attempt, type DriverAnswer, type DriverFailure, succeeded } from '../contract.ts';

/** The machine of the node drivers. */
export interface NodeHost {
  readonly mounts: Mounts;
  readonly files: HostFiles;
}

/** The visible mount on the target. */
export async function mountAt({ mounts }: NodeHost, target: string): Promise<MountEntry | undefined> {
  return (await mounts.table()).findLast((entry) => entry.target === target);
}

/** Creates the target and mounts, unless it is mounted. Undefined: it is mounted. A failure leaves nothing behind. */
export async function mountOnce(host: NodeHost, target: string, mount: () => Promise<DriverFailure | undefined>): Promise<DriverFailure | undefined> {
  if ((await mountAt(host, target)) !== undefined) return undefined;
  await host.files.makeDirectory(target, 0o750);
  const refused = await mount();
  // A mount helper that timed out may have mounted it.
  if (refused !== undefined) await removeMountPoint(host, target).catch(() => undefined);
  return refused;
}

export interface BindMount {
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
  /** Of mount -o. */
  readonly options: readonly string[];
}

/** Bind-mounts, unless it is mounted. After a crash between the bind and the remount, the options are missing: the next call adds them. */
export async function ensureBound(host: NodeHost, { source, target, readOnly, options }: BindMount): Promise<void> {
  const { mounts, files } = host;
  const wanted = [...new Set([...(readOnly ? ['ro'] : []), ...options.filter((option) => bindOptions.has(option))])];
  const before = await mountAt(host, target);
  if (before === undefined) {
    const stat = await files.stat(source, 'follow');
    if (stat?.type === 'directory' || stat === undefined) await files.makeDirectory(target, 0o750);
    else await files.write(target, new Uint8Array(), 0o640);
    await mounts.mount({ type: 'bind', source, target, recursive: false });
  }
  const has = before === undefined ? [] : before.options;
  if (wanted.some((option) => !has.includes(option))) await mounts.mount({ type: 'options', target, options: wanted });
}

/** Per-mount options; all others belong to the file system. */
export const bindOptions: ReadonlySet<string> = new Set(['ro', 'nosuid', 'nodev', 'noexec', 'noatime', 'nodiratime', 'relatime']);

/** Unmounts all layers: a crash may have left two. */
export async function ensureUnmounted(host: NodeHost, target: string): Promise<void> {
  for (let left = maxLayers; left > 0; left--) {
    if ((await mountAt(host, target)) === undefined) return;
    await host.mounts.unmount(target);
  }
  throw new Error(`${target} is still mounted after ${maxLayers} times`);
}

const maxLayers = 8;

/** Unmounts the target, and removes it. */
export async function removeMountPoint(host: NodeHost, target: string): Promise<void> {
  await ensureUnmounted(host, target);
  const stat = await host.files.stat(target);
  if (stat === undefined) return;
  // Not recursive: content of an unmounted directory is foreign data.
  await (stat.type === 'directory' ? host.files.removeDirectory(target) : host.files.removeFile(target));
}

/** For a volume that shares its file system: capacity of the file system, usage of the directory. */
export function usageOfTree({ files }: NodeHost, path: string): Promise<DriverAnswer<Usage>> {
  return attempt(async () => {
    const { bytes, inodes: inodesUsed } = await files.treeSize(path);
    return succeeded({ ...(await files.usage(path)), used: bytes, inodesUsed });
  });
}

/** Removes the staging mount, and its parent directory if that is empty. */
export async function removeStaging(host: NodeHost, stagingPath: string): Promise<void> {
  await removeMountPoint(host, stagingPath);
  await host.files.removeDirectory(directoryOf(stagingPath)).catch(() => undefined);
}

export const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));
