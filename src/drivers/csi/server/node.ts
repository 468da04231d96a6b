import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  Node,
  type NodeExpandVolumeRequest,
  type NodeGetVolumeStatsRequest,
  type NodeGetVolumeStatsResponseSchema,
  type NodePublishVolumeRequest,
  NodeServiceCapability_RPC_Type as Rpc,
  type NodeStageVolumeRequest,
  type NodeUnpublishVolumeRequest,
  type NodeUnstageVolumeRequest,
  type VolumeCapability,
  VolumeUsage_Unit as Unit,
} from '../../../grpc/generated/csi.ts';
import type { CallHandler } from '../../../grpc/channel.ts';
import { handlersOf } from '../../../grpc/service.ts';
import { RpcError } from '../../../grpc/status.ts';
import { capabilityText, complete, isBlock, isShared, refusalOf } from './capabilities.ts';
import { asRpcError, type DriverContext, required, topologyOf, volumeOf } from './driver-context.ts';
import type { NodeUse, VolumeRecord } from './records.ts';

type Nothing = Record<string, never>;

export function nodeService(context: DriverContext): ReadonlyMap<string, CallHandler> {
  const { backend } = context;
  const rpcs = [
    Rpc.GET_VOLUME_STATS,
    Rpc.SINGLE_NODE_MULTI_WRITER,
    ...(backend.stages ? [Rpc.STAGE_UNSTAGE_VOLUME] : []),
    ...(backend.expandsOnNode ? [Rpc.EXPAND_VOLUME] : []),
  ];
  const staging: Parameters<typeof handlersOf<typeof Node>>[1] = backend.stages
    ? {
        nodeStageVolume: (request) => asRpcError(() => stage(context, request)),
        nodeUnstageVolume: (request) => asRpcError(() => unstage(context, request)),
      }
    : {};
  const expanding: Parameters<typeof handlersOf<typeof Node>>[1] = backend.expandsOnNode
    ? { nodeExpandVolume: (request) => asRpcError(() => expand(context, request)) }
    : {};
  return handlersOf(Node, {
    ...staging,
    ...expanding,
    nodeGetCapabilities: () => Promise.resolve({ capabilities: rpcs.map((type) => ({ type: { case: 'rpc' as const, value: { type } } })) }),
    nodeGetInfo: () => Promise.resolve({ nodeId: context.nodeId, accessibleTopology: topologyOf(context) }),
    nodePublishVolume: (request) => asRpcError(() => publish(context, request)),
    nodeUnpublishVolume: (request) => asRpcError(() => unpublish(context, request)),
    nodeGetVolumeStats: (request) => asRpcError(() => stats(context, request)),
  });
}

/** Records how the volume is used before the effect, so that a crash leaves no mount that the driver does not know. */
const use = (context: DriverContext, volume: VolumeRecord, onNode: NodeUse): Promise<void> => context.volumes.put({ ...volume, onNode });

function stage(context: DriverContext, request: NodeStageVolumeRequest): Promise<Nothing> {
  const { volumeId } = request;
  required(volumeId, 'volume_id');
  const path = required(request.stagingTargetPath, 'staging_target_path');
  const capability = complete(request.volumeCapability);
  return context.locks.run(volumeId, async () => {
    const volume = usable(context, volumeId, capability);
    const { staged } = volume.onNode;
    const text = capabilityText(capability);
    if (staged !== undefined && staged.path !== path) throw new RpcError('FailedPrecondition', `volume ${volumeId} is staged at ${staged.path}`);
    if (staged !== undefined && staged.capability !== text)
      throw new RpcError('AlreadyExists', `volume ${volumeId} is staged at ${path} with another volume_capability`);
    if (staged === undefined) await use(context, volume, { ...volume.onNode, staged: { path, capability: text } });
    try {
      await context.backend.node.stage(volume, path, mountFlagsOf(capability));
    } catch (error) {
      if (staged === undefined) await use(context, volume, volume.onNode);
      throw error;
    }
    return {};
  });
}

function unstage(context: DriverContext, { volumeId, stagingTargetPath }: NodeUnstageVolumeRequest): Promise<Nothing> {
  required(volumeId, 'volume_id');
  required(stagingTargetPath, 'staging_target_path');
  return context.locks.run(volumeId, async () => {
    const volume = volumeOf(context, volumeId);
    const { staged, published } = volume.onNode;
    if (staged?.path !== stagingTargetPath) return {};
    const [target] = Object.keys(published);
    if (target !== undefined) throw new RpcError('FailedPrecondition', `volume ${volumeId} is still published at ${target}`);
    await context.backend.node.unstage(volume, stagingTargetPath);
    await use(context, volume, { ...volume.onNode, staged: undefined });
    return {};
  });
}

