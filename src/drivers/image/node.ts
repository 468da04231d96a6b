import type { Clock } from '../../world/world.ts';
import {
  type DriverAnswer,
  type NodeExpandVolumeRequest,
  failed,
  type NodeDriver,
  type NodePublishVolumeResponse,
  type NodePublishVolumeRequest,
  type NodeStageVolumeRequest,
} from '../contract.ts';
import { attempt, ensureBound, mountAt, type NodeHost, removeMountPoint } from '../mount/node-host.ts';
import { setVolumeOwnership } from '../mount/volume-ownership.ts';
import { imageDriverName, isImageName } from './driver.ts';
import type { ImageDevices } from './images.ts';

export interface ImageNodeOptions extends NodeHost {
  readonly clock: Clock;
  /** Where the image of a volume is. */
  readonly path: (name: string) => string;
  readonly devices: ImageDevices;
}

/** Files that are volumes: mounted once for each node as file systems or block devices, and bound from there for each pod. */
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
    nodeExpandVolume: (request) => attempt(() => expand(options, request)),
  };
}

const done = { ok: true, value: undefined } as const;

type Found = DriverAnswer<{ readonly name: string; readonly fileSystem: string }>;

function imageOf({ source }: NodeStageVolumeRequest['volume']): Found {
  const { volumeHandle: name = '', fsType: fileSystem = 'ext4' } = (source.csi ?? {}) as { readonly volumeHandle?: string; readonly fsType?: string };
  return isImageName(name) ? { ok: true, value: { name, fileSystem } } : failed('InvalidArgument', `${JSON.stringify(name)} is no name of an image`);
}

async function stage(options: ImageNodeOptions, { volume, stagingPath }: NodeStageVolumeRequest): Promise<DriverAnswer<undefined>> {
  const found = imageOf(volume);
  if (!found.ok) return found;
  const { name, fileSystem } = found.value;
  const { files, mounts } = options;
  const image = options.path(name);
  if ((await files.stat(image)) === undefined) return failed('NotFound', `there is no image ${image}`);
  const isMounted = (await mountAt(options, stagingPath)) !== undefined;
  if (volume.mode === 'Block') {
    // Written down first: the device does not go by itself, whoever dies.
    await files.write(noteOf(stagingPath), new TextEncoder().encode(name), 0o600);
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

/** Beside the place: whose device it is that is bound there. */
const noteOf = (stagingPath: string): string => `${stagingPath}.image`;

async function unstage(options: ImageNodeOptions, stagingPath: string): Promise<DriverAnswer<undefined>> {
  const { files, devices } = options;
  const note = noteOf(stagingPath);
  const name = (await files.stat(note)) === undefined ? undefined : new TextDecoder().decode(await files.read(note));
  await removeMountPoint(options, stagingPath);
  // An empty one was being written when somebody died: there was no device yet.
  if (name !== undefined && isImageName(name)) await devices.release(options.path(name));
  if (name !== undefined) await files.removeFile(note);
  return done;
}

async function publish(options: ImageNodeOptions, request: NodePublishVolumeRequest): Promise<DriverAnswer<NodePublishVolumeResponse>> {
  const { volume, pod, target, stagingPath = '', recordEvent: tell } = request;
  const { files, clock } = options;
  if ((await mountAt(options, stagingPath)) === undefined) return failed('FailedPrecondition', `nothing is staged at ${stagingPath}`);
  const { readOnly, mode } = volume;
  if (!readOnly && mode === 'Filesystem') await setVolumeOwnership(stagingPath, { files, clock, pod, readOnly, when: 'policy', recordEvent: tell });
  await ensureBound(options, { source: stagingPath, target, readOnly, options: [] });
  return { ok: true, value: { path: target } };
}

async function expand(options: ImageNodeOptions, { volume }: NodeExpandVolumeRequest): Promise<DriverAnswer<undefined>> {
  const found = imageOf(volume);
  if (!found.ok) return found;
  try {
    await options.devices.grow(options.path(found.value.name));
    return done;
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    return failed(code === 'EBUSY' ? 'FailedPrecondition' : 'Internal', message);
  }
}
