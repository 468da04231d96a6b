import type { Clock } from '../../world/world.ts';
import { type DriverAnswer, failed, type NodeDriver, type PublishedVolume, type PublishToPodRequest, type StageRequest } from '../contract.ts';
import { attempt, ensureBound, mountAt, type NodeHost, removePlace } from '../files/node-host.ts';
import { giveToGroup } from '../files/ownership.ts';
import { imageDriverName, isImageName } from './driver.ts';

export interface ImageNodeOptions extends NodeHost {
  readonly clock: Clock;
  /** Where the image of a volume is. */
  readonly path: (name: string) => string;
}

/** File systems in files: mounted once for each node, and bound from there for each pod. */
export function imageNode(options: ImageNodeOptions): NodeDriver {
  const remove = (place: string) =>
    attempt(async () => {
      await removePlace(options, place);
      return { ok: true, value: undefined };
    });
  return {
    facts: { name: imageDriverName, stages: true, mountOptions: true, block: false, follows: false },
    stage: (request) => attempt(() => stage(options, request)),
    unstage: ({ stagingPath }) => remove(stagingPath),
    publish: (request) => attempt(() => publish(options, request)),
    unpublish: ({ target }) => remove(target),
  };
}

async function stage(options: ImageNodeOptions, { volume, stagingPath }: StageRequest): Promise<DriverAnswer<undefined>> {
  const { volumeHandle = '', fsType = 'ext4' } = (volume.source.csi ?? {}) as { readonly volumeHandle?: string; readonly fsType?: string };
  if (!isImageName(volumeHandle)) return failed('InvalidArgument', `${JSON.stringify(volumeHandle)} is no name of an image`);
  if (volume.mode === 'Block') return failed('InvalidArgument', `${imageDriverName} has no block volumes`);
  const image = options.path(volumeHandle);
  if ((await options.files.look(image)) === undefined) return failed('NotFound', `there is no image ${image}`);
  await options.files.makeDirectory(stagingPath, 0o750);
  if ((await mountAt(options, stagingPath)) === undefined) {
    await options.mounts.mount({ type: 'image', fileSystem: fsType, image, target: stagingPath, options: volume.mountOptions });
  }
  return { ok: true, value: undefined };
}

async function publish(options: ImageNodeOptions, request: PublishToPodRequest): Promise<DriverAnswer<PublishedVolume>> {
  const { volume, pod, target, stagingPath = '', tell } = request;
  const { files, clock } = options;
  if ((await mountAt(options, stagingPath)) === undefined) return failed('FailedPrecondition', `nothing is staged at ${stagingPath}`);
  const { readOnly } = volume;
  if (!readOnly) await giveToGroup(stagingPath, { files, clock, pod, readOnly, when: 'policy', tell });
  await ensureBound(options, { source: stagingPath, target, readOnly, options: [] });
  return { ok: true, value: { path: target } };
}
