import { readFile } from 'node:fs/promises';
import koffi from 'koffi';
import { isSharedMount, parseMountInfo } from './mount-info.ts';
import { readMounts, realMounts, systemCall } from './mounts.ts';

const shared = 0x10_0000;

/**
 * Makes a directory a shared mount: what a container with mount propagation Bidirectional mounts in it appears on the machine, and the other way round. systemd
 * shares every mount; on other machines, and in containers, the directory is mounted onto itself. Resolves with whether it was.
 */
export async function shareMount(directory: string): Promise<boolean> {
  const isAround = (target: string): boolean => target === directory || target === '/' || directory.startsWith(`${target}/`);
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  // Of several mounts on one target, the last is visible.
  const around = lines
    .flatMap((line) => parseMountInfo(line).map(({ target }) => ({ target, isShared: isSharedMount(line) })))
    .filter(({ target }) => isAround(target))
    .reduce((best, each) => (each.target.length >= best.target.length ? each : best), { target: '', isShared: false });
  if (around.isShared) return false;
  const mount = systemCall(
    'mount',
    koffi.load(null).func('int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)'),
  );
  const isOwn = around.target !== directory;
  // Mounts in it would be hidden.
  if (isOwn && (await readMounts()).some(({ target }) => target.startsWith(`${directory}/`))) return false;
  if (isOwn) await realMounts().mount({ type: 'bind', source: directory, target: directory, recursive: false });
  await mount('none', directory, null, shared, null);
  return isOwn;
}

/** Undoes it, if nothing is mounted in the directory. Processes that have files open there keep them. Resolves with whether it is undone. */
export async function unshareMount(directory: string): Promise<boolean> {
  const mounts = await readMounts();
  if (mounts.some(({ target }) => target.startsWith(`${directory}/`))) return false;
  // A mount of a whole file system is the administrator's.
  const own = mounts.findLast(({ target }) => target === directory);
  if (own !== undefined && own.root !== '/') await realMounts().unmount(directory, 'lazy');
  return true;
}
