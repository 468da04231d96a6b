import type { VolumeNodeAffinity } from '../../api/generated/types.ts';
import { quantityValue } from '../../api/quantity.ts';
import { type DriverAnswer, type DriverErrorCode, failed, type Leader, type VolumeDriver } from '../contract.ts';
import type { Directories } from '../directories.ts';
import { LeaderFence } from '../leader-fence.ts';
import type { Images } from './images.ts';

/** As classes and volumes name it. */
export const imageDriverName = 'image.mooring.dev';

/** Nodes with this label are on the machine that has the images. */
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
 * Volumes that are files of this machine, with file systems in them or as block devices: image.mooring.dev. Each has the size that was asked for, and no more can be
 * written to it. Files take room on the disk only for what is written to them.
 */
export function imageDriver({ images, directories, root, isHere }: ImageDriverOptions): VolumeDriver {
  const leaders = new LeaderFence(directories, `${root}/.leaders`);
  const led = <T>(leader: Leader, task: () => Promise<DriverAnswer<T>>): Promise<DriverAnswer<T>> =>
    attempt(async () => (await leaders.check(leader)) ?? (await task()));
  return {
    capabilities: { name: imageDriverName, provisions: true, deletes: true, mountOptions: true, block: true, expands: 'always', attaches: false },
    handleFor: (name) => name,
    handleOf: ({ csi }) => (csi?.driver === imageDriverName ? csi.volumeHandle : undefined),
    createVolume: ({ name, capacity, selectedNode, volumeMode }, leader) =>
      led(leader, async () => {
        if (!isImageName(name)) return failed('InvalidArgument', `${JSON.stringify(name)} is no name for an image`);
        if (selectedNode !== undefined && !isHere(selectedNode)) return failed('ResourceExhausted', `node ${selectedNode} is not on the machine of the images`);
        const isBlock = volumeMode === 'Block';
        await images.create(name, bytesOf(capacity), isBlock ? 'nothing' : 'file system');
        const source = { csi: { driver: imageDriverName, volumeHandle: name, ...(isBlock ? {} : { fsType: 'ext4' }) } };
        return done({ handle: name, capacity, source, nodeAffinity: onThisMachine });
      }),
    deleteVolume: (handle, leader) =>
      led(leader, async () => {
        if (!isImageName(handle)) return failed('InvalidArgument', `${JSON.stringify(handle)} is no name of an image`);
        await images.remove(handle);
        return done(undefined);
      }),
    listVolumes: () => attempt(async () => done(await images.list())),
    controllerExpandVolume: ({ handle, capacity }, leader) =>
      led(leader, async () => {
        const size = isImageName(handle) ? await images.size(handle) : undefined;
        if (size === undefined) return failed('NotFound', `there is no image ${JSON.stringify(handle)}`);
        await images.grow(handle, bytesOf(capacity));
        return done({ capacity: size > bytesOf(capacity) ? String(size) : capacity, nodeExpansionRequired: true });
      }),
  };
}

const onThisMachine: VolumeNodeAffinity = {
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: machineLabel.key, operator: 'In', values: [machineLabel.value] }] }] },
};

/** Nothing that leads to another directory, or to what is not an image. */
export const isImageName = (name: string): boolean => /^[a-z0-9][-a-z0-9.]{0,252}$/.test(name);

function bytesOf(capacity: string): bigint {
  const bytes = quantityValue(capacity);
  const whole = ((bytes + block - 1n) / block) * block;
  return whole < least ? least : whole;
}

const done = <T>(value: T): DriverAnswer<T> => ({ ok: true, value });

const codes: Readonly<Record<string, DriverErrorCode>> = {
  ENOSPC: 'ResourceExhausted',
  EDQUOT: 'ResourceExhausted',
  EFBIG: 'OutOfRange',
  EINVAL: 'OutOfRange',
};

async function attempt<T>(task: () => Promise<DriverAnswer<T>>): Promise<DriverAnswer<T>> {
  try {
    return await task();
  } catch (error) {
    const { code = '', message } = error as { readonly code?: string; readonly message: string };
    return failed(codes[code] ?? 'Internal', message);
  }
}
