import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { type Node, NodeServiceCapability_RPC_Type as Rpc, type VolumeCapability } from '../../../src/grpc/generated/csi.ts';
import type { Implementation } from '../../../src/grpc/service.ts';
import { RpcError } from '../../../src/grpc/status.ts';
import type { Mounts } from '../../../src/world/mounts.ts';
import { type DriverState, moment, required } from './driver-state.ts';
import { isShared } from './volumes.ts';

const capabilities = [Rpc.STAGE_UNSTAGE_VOLUME, Rpc.GET_VOLUME_STATS, Rpc.EXPAND_VOLUME, Rpc.SINGLE_NODE_MULTI_WRITER];

/** What a mount was made with, to compare. */
const textOf = (capability: VolumeCapability | undefined, isReadonly = false): string => {
  if (capability === undefined) throw new RpcError('InvalidArgument', 'volume_capability is missing');
  return `${capability.accessType.case} ${capability.accessMode?.mode} ${isReadonly}`;
};

/** Bind mounts of folders. Without the right to mount, only the folders are made. */
export function nodeMethods(state: DriverState, mounts: Mounts | undefined): Implementation<typeof Node> {
  const { data } = state;
  const mountsAt = async (target: string): Promise<number> => (await mounts?.table())?.filter((each) => each.target === target).length ?? 0;
  const bind = async (source: string, target: string): Promise<void> => mounts?.mount({ type: 'bind', source, target, recursive: false });
  const unmountAll = async (target: string): Promise<void> => {
    for (let left = await mountsAt(target); left > 0; left--) await mounts?.unmount(target);
  };
  const record = (target: string, how: string | undefined): void => {
    if (how === undefined) delete data.mounts[target];
    else data.mounts[target] = how;
    state.save();
  };
  const isBlock = (capability: VolumeCapability | undefined): boolean => capability?.accessType.case === 'block';

  async function publish(volumeId: string, target: string, { how, staging, isReadonly }: { how: string; staging: string; isReadonly: boolean }): Promise<void> {
    const volume = state.volume(volumeId);
    const earlier = data.mounts[target];
    if (earlier !== undefined && earlier !== how && !state.has('publish-accepts-other-capability'))
      throw new RpcError('AlreadyExists', `${target} is published otherwise`);
    const others = Object.keys(data.mounts).filter((each) => each !== target && data.mounts[`${each} of`] === volumeId);
    if (others.length > 0 && !isShared(volume)) throw new RpcError('FailedPrecondition', `the volume is published at ${others[0]}`);
    if (earlier === undefined) {
      data.mounts[`${target} of`] = volumeId;
      record(target, how);
    }
    if ((await mountsAt(target)) > 0) return;
    const inBetween = path.join(state.directory, 'between', path.basename(path.dirname(target)));
    if (state.has('publish-leaks-when-failed')) {
      mkdirSync(inBetween, { recursive: true });
      await bind(staging, inBetween);
    }
    mkdirSync(target, { recursive: true });
    await bind(staging, target);
    if (isReadonly && !state.has('publish-ignores-readonly')) await mounts?.mount({ type: 'options', target, options: ['ro'] });
    if (state.has('publish-leaks-when-failed')) {
      await unmountAll(inBetween);
      rmdirSync(inBetween);
    }
  }

  async function unpublish(volumeId: string, target: string): Promise<void> {
    if (!existsSync(target) && state.has('unpublish-missing-fails')) throw new RpcError('Internal', `${target} is not mounted`);
    const paths = state.has('unpublish-unmounts-all-pods') ? Object.keys(data.mounts).filter((each) => data.mounts[`${each} of`] === volumeId) : [target];
    for (const each of paths) if (!state.has('unpublish-leaves-mount')) await unmountAll(each);
    if (existsSync(target) && !state.has('unpublish-keeps-target')) {
      try {
        rmdirSync(target);
      } catch {
        // A file that the driver did not create stays.
      }
    }
    delete data.mounts[`${target} of`];
    record(target, undefined);
  }

  return {
    nodeGetCapabilities: async () => ({ capabilities: capabilities.map((type) => ({ type: { case: 'rpc', value: { type } } })) }),
    nodeGetInfo: async () => ({ nodeId: state.has('node-id-changes') ? `${state.nodeId}-${process.pid}` : state.nodeId }),
    nodeStageVolume: (request, { signal }) =>
      state.locked(required(request.volumeId, 'volume_id'), signal, async () => {
        // Until the process is killed, however late a busy machine does that; a call may take 3 s.
        if (state.has('lock-kept-after-crash')) await moment(2_000);
        const target = required(request.stagingTargetPath, 'staging_target_path');
        const how = textOf(request.volumeCapability);
        const volume = state.volume(request.volumeId);
        const earlier = data.mounts[target];
        if (earlier !== undefined && earlier !== how) throw new RpcError('AlreadyExists', `${target} is staged otherwise`);
        if (volume.isBlock !== isBlock(request.volumeCapability)) throw new RpcError('FailedPrecondition', 'the volume has another access type');
        if (earlier !== undefined && state.isRestarted && state.has('stage-refuses-repeat')) throw new RpcError('Internal', `${target} is mounted already`);
        if (earlier === undefined && state.has('stage-wipes-data'))
          for (const name of readdirSync(state.pathOf(volume.id))) rmSync(path.join(state.pathOf(volume.id), name), { recursive: true });
        record(target, how);
        if ((await mountsAt(target)) === 0 || state.has('stage-mounts-twice')) await bind(state.pathOf(volume.id), target);
        return {};
      }),
    nodeUnstageVolume: (request, { signal }) =>
      state.locked(required(request.volumeId, 'volume_id'), signal, async () => {
        const target = required(request.stagingTargetPath, 'staging_target_path');
        if (state.isRestarted && state.has('unstage-does-nothing-after-restart')) return {};
        await unmountAll(target);
        record(target, undefined);
        return {};
      }),
    nodePublishVolume: (request, { signal }) =>
      state.locked(required(request.volumeId, 'volume_id'), signal, async () => {
        const target = required(request.targetPath, 'target_path');
        const how = textOf(request.volumeCapability, request.readonly);
        state.volume(request.volumeId);
        if (request.stagingTargetPath === '') throw new RpcError('FailedPrecondition', 'staging_target_path is missing');
        await publish(request.volumeId, target, { how, staging: request.stagingTargetPath, isReadonly: request.readonly });
        return {};
      }),
    nodeUnpublishVolume: (request, { signal }) =>
      state.locked(required(request.volumeId, 'volume_id'), signal, async () => {
        await unpublish(request.volumeId, required(request.targetPath, 'target_path'));
        return {};
      }),
    nodeGetVolumeStats: async ({ volumeId, volumePath }) => {
      state.volume(volumeId);
      const isThere = existsSync(required(volumePath, 'volume_path'));
      if (!isThere && !state.has('stats-of-missing-path')) throw new RpcError('NotFound', `${volumePath} does not exist`);
      const { blocks, bsize } = statfsSync(isThere ? volumePath : state.directory);
      return { usage: [{ unit: 1, total: BigInt(blocks) * BigInt(bsize) }] };
    },
    nodeExpandVolume: async ({ volumeId, volumePath }) => {
      const { size } = state.volume(volumeId);
      if (!existsSync(required(volumePath, 'volume_path'))) throw new RpcError('NotFound', `${volumePath} does not exist`);
      return { capacityBytes: BigInt(size) };
    },
  };
}
