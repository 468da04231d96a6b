import type { FileStat } from '../../world/mounts.ts';
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
import { formatAndMount } from '../mount/format-and-mount.ts';
import type { HostWithPrograms } from '../mount/mount-program.ts';
import { ensureBound, mountAt, removeMountPoint, removeStaging } from '../mount/node-host.ts';
import { resizeFileSystem } from '../mount/resize-file-system.ts';
import { setVolumeOwnership } from '../mount/volume-ownership.ts';

export interface LocalOptions extends HostWithPrograms {
  readonly clock: Clock;
}

/** kubernetes.io/local-volume: a directory or block device of the node. A device's file system is staged. */
export function localNode(options: LocalOptions): NodeDriver {
  return {
    capabilities: { name: 'kubernetes.io/local-volume', stages: true, mountOptions: true, block: true, requiresRemount: false },
    nodeStageVolume: (request) => attempt(() => stage(options, request)),
    nodeUnstageVolume: ({ stagingPath }) => attempt(async () => removeStaging(options, stagingPath).then(() => done)),
    nodePublishVolume: (request) => attempt(() => publish(options, request)),
    nodeUnpublishVolume: ({ target }) => attempt(async () => removeMountPoint(options, target).then(() => done)),
    nodeExpandVolume: (request) => attempt(() => expand(options, request)),
  };
}

async function stage(options: LocalOptions, { volume, stagingPath }: NodeStageVolumeRequest): Promise<DriverAnswer<undefined>> {
  const found = await find(options, volume.source);
  if (!found.ok) return found;
  const { path, stat } = found.value;
  if (volume.mode === 'Block' || stat.type === 'directory') return done;
  if (stat.type !== 'block-device') return failed('FailedPrecondition', 'only directory and block device are supported');
  const fileSystem = volume.source.local?.fsType ?? '';
  const mountOptions = [...new Set([...volume.mountOptions, ...(volume.readOnly ? ['ro'] : [])])];
  const refused = await formatAndMount(options, { device: path, target: stagingPath, fileSystem, options: mountOptions });
  if (refused === undefined) return done;
  const message = `local: failed to mount device ${path} at ${stagingPath} (fstype: ${fileSystem}), error ${refused.message}`;
  return failed(refused.code, message);
}

/** The administrator has grown the device, or the disk of the directory. */
async function expand(options: LocalOptions, { volume, stagingPath }: NodeExpandVolumeRequest): Promise<DriverAnswer<undefined>> {
  const found = await find(options, volume.source);
  if (!found.ok) return found;
  const { path, stat } = found.value;
  return volume.mode === 'Block' || stat.type !== 'block-device' ? done : resizeFileSystem(options, { device: path, target: stagingPath });
}

async function find({ files }: LocalOptions, { local }: NodeStageVolumeRequest['volume']['source']): Promise<DriverAnswer<{ path: string; stat: FileStat }>> {
  const { path = '' } = local ?? {};
  if (path.split('/').includes('..')) return failed('InvalidArgument', `invalid path: ${path} must not contain '..'`);
  const stat = await files.stat(path, 'follow');
  return stat === undefined ? failed('FailedPrecondition', `path ${JSON.stringify(path)} does not exist`) : succeeded({ path, stat });
}

async function publish(options: LocalOptions, request: NodePublishVolumeRequest): Promise<DriverAnswer<NodePublishVolumeResponse>> {
  const { volume, pod, target, stagingPath = '', recordEvent } = request;
  const { files, clock } = options;
  const found = await find(options, volume.source);
  if (!found.ok) return found;
  const { path, stat: pathStat } = found.value;
  if (volume.mode === 'Block') {
    return pathStat.type === 'block-device' ? succeeded({ path }) : failed('FailedPrecondition', `path ${JSON.stringify(path)} is not a block device`);
  }
  const isDevice = pathStat.type === 'block-device';
  const source = isDevice ? stagingPath : path;
  const stat = isDevice ? await files.stat(source) : pathStat;
  if (stat?.type !== 'directory') return failed('FailedPrecondition', 'only directory and block device are supported');
  // Otherwise pods would write to the node's own file system.
  if (isDevice && (await mountAt(options, source)) === undefined) return failed('FailedPrecondition', `${path} is not mounted at ${source}`);
  const { readOnly, mountOptions } = volume;
  await ensureBound(options, { source, target, readOnly, options: mountOptions });
  const others = await isMountedElsewhere(options, target);
  const group = pod.spec.securityContext?.fsGroup;
  if (others && group !== undefined && stat.gid !== group) {
    recordEvent(
      'AlreadyMountedVolume',
      `The requested fsGroup is ${group}, but the volume ${volume.name} has GID ${stat.gid}. The volume may not be shareable.`,
    );
  }
  if (!readOnly && !others) await setVolumeOwnership(target, { files, clock, pod, readOnly, when: 'policy', recordEvent });
  return succeeded({ path: target });
}

/** Another pod has it mounted: the ownership stays. */
async function isMountedElsewhere({ mounts }: LocalOptions, target: string): Promise<boolean> {
  const table = await mounts.table();
  const own = table.findLast((entry) => entry.target === target);
  return table.some(
    (entry) => entry.target !== target && entry.device === own?.device && entry.root === own.root && entry.target.includes('/kubernetes.io~local-volume/'),
  );
}
