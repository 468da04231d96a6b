import type { PersistentVolumeSource } from '../../api/generated/types.ts';
import { compareQuantities, formatQuantity } from '../../api/quantity.ts';
import { readQuantity } from '../../api/volumes/capacity.ts';
import { attempt, type DriverAnswer, failed, type Leader, succeeded, type VolumeDriver } from '../contract.ts';
import type { Directories } from '../directories.ts';
import { LeaderFence } from '../leader-fence.ts';

/** The directory of Kubernetes' hostPath provisioner. */
export const usualRoot = '/tmp/hostpath_pv';

export interface HostPathOptions {
  readonly directories: Directories;
  /** Hexadecimal. */
  readonly sha256: (text: string) => string;
  /** Identifies this cluster: all clusters of a machine share the directory. */
  readonly cluster: string;
  /** Below /tmp; `usualRoot` by default. */
  readonly root?: string;
}

/**
 * kubernetes.io/host-path: volumes are directories of this machine.
 *
 * Kubernetes names each directory by a random UUID, so a crash right after its creation leaks it. Here the UUID is derived from the
 * volume's name: a repeated call finds the directory. Its last group is derived from the cluster, so that the audit never takes another
 * cluster's directory for an orphan.
 */
export function hostPathDriver({ directories, sha256, cluster, root = usualRoot }: HostPathOptions): VolumeDriver {
  const ending = hostPathEnding(sha256, cluster);
  const handleFor = (name: string) => `${root}/${uuidOf(sha256(name), ending)}`;
  const isOurs = (handle: string) => isOneOf(root, handle);
  const fence = new LeaderFence(directories, `${root}/.leaders-${ending}`);
  /** Runs the task unless the leader was deposed. */
  const fenced = <T>(leader: Leader, task: () => Promise<T>): Promise<DriverAnswer<T>> =>
    attempt(async () => {
      // In /tmp every user can make it first, or a link to elsewhere.
      await directories.own(root);
      return (await fence.check(leader)) ?? succeeded(await task());
    });
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
      fenced(leader, async () => {
        const handle = handleFor(name);
        await directories.make(handle);
        return { handle, capacity, source: { hostPath: { path: handle } }, annotations: { 'kubernetes.io/createdby': 'hostpath-dynamic-provisioner' } };
      }),
    deleteVolume: async (handle, leader) => {
      if (!isBelowTmp(handle)) return failed('InvalidArgument', `host_path deleter only supports /tmp/.+ but received provided ${handle}`);
      return fenced(leader, async () => {
        await directories.remove(handle);
        if (isOurs(handle)) await directories.remove(sizeFile(handle));
        return undefined;
      });
    },
    listVolumes: () =>
      attempt(async () => {
        const names = await directories.list(root);
        return succeeded(names.filter((name) => isUuid.test(name) && name.endsWith(`-${ending}`)).map((name) => `${root}/${name}`));
      }),
    // A directory has no size. It is stored in a file, so that a repeated call with less does not shrink the volume.
    controllerExpandVolume: ({ handle, capacity }, leader) =>
      fenced(leader, async () => {
        const known = isOurs(handle) ? readQuantity((await directories.readFile(sizeFile(handle))) ?? '') : undefined;
        if (known !== undefined && compareQuantities(known, capacity) >= 0) return { capacity: formatQuantity(known), nodeExpansionRequired: false };
        if (isOurs(handle)) await directories.writeFile(sizeFile(handle), capacity);
        return { capacity, nodeExpansionRequired: false };
      }),
  };
}

/** With which the names of a cluster's directories end. */
export const hostPathEnding = (sha256: HostPathOptions['sha256'], cluster: string): string => sha256(cluster).slice(0, 12);

/** Whether a file in the root is one that this driver made for the cluster with the ending: a volume, its size, or the leaders. */
export const isHostPathFile = (name: string, ending: string): boolean =>
  name === `.leaders-${ending}` || (name.replace(/\.size$/, '').endsWith(`-${ending}`) && isUuid.test(name.replace(/\.size$/, '')));

/** Whether the path is one that this driver creates. */
const isOneOf = (root: string, handle: string): boolean => handle.startsWith(`${root}/`) && isUuid.test(handle.slice(root.length + 1));

/** Beside the directory: its content belongs to the pods. */
const sizeFile = (handle: string): string => `${handle}.size`;

const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/;

/** A UUID of version 8 (RFC 9562: custom). */
const uuidOf = (digits: string, ending: string): string =>
  `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(12, 15)}-8${digits.slice(15, 18)}-${ending}`;

/** Kubernetes accepts '/tmp/' anywhere in the path. Here /srv/tmp/… is refused. */
const isBelowTmp = (path: string): boolean => /^\/tmp\/+[^/]/.test(path) && !path.split('/').some((part) => part === '.' || part === '..');
