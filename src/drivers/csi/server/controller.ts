import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  Controller,
  type ControllerExpandVolumeRequest,
  type ControllerExpandVolumeResponseSchema,
  type ControllerPublishVolumeRequest,
  ControllerServiceCapability_RPC_Type as Rpc,
  type ControllerUnpublishVolumeRequest,
  type GetCapacityRequest,
  type GetCapacityResponseSchema,
  type ListVolumesRequest,
  type ListVolumesResponseSchema,
  type ValidateVolumeCapabilitiesRequest,
  type ValidateVolumeCapabilitiesResponseSchema,
} from '../../../grpc/generated/csi.ts';
import type { CallHandler } from '../../../grpc/channel.ts';
import { handlersOf } from '../../../grpc/service.ts';
import { RpcError } from '../../../grpc/status.ts';
import { complete, completeAll, isBlock, isMultiNode, refusalOf } from './capabilities.ts';
import { createVolume, isHere, rangeOf, volumeMessage, wholeUnits } from './create-volume.ts';
import { asRpcError, type DriverContext, required, volumeOf } from './driver-context.ts';
import { pageOf, type VolumeRecord } from './records.ts';
import { createSnapshot, deleteSnapshot, getSnapshot, listSnapshots, snapshotMessage } from './snapshots.ts';

export function controllerService(context: DriverContext): ReadonlyMap<string, CallHandler> {
  const { backend } = context;
  const attaching: Parameters<typeof handlersOf<typeof Controller>>[1] = backend.attaches
    ? {
        controllerPublishVolume: (request) => asRpcError(() => publish(context, request)),
        controllerUnpublishVolume: (request) => asRpcError(() => unpublish(context, request)),
      }
    : {};
  return handlersOf(Controller, {
    ...attaching,
    controllerGetCapabilities: () => Promise.resolve({ capabilities: rpcsOf(context).map((type) => ({ type: { case: 'rpc' as const, value: { type } } })) }),
    createVolume: (request) => asRpcError(async () => ({ volume: volumeMessage(context, await createVolume(context, request)) })),
    deleteVolume: ({ volumeId }) => asRpcError(() => deleteVolume(context, volumeId)),
    validateVolumeCapabilities: async (request) => validate(context, request),
    listVolumes: async (request) => listVolumes(context, request),
    controllerGetVolume: async ({ volumeId }) => listed(context, volumeOf(context, volumeId)),
    getCapacity: (request) => asRpcError(() => capacity(context, request)),
    controllerExpandVolume: (request) => asRpcError(() => expand(context, request)),
    createSnapshot: (request) => asRpcError(async () => ({ snapshot: snapshotMessage(await createSnapshot(context, request)) })),
    deleteSnapshot: ({ snapshotId }) =>
      asRpcError(async () => {
        await deleteSnapshot(context, snapshotId);
        return {};
      }),
    getSnapshot: async ({ snapshotId }) => ({ snapshot: snapshotMessage(getSnapshot(context, snapshotId)) }),
    listSnapshots: async (request) => listSnapshots(context, request),
  });
}

const rpcsOf = ({ backend }: DriverContext): readonly Rpc[] => [
  Rpc.CREATE_DELETE_VOLUME,
  Rpc.LIST_VOLUMES,
  Rpc.GET_VOLUME,
  Rpc.GET_CAPACITY,
  Rpc.CREATE_DELETE_SNAPSHOT,
  Rpc.LIST_SNAPSHOTS,
  Rpc.GET_SNAPSHOT,
  Rpc.CLONE_VOLUME,
  Rpc.EXPAND_VOLUME,
  Rpc.SINGLE_NODE_MULTI_WRITER,
  ...(backend.attaches ? [Rpc.PUBLISH_UNPUBLISH_VOLUME, Rpc.PUBLISH_READONLY, Rpc.LIST_VOLUMES_PUBLISHED_NODES] : []),
];

function deleteVolume(context: DriverContext, id: string): Promise<Record<string, never>> {
  required(id, 'volume_id');
  const { backend, volumes, locks } = context;
  return locks.run(id, async () => {
    const volume = volumes.get(id);
    if (volume === undefined) return {};
    const { staged, published } = volume.onNode;
    const users = [...Object.keys(volume.attachedTo).map((node) => `node ${node}`), ...Object.keys(published), ...(staged === undefined ? [] : [staged.path])];
    if (users[0] !== undefined) throw new RpcError('FailedPrecondition', `volume ${id} is in use: ${users[0]}`);
    // A repeated CreateVolume must not take a volume that is half removed for a complete one.
    if (!backend.isRecordOnly) await volumes.put({ ...volume, ready: false });
    await backend.remove(id);
    await volumes.remove(id);
    return {};
  });
}

