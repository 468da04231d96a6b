import type { VolumeNodeAffinity } from '../../api/generated/types.ts';
import { quantityValue } from '../../api/quantity.ts';
import type { Asset } from '../../api/volumes/intent.ts';
import { attempt, done, type DriverAnswer, type DriverErrorCode, failed, type Leader, succeeded, type VolumeDriver } from '../contract.ts';
import type { Directories } from '../directories.ts';
import { LeaderFence } from '../leader-fence.ts';
import type { Images } from './images.ts';

/** The driver's name in classes and PVs. */
export const imageDriverName = 'image.mooring.dev';

/** The topology label of nodes with image volumes: which machine keeps them. */
export const machineLabel = 'topology.image.mooring.dev/machine';

export interface ImageDriverOptions {
  readonly images: Images;
  readonly directories: Directories;
  /** The directory of the images. */
  readonly root: string;
  /** Whether the node is on this machine. */
  readonly isHere: (node: string) => boolean;
  /** The node that joined the cluster and keeps these images; undefined: they are those of `moor up`. */
  readonly node?: string;
  /** The value of `machineLabel` on the nodes that can mount them. */
  readonly machine: string;
}

const least = 1n << 20n;
const block = 4096n;

/** 'pvc-1': an image of `moor up`; 'node-a/pvc-1': one of a node that joined. */
export interface ImageHandle {
  readonly node: string | undefined;
  readonly name: string;
}

export const formatImageHandle = ({ node, name }: ImageHandle): string => (node === undefined ? name : `${node}/${name}`);

/** Undefined: no handle of this driver. */
export function parseImageHandle(handle: string): ImageHandle | undefined {
  const at = handle.indexOf('/');
  const [node, name] = at < 0 ? [undefined, handle] : [handle.slice(0, at), handle.slice(at + 1)];
  return isImageName(name) && (node === undefined || isImageName(node)) ? { node, name } : undefined;
}

/**
 * image.mooring.dev: volumes are image files of this machine, with a file system or as block devices. The size of a volume is enforced. The files are sparse: they
 * use the disk only for written data.
 */
export function imageDriver({ images, directories, root, isHere, node, machine }: ImageDriverOptions): VolumeDriver {
  const fence = new LeaderFence(directories, `${root}/.leaders`);
  const fenced = <T>(leader: Leader, task: () => Promise<DriverAnswer<T>>): Promise<DriverAnswer<T>> =>
    attempt(async () => (await fence.check(leader)) ?? (await task()), codes);
  const handleFor = (name: string): string => formatImageHandle({ node, name });
  /** Undefined: not one of these images. */
  const nameOf = (handle: string): string | undefined => {
    const parsed = parseImageHandle(handle);
    return parsed?.node === node ? parsed?.name : undefined;
  };
  return {
    capabilities: { name: imageDriverName, provisions: true, deletes: true, mountOptions: true, block: true, expands: 'always', attaches: false },
    handleFor,
    handleOf: ({ csi }) => (csi?.driver === imageDriverName ? csi.volumeHandle : undefined),
    createVolume: ({ name, capacity, selectedNode, volumeMode }, leader) =>
      fenced(leader, async () => {
        if (!isImageName(name)) return failed('InvalidArgument', `invalid image name ${JSON.stringify(name)}`);
        if (selectedNode !== undefined && !isHere(selectedNode))
          return failed('ResourceExhausted', `node ${selectedNode} is not on the machine that stores the images`);
        const tooLarge = overMost(capacity);
        if (tooLarge !== undefined) return tooLarge;
        await images.create(name, bytesOf(capacity), volumeMode === 'Block' ? 'nothing' : 'file system');
        return succeeded(imageAsset({ handle: handleFor(name), capacity, volumeMode, machine }));
      }),
    deleteVolume: (handle, leader) =>
      fenced(leader, async () => {
        const name = nameOf(handle);
        if (name === undefined) return failed('InvalidArgument', `invalid image name ${JSON.stringify(handle)}`);
        await images.remove(name);
        return done;
      }),
    listVolumes: () => attempt(async () => succeeded((await images.list()).map(handleFor)), codes),
    controllerExpandVolume: ({ handle, capacity }, leader) =>
      fenced(leader, async () => {
        const name = nameOf(handle);
        const size = name === undefined ? undefined : await images.size(name);
        if (name === undefined || size === undefined) return failed('NotFound', `there is no image ${JSON.stringify(handle)}`);
        const tooLarge = overMost(capacity);
        if (tooLarge !== undefined) return tooLarge;
        await images.grow(name, bytesOf(capacity));
        return succeeded({ capacity: size > bytesOf(capacity) ? String(size) : capacity, nodeExpansionRequired: true });
      }),
  };
}

/** `machine`: the value of `machineLabel`. */
export function imageAsset({ handle, capacity, volumeMode, machine }: Pick<Asset, 'handle' | 'capacity'> & { volumeMode: string; machine: string }): Asset {
  const fsType = volumeMode === 'Block' ? {} : { fsType: 'ext4' };
  return { handle, capacity, source: { csi: { driver: imageDriverName, volumeHandle: handle, ...fsType } }, nodeAffinity: affinityTo(machine) };
}

const affinityTo = (machine: string): VolumeNodeAffinity => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: machineLabel, operator: 'In', values: [machine] }] }] },
});

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
