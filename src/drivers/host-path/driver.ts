import type { PersistentVolumeSource } from '../../api/generated/types.ts';
import { type CreateVolumeRequest, type DriverAnswer, failed, type VolumeDriver } from '../contract.ts';
import type { Asset } from '../../domain/volumes/intent.ts';
import type { Directories } from './directories.ts';

const root = '/tmp/hostpath_pv';

export interface HostPathOptions {
  readonly directories: Directories;
  /** Hexadecimal. */
  readonly sha256: (text: string) => string;
  /** What tells this cluster from others on the same machine: they share the directory. */
  readonly cluster: string;
}

/**
 * Volumes that are directories of this machine: kubernetes.io/host-path.
 *
 * Kubernetes names each directory by a random UUID, so one that is made just before a crash is lost for ever. Here the name
 * follows from the volume's: asked again, the driver finds what it made. The UUID's last group follows from the cluster, so
 * that nobody takes another cluster's directory for an orphan.
 */
export function hostPathDriver({ directories, sha256, cluster }: HostPathOptions): VolumeDriver {
  const ending = sha256(cluster).slice(0, 12);
  const handleFor = (name: string) => `${root}/${uuidOf(sha256(name), ending)}`;
  return {
    facts: { name: 'kubernetes.io/host-path', provisions: true, deletes: true, mountOptions: false, block: false },
    handleFor,
    handleOf: ({ hostPath }: PersistentVolumeSource) => hostPath?.path,
    create: ({ name, capacity }: CreateVolumeRequest): Promise<DriverAnswer<Asset>> =>
      attempt(async () => {
        const handle = handleFor(name);
        await directories.make(handle);
        return { handle, capacity, source: { hostPath: { path: handle } }, annotations: { 'kubernetes.io/createdby': 'hostpath-dynamic-provisioner' } };
      }),
    delete: async (handle) => {
      if (!isBelowTmp(handle)) return failed('InvalidArgument', `host_path deleter only supports /tmp/.+ but received provided ${handle}`);
      return attempt(async () => {
        await directories.remove(handle);
        return undefined;
      });
    },
    list: () =>
      attempt(async () => {
        const names = await directories.list(root);
        return names.filter((name) => isUuid.test(name) && name.endsWith(`-${ending}`)).map((name) => `${root}/${name}`);
      }),
  };
}

/** A directory that cannot be made was not made. */
async function attempt<T>(task: () => Promise<T>): Promise<DriverAnswer<T>> {
  try {
    return { ok: true, value: await task() };
  } catch (error) {
    return failed('Internal', error instanceof Error ? error.message : String(error));
  }
}

const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/;

/** A UUID of version 8, whose digits mean what their maker wants. */
const uuidOf = (digits: string, ending: string): string =>
  `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(12, 15)}-8${digits.slice(15, 18)}-${ending}`;

/** Kubernetes takes '/tmp/' anywhere in the path for enough; data in /srv/tmp/… is not ours to delete. */
const isBelowTmp = (path: string): boolean => /^\/tmp\/+[^/]/.test(path) && !path.split('/').some((part) => part === '.' || part === '..');