function validate(
  context: DriverContext,
  { volumeId, volumeCapabilities, volumeContext, parameters }: ValidateVolumeCapabilitiesRequest,
): MessageInitShape<typeof ValidateVolumeCapabilitiesResponseSchema> {
  required(volumeId, 'volume_id');
  const capabilities = completeAll(volumeCapabilities);
  const { block } = volumeOf(context, volumeId);
  const message =
    refusalOf(context.backend, capabilities) ?? (capabilities.some((each) => isBlock(each) !== block) ? 'the volume has another access type' : undefined);
  return message === undefined ? { confirmed: { volumeCapabilities: [...capabilities], volumeContext, parameters } } : { message };
}

const listed = (context: DriverContext, volume: VolumeRecord) => ({
  volume: volumeMessage(context, volume),
  status: { publishedNodeIds: Object.keys(volume.attachedTo) },
});

function listVolumes(context: DriverContext, { startingToken, maxEntries }: ListVolumesRequest): MessageInitShape<typeof ListVolumesResponseSchema> {
  if (maxEntries < 0) throw new RpcError('InvalidArgument', `max_entries ${maxEntries} is negative`);
  const found = pageOf(
    context.volumes.sorted().filter(({ ready }) => ready),
    { startingToken, maxEntries },
  );
  if (found === undefined) throw new RpcError('Aborted', `starting_token ${JSON.stringify(startingToken)} is not one of this driver`);
  return { entries: found.page.map((each) => listed(context, each)), nextToken: found.nextToken };
}

async function capacity(context: DriverContext, request: GetCapacityRequest): Promise<MessageInitShape<typeof GetCapacityResponseSchema>> {
  const { backend } = context;
  const isPossible =
    refusalOf(
      backend,
      request.volumeCapabilities.map((each) => complete(each)),
    ) === undefined && isHere(context, request.accessibleTopology?.segments ?? {});
  const available = isPossible ? await backend.availableBytes() : 0;
  return { availableCapacity: BigInt(available), maximumVolumeSize: BigInt(Math.min(available, backend.mostBytes)) };
}

function expand(context: DriverContext, request: ControllerExpandVolumeRequest): Promise<MessageInitShape<typeof ControllerExpandVolumeResponseSchema>> {
  const id = required(request.volumeId, 'volume_id');
  if (request.capacityRange === undefined) throw new RpcError('InvalidArgument', 'capacity_range is missing');
  const { backend, volumes, locks } = context;
  const { least, most } = rangeOf(context, request.capacityRange);
  return locks.run(id, async () => {
    const volume = volumeOf(context, id);
    const bytes = Math.max(volume.bytes, wholeUnits(backend.granularity, least));
    if (bytes > most) throw new RpcError('OutOfRange', `capacity_range.limit_bytes ${most}: the volume has, or needs, ${bytes} bytes`);
    if (bytes > volume.bytes) {
      await volumes.put({ ...volume, bytes });
      await backend.grow(id, bytes);
    } else await backend.grow(id, volume.bytes);
    return { capacityBytes: BigInt(bytes), nodeExpansionRequired: backend.expandsOnNode };
  });
}

function publish(context: DriverContext, { volumeId, nodeId, volumeCapability, readonly }: ControllerPublishVolumeRequest): Promise<Record<string, never>> {
  required(volumeId, 'volume_id');
  required(nodeId, 'node_id');
  const capability = complete(volumeCapability);
  return context.locks.run(volumeId, async () => {
    const volume = volumeOf(context, volumeId);
    if (nodeId !== context.nodeId) throw new RpcError('NotFound', `node ${JSON.stringify(nodeId)} does not exist`);
    const before = volume.attachedTo[nodeId];
    if (before !== undefined && before !== readonly) throw new RpcError('AlreadyExists', `volume ${volumeId} is published to ${nodeId} with another readonly`);
    const [other] = Object.keys(volume.attachedTo).filter((each) => each !== nodeId);
    if (other !== undefined && !isMultiNode(capability.accessMode?.mode ?? 0))
      throw new RpcError('FailedPrecondition', `volume ${volumeId} is published to node ${other}`);
    if (before === undefined) await context.volumes.put({ ...volume, attachedTo: { ...volume.attachedTo, [nodeId]: readonly } });
    return {};
  });
}

function unpublish(context: DriverContext, { volumeId, nodeId }: ControllerUnpublishVolumeRequest): Promise<Record<string, never>> {
  required(volumeId, 'volume_id');
  return context.locks.run(volumeId, async () => {
    const volume = context.volumes.get(volumeId);
    if (volume === undefined || Object.keys(volume.attachedTo).length === 0) return {};
    const attachedTo = nodeId === '' ? {} : Object.fromEntries(Object.entries(volume.attachedTo).filter(([each]) => each !== nodeId));
    await context.volumes.put({ ...volume, attachedTo });
    return {};
  });
}
