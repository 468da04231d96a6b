import type { PersistentVolumeSource } from '../../api/generated/types.ts';
import { compareQuantities, formatQuantity } from '../../api/quantity.ts';
import { readQuantity } from '../../api/volumes/capacity.ts';
import { type DriverAnswer, failed, type Leader, type VolumeDriver } from '../contract.ts';
import type { Directories } from '../directories.ts';
import { LeaderFence } from '../leader-fence.ts';

/** Where Kubernetes has them. */
export const usualRoot = '/tmp/hostpath_pv';

export interface HostPathOptions {
  readonly directories: Directories;
  /** Hexadecimal. */
  readonly sha256: (text: string) => string;
  /** What tells this cluster from others on the same machine: they share the directory. */
  readonly cluster: string;
  /** Below /tmp, where directories are made. The usual one unless said. */
  readonly root?: string;
}

/**
 * Volumes that are directories of this machine: kubernetes.io/host-path.
 *
 * Kubernetes names each directory by a random UUID, so one that is made just before a crash is lost for ever. Here the name
 * follows from the volume's: asked again, the driver finds what it made. The UUID's last group follows from the cluster, so
 * that nobody takes another cluster's directory for an orphan.
 */
export function hostPathDriver({ directories, sha256, cluster, root = usualRoot }: HostPathOptions): VolumeDriver {
  const ending = sha256(cluster).slice(0, 12);
  const handleFor = (name: string) => `${root}/${uuidOf(sha256(name), ending)}`;
  const isOurs = (handle: string) => isOneOf(root, handle);
  const leaders = new LeaderFence(directories, `${root}/.leaders-${ending}`);
  /** What is done for a leader is done only while it leads. */
  const led = <T>(leader: Leader, task: () => Promise<T>): Promise<DriverAnswer<T>> =>
    attempt(async () => (await leaders.check(leader)) ?? { ok: true, value: await task() });
  return {
    capabilities: {
      name: 'kubernetes.io/host-path',
      provisions: true,
      deletes: true,
      mountOptions: false,
      block: false,
      expands: 'opt-in',
      attaches: false,
    },
    handleFor,
    handleOf: ({ hostPath }: PersistentVolumeSource) => hostPath?.path,
    createVolume: ({ name, capacity }, leader) =>
      led(leader, async () => {
        const handle = handleFor(name);
        await directories.make(handle);
        return { handle, capacity, source: { hostPath: { path: handle } }, annotations: { 'kubernetes.io/createdby': 'hostpath-dynamic-provisioner' } };
      }),
    deleteVolume: async (handle, leader) => {
      if (!isBelowTmp(handle)) return failed('InvalidArgument', `host_path deleter only supports /tmp/.+ but received provided ${handle}`);
      return led(leader, async () => {
        await directories.remove(handle);
        if (isOurs(handle)) await directories.remove(sizeFile(handle));
        return undefined;
      });
    },
    listVolumes: () =>
      attempt(async () => {
        const names = await directories.list(root);
        return { ok: true, value: names.filter((name) => isUuid.test(name) && name.endsWith(`-${ending}`)).map((name) => `${root}/${name}`) };
      }),
    // A directory has no size: what it was grown to is written down, so that asking again for less leaves it as it is.
    controllerExpandVolume: ({ handle, capacity }, leader) =>
      led(leader, async () => {
        const known = isOurs(handle) ? readQuantity((await directories.readFile(sizeFile(handle))) ?? '') : undefined;
        if (known !== undefined && compareQuantities(known, capacity) >= 0) return { capacity: formatQuantity(known), nodeExpansionRequired: false };
        if (isOurs(handle)) await directories.writeFile(sizeFile(handle), capacity);
        return { capacity, nodeExpansionRequired: false };
      }),
  };
}

/** A directory that cannot be made was not made. */
async function attempt<T>(task: () => Promise<DriverAnswer<T>>): Promise<DriverAnswer<T>> {
  try {
    return await task();
  } catch (error) {
    return failed('Internal', error instanceof Error ? error.message : String(error));
  }
}

/** Below the root, and not the place of anybody's own directory. */
const isOneOf = (root: string, handle: string): boolean => handle.startsWith(`${root}/`) && isUuid.test(handle.slice(root.length + 1));

/** Beside the directory: what is in it belongs to its user. */
const sizeFile = (handle: string): string => `${handle}.size`;

const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/;

/** A UUID of version 8, whose digits mean what their maker wants. */
const uuidOf = (digits: string, ending: string): string =>
  `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(12, 15)}-8${digits.slice(15, 18)}-${ending}`;

/** Kubernetes takes '/tmp/' anywhere in the path for enough; data in /srv/tmp/… is not ours to delete. */
const isBelowTmp = (path: string): boolean => /^\/tmp\/+[^/]/.test(path) && !path.split('/').some((part) => part === '.' || part === '..');
