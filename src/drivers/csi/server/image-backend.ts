import type { VolumeCapability } from '../../../grpc/generated/csi.ts';
import { RpcError } from '../../../grpc/status.ts';
import type { ImageDevices, Images } from '../../image/images.ts';
import { ensureBound, mountAt, type NodeHost, removeMountPoint } from '../../mount/node-host.ts';
import type { Copies, NodeBackend, VolumeBackend } from './backend.ts';

export interface ImageBackendOptions extends NodeHost {
  readonly driverName: string;
  readonly images: Images;
  readonly devices: ImageDevices;
  readonly copies: Copies;
  /** The process may resize a mounted file system. */
  readonly expandsOnline: boolean;
  /** The directory of the images. */
  readonly root: string;
}

/** Volumes and snapshots are image files. */
export function imageBackend(options: ImageBackendOptions): VolumeBackend {
  const { images, copies, files, root } = options;
  return {
    driverName: options.driverName,
    block: true,
    isRecordOnly: false,
    attaches: false,
    stages: true,
    expandsOnNode: true,
    expandsOnline: options.expandsOnline,
    granularity: 4096,
    // The largest file of ext4.
    mostBytes: 16 * 2 ** 40,
    refusal: ({ accessType }) => refusal(accessType),
    create: async ({ id, bytes, block }, copyOf) => {
      if (copyOf === undefined) return images.create(id, BigInt(bytes), block ? 'nothing' : 'file system');
      await copies.copy(copyOf, images.path(id));
      await images.grow(id, BigInt(bytes));
    },
    remove: (id) => images.remove(id),
    grow: (id, bytes) => images.grow(id, BigInt(bytes)),
    volumePath: (id) => images.path(id),
    snapshotPath: (id) => images.path(id),
    snapshot: (volumeId, snapshotId, mountedAt) => copies.copy(images.path(volumeId), images.path(snapshotId), mountedAt),
    removeSnapshot: (id) => images.remove(id),
    availableBytes: async () => (await files.usage(root)).available,
    node: imageNodeBackend(options),
  };
}

function refusal(accessType: VolumeCapability['accessType']): string | undefined {
  if (accessType.case !== 'mount') return undefined;
  const { fsType } = accessType.value;
  return fsType === '' || fsType === 'ext4' ? undefined : `fs_type ${JSON.stringify(fsType)}: an image has ext4`;
}

function imageNodeBackend(host: ImageBackendOptions): NodeBackend {
  const { images, devices, mounts, files } = host;
  return {
    stage: async ({ id, block }, path, mountFlags) => {
      // A block device is bound at its target: nothing is to be staged.
      if (block || (await mountAt(host, path)) !== undefined) return;
      await files.makeDirectory(path, 0o750);
      await mounts.mount({ type: 'image', fileSystem: 'ext4', image: images.path(id), target: path, options: mountFlags });
    },
    unstage: async ({ block }, path) => {
      if (!block) await removeMountPoint(host, path);
    },
    publish: async ({ id, block }, { stagingPath, target, readOnly }) => {
      if (!block) return ensureBound(host, { source: stagingPath, target, readOnly, options: [] });
      // The kernel ignores a read-only mount of a device's file.
      if (readOnly) throw new RpcError('InvalidArgument', 'readonly: a block volume cannot be published read-only');
      if ((await mountAt(host, target)) !== undefined) return;
      await files.write(target, new Uint8Array(), 0o640);
      await mounts.mount({ type: 'device', image: images.path(id), target });
    },
    unpublish: async ({ id, block }, target) => {
      await removeMountPoint(host, target);
      if (block) await devices.release(images.path(id));
    },
    expand: ({ id }) => devices.grow(images.path(id)),
    usage: (_, path) => files.usage(path),
  };
}
