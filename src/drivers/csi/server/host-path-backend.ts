import type { VolumeCapability } from '../../../grpc/generated/csi.ts';
import { bindOptions, ensureBound, type NodeHost, removeMountPoint, usageOfTree } from '../../mount/node-host.ts';
import type { Copies, VolumeBackend } from './backend.ts';

export interface HostPathBackendOptions extends NodeHost {
  readonly driverName: string;
  readonly copies: Copies;
  /** The directory of the volumes. */
  readonly root: string;
}

/** Volumes and snapshots are directories: sizes are recorded, and not enforced. */
export function hostPathBackend(host: HostPathBackendOptions): VolumeBackend {
  const { files, copies, root } = host;
  const pathOf = (id: string): string => `${root}/${id}`;
  const remove = async (id: string): Promise<void> => {
    // A copy that was interrupted.
    await files.removeTree(`${pathOf(id)}.new`);
    await files.removeTree(pathOf(id));
  };
  return {
    driverName: host.driverName,
    block: false,
    isRecordOnly: false,
    attaches: false,
    stages: false,
    expandsOnNode: false,
    expandsOnline: true,
    granularity: 1,
    mostBytes: Number.MAX_SAFE_INTEGER,
    refusal: ({ accessType }) => refusal(accessType),
    create: async ({ id }, copyOf) => {
      if (copyOf !== undefined) return copies.copy(copyOf, pathOf(id));
      await files.makeDirectory(pathOf(id), 0o777);
    },
    remove,
    grow: () => Promise.resolve(),
    volumePath: pathOf,
    snapshotPath: pathOf,
    snapshot: (volumeId, snapshotId) => copies.copy(pathOf(volumeId), pathOf(snapshotId)),
    removeSnapshot: remove,
    availableBytes: async () => (await files.usage(root)).available,
    node: {
      stage: () => Promise.resolve(),
      unstage: () => Promise.resolve(),
      publish: ({ id }, { target, readOnly, mountFlags }) => ensureBound(host, { source: pathOf(id), target, readOnly, options: mountFlags }),
      unpublish: (_, target) => removeMountPoint(host, target),
      expand: () => Promise.resolve(),
      usage: async (_, path) => {
        const usage = await usageOfTree(host, path);
        if (!usage.ok) throw new Error(usage.message);
        return usage.value;
      },
    },
  };
}

function refusal(accessType: VolumeCapability['accessType']): string | undefined {
  if (accessType.case === 'block') return 'block: a directory is no block device';
  if (accessType.case !== 'mount') return undefined;
  const { fsType, mountFlags } = accessType.value;
  if (fsType !== '') return `fs_type ${JSON.stringify(fsType)}: a directory has the file system of its machine`;
  const unknown = mountFlags.find((flag) => !bindOptions.has(flag));
  return unknown === undefined ? undefined : `mount_flags ${JSON.stringify(unknown)}: a bind mount has only ${[...bindOptions].join(', ')}`;
}
