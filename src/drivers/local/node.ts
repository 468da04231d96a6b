import type { FileStat } from '../../world/mounts.ts';
import type { Clock } from '../../world/world.ts';
import {
  type DriverAnswer,
  failed,
  type NodeDriver,
  type NodePublishVolumeResponse,
  type NodePublishVolumeRequest,
  type NodeStageVolumeRequest,
} from '../contract.ts';
import { formatAndMount } from '../mount/format-and-mount.ts';
import type { HostWithPrograms } from '../mount/mount-program.ts';
import { attempt, ensureBound, mountAt, removeMountPoint, removeStaging } from '../mount/node-host.ts';
import { setVolumeOwnership } from '../mount/volume-ownership.ts';

export interface LocalOptions extends HostWithPrograms {
  readonly clock: Clock;
}

/** A directory or device of the node that a PersistentVolume names: kubernetes.io/local-volume. A device's file system is mounted once for the node. */
export function localNode(options: LocalOptions): NodeDriver {
  return {
    capabilities: { name: 'kubernetes.io/local-volume', stages: true, mountOptions: true, block: true, requiresRemount: false },
    nodeStageVolume: (request) => attempt(() => stage(options, request)),
    nodeUnstageVolume: ({ stagingPath }) => attempt(async () => removeStaging(options, stagingPath).then(() => done)),
    nodePublishVolume: (request) => attempt(() => publish(options, request)),
    nodeUnpublishVolume: ({ target }) => attempt(async () => removeMountPoint(options, target).then(() => done)),
  };
}

const done = { ok: true, value: undefined } as const;

async function stage(options: LocalOptions, { volume, stagingPath }: NodeStageVolumeRequest): Promise<DriverAnswer<undefined>> {
  const found = await find(options, volume.source);
  if (!found.ok) return found;
  const { path, facts } = found.value;
  if (volume.mode === 'Block' || facts.type === 'directory') return done;
  if (facts.type !== 'block-device') return failed('FailedPrecondition', 'only directory and block device are supported');
  const fileSystem = volume.source.local?.fsType ?? '';
  const mountOptions = [...new Set([...volume.mountOptions, ...(volume.readOnly ? ['ro'] : [])])];
  const refused = await formatAndMount(options, { device: path, target: stagingPath, fileSystem, options: mountOptions });
  if (refused === undefined) return done;
  const message = `local: failed to mount device ${path} at ${stagingPath} (fstype: ${fileSystem}), error ${refused.message}`;
  return failed(refused.code, message);
}

async function find({ files }: LocalOptions, { local }: NodeStageVolumeRequest['volume']['source']): Promise<DriverAnswer<{ path: string; facts: FileStat }>> {
  const { path = '' } = local ?? {};
  if (path.split('/').includes('..')) return failed('InvalidArgument', `invalid path: ${path} must not contain '..'`);
  const facts = await files.stat(path, 'follow');
  return facts === undefined ? failed('FailedPrecondition', `path ${JSON.stringify(path)} does not exist`) : { ok: true, value: { path, facts } };
}

async function publish(options: LocalOptions, request: NodePublishVolumeRequest): Promise<DriverAnswer<NodePublishVolumeResponse>> {
  const { volume, pod, target, stagingPath = '', recordEvent: tell } = request;
  const { files, clock } = options;
  const found = await find(options, volume.source);
  if (!found.ok) return found;
  const { path, facts: place } = found.value;
  if (volume.mode === 'Block') {
    return place.type === 'block-device' ? { ok: true, value: { path } } : failed('FailedPrecondition', `path ${JSON.stringify(path)} is no block device`);
  }
  const isDevice = place.type === 'block-device';
  const source = isDevice ? stagingPath : path;
  const facts = isDevice ? await files.stat(source) : place;
  if (facts?.type !== 'directory') return failed('FailedPrecondition', 'only directory and block device are supported');
  // Its file system would be missing, and the node's own be written to.
  if (isDevice && (await mountAt(options, source)) === undefined) return failed('FailedPrecondition', `${path} is not mounted at ${source}`);
  const { readOnly, mountOptions } = volume;
  await ensureBound(options, { source, target, readOnly, options: mountOptions });
  const others = await isMountedElsewhere(options, target);
  const group = pod.spec.securityContext?.fsGroup;
  if (others && group !== undefined && facts.gid !== group) {
    tell('AlreadyMountedVolume', `The requested fsGroup is ${group}, but the volume ${volume.name} has GID ${facts.gid}. The volume may not be shareable.`);
  }
  if (!readOnly && !others) await setVolumeOwnership(target, { files, clock, pod, readOnly, when: 'policy', recordEvent: tell });
  return { ok: true, value: { path: target } };
}

/** For another pod: what it may do with the files is settled. */
async function isMountedElsewhere({ mounts }: LocalOptions, target: string): Promise<boolean> {
  const table = await mounts.table();
  const own = table.findLast((entry) => entry.target === target);
  return table.some(
    (entry) => entry.target !== target && entry.device === own?.device && entry.root === own.root && entry.target.includes('/kubernetes.io~local-volume/'),
  );
}
