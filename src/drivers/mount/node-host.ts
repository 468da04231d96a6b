import type { HostFiles, MountEntry, Mounts, Usage } from '../../world/mounts.ts';
import { type DriverAnswer, type DriverFailure, failed } from '../contract.ts';

/** The machine on which a node's drivers do their work. */
export interface NodeHost {
  readonly mounts: Mounts;
  readonly files: HostFiles;
}

/** What is seen at a place; undefined: nothing is mounted there. */
export async function mountAt({ mounts }: NodeHost, target: string): Promise<MountEntry | undefined> {
  return (await mounts.table()).findLast((entry) => entry.target === target);
}

/** Mounts at a place that is made for it, unless that was done. Undefined: it is mounted. What failed has left nothing behind. */
export async function mountOnce(host: NodeHost, target: string, mount: () => Promise<DriverFailure | undefined>): Promise<DriverFailure | undefined> {
  if ((await mountAt(host, target)) !== undefined) return undefined;
  await host.files.makeDirectory(target, 0o750);
  const refused = await mount();
  // Whoever was given up on may have mounted it all the same.
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

/** Binds, unless that was done. A crash between binding and its options leaves too much permitted: the next call finds that. */
export async function ensureBound(host: NodeHost, { source, target, readOnly, options }: BindMount): Promise<void> {
  const { mounts, files } = host;
  const wanted = [...new Set([...(readOnly ? ['ro'] : []), ...options.filter((option) => bindOptions.has(option))])];
  const before = await mountAt(host, target);
  if (before === undefined) {
    const facts = await files.stat(source, 'follow');
    if (facts?.type === 'directory' || facts === undefined) await files.makeDirectory(target, 0o750);
    else await files.write(target, new Uint8Array(), 0o640);
    await mounts.mount({ type: 'bind', source, target, recursive: false });
  }
  const has = before === undefined ? [] : before.options;
  if (wanted.some((option) => !has.includes(option))) await mounts.mount({ type: 'options', target, options: wanted });
}

/** Those that a mount can have of its own, apart from its file system. */
const bindOptions = new Set(['ro', 'nosuid', 'nodev', 'noexec', 'noatime', 'nodiratime', 'relatime']);

/** As often as something is mounted there: a crash may have left two. */
export async function ensureUnmounted(host: NodeHost, target: string): Promise<void> {
  for (let left = maxLayers; left > 0; left--) {
    if ((await mountAt(host, target)) === undefined) return;
    await host.mounts.unmount(target);
  }
  throw new Error(`${target} is still mounted after ${maxLayers} times`);
}

const maxLayers = 8;

/** Takes away a place at which something was mounted. */
export async function removeMountPoint(host: NodeHost, target: string): Promise<void> {
  await ensureUnmounted(host, target);
  const facts = await host.files.stat(target);
  if (facts === undefined) return;
  // Never with what is in it: if anything is, it was not ours to put there.
  await (facts.type === 'directory' ? host.files.removeDirectory(target) : host.files.removeFile(target));
}

/** Of a volume that shares its file system with others: what can be had is the file system's, what is used its own. */
export function usageOfTree({ files }: NodeHost, path: string): Promise<DriverAnswer<Usage>> {
  return attempt(async () => {
    const { bytes, inodes: inodesUsed } = await files.treeSize(path);
    return { ok: true, value: { ...(await files.usage(path)), used: bytes, inodesUsed } };
  });
}

/** Takes away what was mounted for the whole node, and the directory around it, which was made for this volume; if anything else is in that, it stays. */
export async function removeStaging(host: NodeHost, stagingPath: string): Promise<void> {
  await removeMountPoint(host, stagingPath);
  await host.files.removeDirectory(stagingPath.slice(0, stagingPath.lastIndexOf('/'))).catch(() => undefined);
}

/** What a system call refused is an answer, in the words of that call. */
export async function attempt<T>(task: () => Promise<DriverAnswer<T>>): Promise<DriverAnswer<T>> {
  try {
    return await task();
  } catch (error) {
    return failed('Internal', error instanceof Error ? error.message : String(error));
  }
}