function publish(context: DriverContext, request: NodePublishVolumeRequest): Promise<Nothing> {
  const { volumeId, stagingTargetPath: stagingPath, readonly: readOnly } = request;
  required(volumeId, 'volume_id');
  const target = required(request.targetPath, 'target_path');
  const capability = complete(request.volumeCapability);
  if (context.backend.stages && stagingPath === '')
    throw new RpcError('FailedPrecondition', 'staging_target_path is missing: the volumes of this driver are staged');
  return context.locks.run(volumeId, async () => {
    const volume = usable(context, volumeId, capability);
    const { staged, published } = volume.onNode;
    if (context.backend.stages && staged?.path !== stagingPath) throw new RpcError('FailedPrecondition', `volume ${volumeId} is not staged at ${stagingPath}`);
    const publication = { mode: capability.accessMode?.mode ?? 0, readOnly, capability: capabilityText(capability) };
    const before = published[target];
    if (before !== undefined && (before.capability !== publication.capability || before.readOnly !== readOnly))
      throw new RpcError('AlreadyExists', `volume ${volumeId} is published at ${target} with another volume_capability or readonly`);
    const other = Object.entries(published).find(([path, { mode }]) => path !== target && !(isShared(mode) && isShared(publication.mode)));
    if (other !== undefined) throw new RpcError('FailedPrecondition', `volume ${volumeId} is published at ${other[0]}, and its access mode allows one target`);
    if (before === undefined) await use(context, volume, { ...volume.onNode, published: { ...published, [target]: publication } });
    try {
      await context.backend.node.publish(volume, { stagingPath, target, readOnly, mountFlags: mountFlagsOf(capability) });
    } catch (error) {
      if (before === undefined) await use(context, volume, volume.onNode);
      throw error;
    }
    return {};
  });
}

function unpublish(context: DriverContext, { volumeId, targetPath }: NodeUnpublishVolumeRequest): Promise<Nothing> {
  required(volumeId, 'volume_id');
  required(targetPath, 'target_path');
  return context.locks.run(volumeId, async () => {
    const volume = volumeOf(context, volumeId);
    const { [targetPath]: publication, ...published } = volume.onNode.published;
    // A target of another volume is not touched.
    if (publication === undefined) return {};
    await context.backend.node.unpublish(volume, targetPath);
    await use(context, volume, { ...volume.onNode, published });
    return {};
  });
}

async function stats(
  context: DriverContext,
  { volumeId, volumePath }: NodeGetVolumeStatsRequest,
): Promise<MessageInitShape<typeof NodeGetVolumeStatsResponseSchema>> {
  required(volumeId, 'volume_id');
  required(volumePath, 'volume_path');
  const volume = volumeOf(context, volumeId);
  checkPath(volume, volumePath);
  const { capacity, available, used, inodes, inodesFree, inodesUsed = inodes - inodesFree } = await context.backend.node.usage(volume, volumePath);
  if (volume.block) return { usage: [{ unit: Unit.BYTES, total: BigInt(capacity) }] };
  return {
    usage: [
      { unit: Unit.BYTES, total: BigInt(capacity), available: BigInt(available), used: BigInt(used) },
      { unit: Unit.INODES, total: BigInt(inodes), available: BigInt(inodesFree), used: BigInt(inodesUsed) },
    ],
  };
}

function expand(context: DriverContext, { volumeId, volumePath }: NodeExpandVolumeRequest): Promise<{ capacityBytes: bigint }> {
  required(volumeId, 'volume_id');
  required(volumePath, 'volume_path');
  return context.locks.run(volumeId, async () => {
    const volume = volumeOf(context, volumeId);
    checkPath(volume, volumePath);
    await context.backend.node.expand(volume);
    return { capacityBytes: BigInt(volume.bytes) };
  });
}

function checkPath({ id, onNode: { staged, published } }: VolumeRecord, path: string): void {
  if (path !== staged?.path && published[path] === undefined) throw new RpcError('NotFound', `volume ${id} is neither staged nor published at ${path}`);
}

/** Throws NotFound, or InvalidArgument for a capability that the volume cannot have. */
function usable(context: DriverContext, volumeId: string, capability: VolumeCapability): VolumeRecord {
  const volume = volumeOf(context, volumeId);
  const refusal = refusalOf(context.backend, [capability]);
  if (refusal !== undefined) throw new RpcError('InvalidArgument', refusal);
  if (isBlock(capability) !== volume.block)
    throw new RpcError('InvalidArgument', `volume_capability: volume ${volumeId} is ${volume.block ? 'a block device' : 'a file system'}`);
  return volume;
}

const mountFlagsOf = ({ accessType }: VolumeCapability): readonly string[] => (accessType.case === 'mount' ? accessType.value.mountFlags : []);
