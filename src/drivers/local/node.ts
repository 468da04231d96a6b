import type { FileFacts } from '../../world/mounts.ts';
import type { Clock } from '../../world/world.ts';
import { type DriverAnswer, failed, type NodeDriver, type PublishedVolume, type PublishToPodRequest, type StageRequest } from '../contract.ts';
import { mountDisk } from '../files/disk-file-system.ts';
import type { HostWithPrograms } from '../files/mount-program.ts';
import { attempt, ensureBound, mountAt, removePlace, removeStaging } from '../files/node-host.ts';
import { giveToGroup } from '../files/ownership.ts';

export interface LocalOptions extends HostWithPrograms {
  readonly clock: Clock;
}

/** A directory or device of the node that a PersistentVolume names: kubernetes.io/local-volume. A device's file system is mounted once for the node. */
export function localNode(options: LocalOptions): NodeDriver {
  return {
    facts: { name: 'kubernetes.io/local-volume', stages: true, mountOptions: true, block: true, follows: false },
    stage: (request) => attempt(() => stage(options, request)),
    unstage: ({ stagingPath }) => attempt(async () => removeStaging(options, stagingPath).then(() => done)),
    publish: (request) => attempt(() => publish(options, request)),
    unpublish: ({ target }) => attempt(async () => removePlace(options, target).then(() => done)),
  };
}

const done = { ok: true, value: undefined } as const;

async function stage(options: LocalOptions, { volume, stagingPath }: StageRequest): Promise<DriverAnswer<undefined>> {
  const found = await find(options, volume.source);
  if (!found.ok) return found;
  const { path, facts } = found.value;
  if (volume.mode === 'Block' || facts.type === 'directory') return done;
  if (facts.type !== 'block-device') return failed('FailedPrecondition', 'only directory and block device are supported');
  const fileSystem = volume.source.local?.fsType ?? '';
  const mountOptions = [...new Set([...volume.mountOptions, ...(volume.readOnly ? ['ro'] : [])])];
  const refused = await mountDisk(options, { device: path, target: stagingPath, fileSystem, options: mountOptions });
  if (refused === undefined) return done;
  const message = `local: failed to mount device ${path} at ${stagingPath} (fstype: ${fileSystem}), error ${refused.message}`;
  return failed(refused.code, message);
}

async function find({ files }: LocalOptions, { local }: StageRequest['volume']['source']): Promise<DriverAnswer<{ path: string; facts: FileFacts }>> {
  const { path = '' } = local ?? {};
  if (path.split('/').includes('..')) return failed('InvalidArgument', `invalid path: ${path} must not contain '..'`);
  const facts = await files.look(path, 'follow');
  return facts === undefined ? failed('FailedPrecondition', `path ${JSON.stringify(path)} does not exist`) : { ok: true, value: { path, facts } };
}

async function publish(options: LocalOptions, request: PublishToPodRequest): Promise<DriverAnswer<PublishedVolume>> {
  const { volume, pod, target, stagingPath = '', tell } = request;
  const { files, clock } = options;
  const found = await find(options, volume.source);
  if (!found.ok) return found;
  const { path, facts: place } = found.value;
  if (volume.mode === 'Block') {
    return place.type === 'block-device' ? { ok: true, value: { path } } : failed('FailedPrecondition', `path ${JSON.stringify(path)} is no block device`);
  }
  const isDevice = place.type === 'block-device';
  const source = isDevice ? stagingPath : path;
  const facts = isDevice ? await files.look(source) : place;
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
  if (!readOnly && !others) await giveToGroup(target, { files, clock, pod, readOnly, when: 'policy', tell });
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
