import type { Clock } from '../../world/world.ts';
import {
  attempt,
  done,
  type DriverAnswer,
  failed,
  type NodeDriver,
  type NodeExpandVolumeRequest,
  type NodePublishVolumeRequest,
  type NodePublishVolumeResponse,
  type NodeStageVolumeRequest,
  succeeded,
} from '../contract.ts';
import { ensureBound, mountAt, type NodeHost, removeMountPoint } from '../mount/node-host.ts';
import { setVolumeOwnership } from '../mount/volume-ownership.ts';
import { imageDriverName, isImageName, parseImageHandle } from './driver.ts';
import type { ImageDevices } from './images.ts';

export interface ImageNodeOptions extends NodeHost {
  readonly clock: Clock;
  /** The node that joined and keeps the images; undefined: they are those of `moor up`. */
  readonly node?: string | undefined;
  /** The path of an image. */
  readonly path: (name: string) => string;
  readonly devices: ImageDevices;
}

/** The node service of image.mooring.dev: stages the file system or block device, and bind-mounts it for each pod. */
export function imageNode(options: ImageNodeOptions): NodeDriver {
  return {
    capabilities: { name: imageDriverName, stages: true, mountOptions: true, block: true, requiresRemount: false },
    nodeStageVolume: (request) => attempt(() => stage(options, request)),
    nodeUnstageVolume: ({ stagingPath }) => attempt(() => unstage(options, stagingPath)),
    nodePublishVolume: (request) => attempt(() => publish(options, request)),
    nodeUnpublishVolume: ({ target }) =>
      attempt(async () => {
        await removeMountPoint(options, target);
        return done;
      }),
    nodeExpandVolume: (request) => attempt(() => expand(options, request), { EBUSY: 'FailedPrecondition' }),
  };
}

type Found = DriverAnswer<{ readonly name: string; readonly fileSystem: string }>;

function imageOf({ source }: NodeStageVolumeRequest['volume'], node: string | undefined): Found {
  const { volumeHandle = '', fsType: fileSystem = 'ext4' } = (source.csi ?? {}) as { readonly volumeHandle?: string; readonly fsType?: string };
  const handle = parseImageHandle(volumeHandle);
  if (handle === undefined) return failed('InvalidArgument', `invalid image name ${JSON.stringify(volumeHandle)}`);
  // Two machines may have an image of one name.
  if (handle.node !== node)
    return failed('NotFound', `the image of the volume is kept ${handle.node === undefined ? 'by "moor up"' : `by node ${handle.node}`}, not here`);
  return succeeded({ name: handle.name, fileSystem });
}

async function stage(options: ImageNodeOptions, { volume, stagingPath }: NodeStageVolumeRequest): Promise<DriverAnswer<undefined>> {
  const found = imageOf(volume, options.node);
  if (!found.ok) return found;
  const { name, fileSystem } = found.value;
  const { files, mounts } = options;
  const image = options.path(name);
  if ((await files.stat(image)) === undefined) return failed('NotFound', `there is no image ${image}`);
  const isMounted = (await mountAt(options, stagingPath)) !== undefined;
  if (volume.mode === 'Block') {
    // Before the device is created: after a crash it must be found, since it does not disappear by itself.
    await files.write(imageFileOf(stagingPath), new TextEncoder().encode(name), 0o600);
    if (!isMounted) {
      await files.write(stagingPath, new Uint8Array(), 0o600);
      await mounts.mount({ type: 'device', image, target: stagingPath });
    }
  } else {
    await files.makeDirectory(stagingPath, 0o750);
    if (!isMounted) await mounts.mount({ type: 'image', fileSystem, image, target: stagingPath, options: volume.mountOptions });
  }
  return done;
}

/** A file beside the staging path with the image of the bound device. */
const imageFileOf = (stagingPath: string): string => `${stagingPath}.image`;

async function unstage(options: ImageNodeOptions, stagingPath: string): Promise<DriverAnswer<undefined>> {
  const { files, devices } = options;
  const file = imageFileOf(stagingPath);
  const name = (await files.stat(file)) === undefined ? undefined : new TextDecoder().decode(await files.read(file));
  await removeMountPoint(options, stagingPath);
  // An empty file was being written when the process died: there was no device yet.
  if (name !== undefined && isImageName(name)) await devices.release(options.path(name));
  if (name !== undefined) await files.removeFile(file);
  return done;
}

async function publish(options: ImageNodeOptions, request: NodePublishVolumeRequest): Promise<DriverAnswer<NodePublishVolumeResponse>> {
  const { volume, pod, target, stagingPath = '', recordEvent } = request;
  const { files, clock } = options;
  if ((await mountAt(options, stagingPath)) === undefined) return failed('FailedPrecondition', `nothing is staged at ${stagingPath}`);
  const { readOnly, mode } = volume;
  if (!readOnly && mode === 'Filesystem') await setVolumeOwnership(stagingPath, { files, clock, pod, readOnly, when: 'policy', recordEvent });
  await ensureBound(options, { source: stagingPath, target, readOnly, options: [] });
  return succeeded({ path: target });
}

async function expand(options: ImageNodeOptions, { volume }: NodeExpandVolumeRequest): Promise<DriverAnswer<undefined>> {
  const found = imageOf(volume, options.node);
  if (!found.ok) return found;
  await options.devices.grow(options.path(found.value.name));
  return done;
}
