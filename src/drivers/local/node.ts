import type { Clock } from '../../world/world.ts';
import { type DriverAnswer, failed, type NodeDriver, type PublishedVolume, type PublishToPodRequest } from '../contract.ts';
import { attempt, ensureBound, type NodeHost, removePlace } from '../files/node-host.ts';
import { giveToGroup } from '../files/ownership.ts';

export interface LocalOptions extends NodeHost {
  readonly clock: Clock;
}

/** A directory or device of the node that a PersistentVolume names: kubernetes.io/local-volume. */
export function localNode(options: LocalOptions): NodeDriver {
  return {
    facts: { name: 'kubernetes.io/local-volume', stages: false, mountOptions: true, block: true, follows: false },
    publish: (request) => attempt(() => publish(options, request)),
    unpublish: ({ target }) =>
      attempt(async () => {
        await removePlace(options, target);
        return { ok: true, value: undefined };
      }),
  };
}

async function publish(options: LocalOptions, { volume, pod, target, tell }: PublishToPodRequest): Promise<DriverAnswer<PublishedVolume>> {
  const { files, clock } = options;
  const { path = '' } = volume.source.local ?? {};
  if (path.split('/').includes('..')) return failed('InvalidArgument', `invalid path: ${path} must not contain '..'`);
  const facts = await files.look(path, 'follow');
  if (facts === undefined) return failed('FailedPrecondition', `path ${JSON.stringify(path)} does not exist`);
  if (volume.mode === 'Block') {
    return facts.type === 'block-device' ? { ok: true, value: { path } } : failed('FailedPrecondition', `path ${JSON.stringify(path)} is no block device`);
  }
  if (facts.type !== 'directory') return failed('FailedPrecondition', 'only directory and block device are supported');
  const { readOnly, mountOptions } = volume;
  await ensureBound(options, { source: path, target, readOnly, options: mountOptions });
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
