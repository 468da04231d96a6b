import type { VolumeNodeAffinity } from '../../api/generated/types.ts';
import { quantityValue } from '../../api/quantity.ts';
import { attempt, done, type DriverAnswer, type DriverErrorCode, failed, type Leader, succeeded, type VolumeDriver } from '../contract.ts';
import type { Directories } from '../directories.ts';
import { LeaderFence } from '../leader-fence.ts';
import type { Images } from './images.ts';

/** The driver's name in classes and PVs. */
export const imageDriverName = 'image.mooring.dev';

/** The topology label of the nodes on the machine with the images. */
export const machineLabel = { key: 'topology.image.mooring.dev/machine', value: 'this' } as const;

export interface ImageDriverOptions {
  readonly images: Images;
  readonly directories: Directories;
  /** The directory of the images. */
  readonly root: string;
  /** Whether the node is on this machine. */
  readonly isHere: (node: string) => boolean;
}

const least = 1n << 20n;
const block = 4096n;

/**
 * image.mooring.dev: volumes are image files of this machine, with a file system or as block devices. The size of a volume is enforced. The files are sparse: they
 * use the disk only for written data.
 */
export function imageDriver({ images, directories, root, isHere }: ImageDriverOptions): VolumeDriver {
  const fence = new LeaderFence(directories, `${root}/.leaders`);
  const fenced = <T>(leader: Leader, task: () => Promise<DriverAnswer<T>>): Promise<DriverAnswer<T>> =>
    attempt(async () => (await fence.check(leader)) ?? (await task()), codes);
  return {
    capabilities: { name: imageDriverName, provisions: true, deletes: true, mountOptions: true, block: true, expands: 'always', attaches: false },
    handleFor: (name) => name,
    handleOf: ({ csi }) => (csi?.driver === imageDriverName ? csi.volumeHandle : undefined),
    createVolume: ({ name, capacity, selectedNode, volumeMode }, leader) =>
      fenced(leader, async () => {
        if (!isImageName(name)) return failed('InvalidArgument', `invalid image name ${JSON.stringify(name)}`);
        if (selectedNode !== undefined && !isHere(selectedNode))
          return failed('ResourceExhausted', `node ${selectedNode} is not on the machine that stores the images`);
        const tooLarge = overMost(capacity);
        if (tooLarge !== undefined) return tooLarge;
        const isBlock = volumeMode === 'Block';
        await images.create(name, bytesOf(capacity), isBlock ? 'nothing' : 'file system');
        const source = { csi: { driver: imageDriverName, volumeHandle: name, ...(isBlock ? {} : { fsType: 'ext4' }) } };
        return succeeded({ handle: name, capacity, source, nodeAffinity: onThisMachine });
      }),
    deleteVolume: (handle, leader) =>
      fenced(leader, async () => {
        if (!isImageName(handle)) return failed('InvalidArgument', `invalid image name ${JSON.stringify(handle)}`);
        await images.remove(handle);
        return done;
      }),
    listVolumes: () => attempt(async () => succeeded(await images.list()), codes),
    controllerExpandVolume: ({ handle, capacity }, leader) =>
      fenced(leader, async () => {
        const size = isImageName(handle) ? await images.size(handle) : undefined;
        if (size === undefined) return failed('NotFound', `there is no image ${JSON.stringify(handle)}`);
        const tooLarge = overMost(capacity);
        if (tooLarge !== undefined) return tooLarge;
        await images.grow(handle, bytesOf(capacity));
        return succeeded({ capacity: size > bytesOf(capacity) ? String(size) : capacity, nodeExpansionRequired: true });
      }),
  };
}

const onThisMachine: VolumeNodeAffinity = {
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: machineLabel.key, operator: 'In', values: [machineLabel.value] }] }] },
};

/** No path to another directory or file. */
export const isImageName = (name: string): boolean => /^[a-z0-9][-a-z0-9.]{0,252}$/.test(name);

function bytesOf(capacity: string): bigint {
  const bytes = quantityValue(capacity);
  const whole = ((bytes + block - 1n) / block) * block;
  return whole < least ? least : whole;
}

/** The largest file of ext4 with blocks of 4 KiB. */
const most = 16n << 40n;

const overMost = (capacity: string) =>
  bytesOf(capacity) > most ? failed('OutOfRange', `the requested size ${capacity} is too large: an image volume has at most 16Ti`) : undefined;

const codes: Readonly<Record<string, DriverErrorCode>> = {
  ENOSPC: 'ResourceExhausted',
  EDQUOT: 'ResourceExhausted',
  EFBIG: 'OutOfRange',
  EINVAL: 'OutOfRange',
};
